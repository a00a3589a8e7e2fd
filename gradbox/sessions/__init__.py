"""Runs the recorder in the process of the user's own program."""
