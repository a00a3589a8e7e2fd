"""Tests and checks of programs on a GPU; `make gpu-check` runs those that need one."""
