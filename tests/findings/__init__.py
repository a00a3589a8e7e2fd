"""Tests of what is found in a run, and of how it is said."""
