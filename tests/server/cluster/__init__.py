"""Tests of workers on other machines, and of what web processes share."""
