"""Tests of the packages that programs may import."""
