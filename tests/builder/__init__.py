"""Tests of the program as cards, and of the catalogue of operations."""
