"""Tests of who asks, whether they may, and how often."""
