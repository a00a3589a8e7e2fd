"""Tests of the matrix."""
