"""The web side of the workers. Neither torch nor the worker's code is imported here."""
