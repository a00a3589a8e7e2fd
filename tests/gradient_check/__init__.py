"""Tests of gradients beside difference quotients, and of samples that should stay apart."""
