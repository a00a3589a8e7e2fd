"""Gradbox: run a PyTorch program, record what it did to memory and to its gradients, and draw it."""

__version__ = "0.1.0"
