"""Tests of addresses and their responses."""
