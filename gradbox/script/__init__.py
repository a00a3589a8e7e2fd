"""Records a script, or parts of it, in a process of its own."""
