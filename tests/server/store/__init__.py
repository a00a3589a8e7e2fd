"""Tests of the database."""
