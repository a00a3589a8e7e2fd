"""Records a script, or parts of it, in a separate process."""
