"""How each kind of entity is observed without changing it."""
