"""Tests of recorded scripts: whole, in parts, by rounds and by ranks."""
