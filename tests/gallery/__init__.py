"""Tests of scenarios, their search, the course; scripts that start a scenario or serve while one edits."""
