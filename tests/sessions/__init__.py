"""Tests of the recorder in the user's own process: regions, modules, failing tests."""
