"""Tests of saved programs, series, links, and files that leave the page."""
