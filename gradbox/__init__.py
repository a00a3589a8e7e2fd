"""Gradbox on your own code: the command `gradbox`, and what a program or a notebook imports.

`import gradbox` costs a program next to nothing: a name's module is imported when the name is first used.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

MODULE_OF_LAZY_NAME = {
    "Run": "run",
    "assert_no_future": "experiments.assertions",
    "assert_padding_is_ignored": "experiments.assertions",
    "assert_same_gradients": "experiments.assertions",
    "assert_samples_stay_apart": "experiments.assertions",
    "assert_trains": "gradient_check.training_assertion",
    "explain": "region",
    "load_ipython_extension": "notebook_magic",
    "watch": "region",
}
"""The module of each lazily imported name. No module may share a name with something else, because importing it would
replace that."""


def __getattr__(name: str) -> Any:
    """Import the module of a name and return the name's value. Raises AttributeError for an unknown name."""
    if name not in MODULE_OF_LAZY_NAME:
        raise AttributeError(f"module 'gradbox' has no attribute {name!r}")
    # by its name: an import statement would make every module that reads `gradbox.__version__` depend on torch
    value = globals()[name] = getattr(importlib.import_module(f"gradbox.{MODULE_OF_LAZY_NAME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULE_OF_LAZY_NAME})
