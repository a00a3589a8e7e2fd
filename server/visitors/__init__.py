"""Visitors: who sends a request, whether they may, and how often."""
