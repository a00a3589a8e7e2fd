"""Which output of a notebook contains the viewer. The pictures of other cells find it in the page that shows
them all."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from gradbox.notebook.notebook_cells import RunningCell, is_deleted, running_cell

cell_by_viewer: dict[str, RunningCell] = {}
"""For each viewer, the last run of the cell whose output contains it."""

ISOLATING_VARIABLES = ("DATABRICKS_RUNTIME_VERSION",)
"""Environment variables of notebooks that show each output in a page of its own, which can't read the others."""

ISOLATING_MODULES = ("google.colab",)


def cell_with_viewer(viewer: str) -> RunningCell | None:
    """The cell whose output contains the viewer; None if the output that is being made has to contain it.

    That is the case for the first picture of a process, and for the first picture of that cell whenever it runs again,
    because its output is replaced; for the next picture after that cell was deleted; and wherever outputs can't share a
    viewer or the running cell is not known.
    """
    running = running_cell()
    if running is None or are_outputs_isolated(os.environ, sys.modules):
        return None
    carrier = cell_by_viewer.get(viewer)
    if (
        carrier is None
        or (carrier.identity == running.identity and carrier.execution != running.execution)
        or is_deleted(carrier)
    ):
        cell_by_viewer[viewer] = running
        return None
    return carrier


def register_viewer_cell(viewer: str) -> None:
    """Note that the output that is being made contains the viewer."""
    running = running_cell()
    if running is not None:
        cell_by_viewer[viewer] = running


def are_outputs_isolated(environment: Mapping[str, str], modules: Mapping[str, Any]) -> bool:
    """Whether this notebook shows each output in a page of its own."""
    return any(name in environment for name in ISOLATING_VARIABLES) or any(
        name in modules for name in ISOLATING_MODULES
    )
