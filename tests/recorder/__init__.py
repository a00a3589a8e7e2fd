"""Tests of what a trace says of each step."""
