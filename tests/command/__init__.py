"""Tests of what the commands `gradbox` and `python -m server` print and return."""
