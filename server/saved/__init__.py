"""Saved programs and series, and what is made of them."""
