"""Compares torch's gradients with finite differences, for which the program is run again and again in its own
process."""
