"""Saved programs: their ids, their rows, their database."""
