"""Tests of the web application, by its rooms."""
