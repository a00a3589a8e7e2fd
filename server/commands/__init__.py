"""The commands of `python -m server` besides `serve`."""
