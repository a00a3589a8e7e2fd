"""The referee: holds traces against plain CPython and torch, at the end of a program and after each of its
statements."""
