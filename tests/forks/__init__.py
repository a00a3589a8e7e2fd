"""Processes that are prepared once, and forked by tests that need one."""
