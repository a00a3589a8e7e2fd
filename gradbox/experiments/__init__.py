"""Experiments: a model is run again with one thing changed, and what may not follow from it is looked for."""
