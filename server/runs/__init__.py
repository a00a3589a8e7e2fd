"""Runs for visitors: starting, explaining, comparing, fixing and checking them."""
