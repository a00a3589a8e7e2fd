"""Gradbox on your own code: the command `gradbox`, and what a program or a notebook imports.

This module imports next to nothing, so that `import gradbox` costs a program next to nothing: what a name stands for is
imported when the name is first used.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

LAZY = {
    "Run": "run",
    "assert_trains": "gradient_check.training_assertion",
    "explain": "region",
    "load_ipython_extension": "notebook_magic",
    "watch": "region",
}
"""A name of this package -> the module of it that has it. No module has the name of another thing: imported, it would
be what the name stands for."""


def __getattr__(name: str) -> Any:
    """A name whose module is imported now. Raises AttributeError for what this package does not have."""
    if name not in LAZY:
        raise AttributeError(f"module 'gradbox' has no attribute {name!r}")
    # by its name: an import statement would make every module that reads `gradbox.__version__` depend on torch
    value = globals()[name] = getattr(importlib.import_module(f"gradbox.{LAZY[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *LAZY})
