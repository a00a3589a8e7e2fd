"""Scenarios that were saved: their names, their rows, the database that has them."""
