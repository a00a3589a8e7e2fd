"""Tests of who imports whom, and of the size of folders."""
