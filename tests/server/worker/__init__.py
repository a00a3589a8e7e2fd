"""Tests of the process that forks, of its children and of their confinement."""
