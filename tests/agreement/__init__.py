"""Tests that a program runs recorded as in plain CPython, and that its trace says what torch says."""
