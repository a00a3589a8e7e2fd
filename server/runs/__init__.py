"""Runs for visitors: asked for, explained, compared, fixed, checked."""
