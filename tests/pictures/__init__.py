"""Tests of the picture of a step and of the process that draws it; the stored pictures."""
