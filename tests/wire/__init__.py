"""Tests of the contract of the trace, and of what refuses lines that break it."""
