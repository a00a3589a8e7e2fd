"""How each kind of entity is looked at without changing it."""
