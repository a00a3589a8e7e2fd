"""Tests of recorded cells in Jupyter and marimo."""
