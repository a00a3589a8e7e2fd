"""Tests of settings, health, and what an operator reads."""
