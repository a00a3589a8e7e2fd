"""Gradbox: run a PyTorch program, record what it did to memory and to its gradients, and draw it."""

from pathlib import Path

__version__ = "0.1.0"
PROJECT_FOLDER = Path(__file__).parent.parent
"""Where the folders `server`, `static`, `templates` and `scenarios` are."""
