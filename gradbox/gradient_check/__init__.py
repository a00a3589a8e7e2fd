"""Compares torch's gradients with finite differences by running the program repeatedly in its own process."""
