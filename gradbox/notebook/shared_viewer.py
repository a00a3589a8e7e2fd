"""Which output of a notebook has the viewer. One has; the pictures of the other cells find it in the page that shows
them all."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from gradbox.notebook.notebook_cells import RunningCell, is_deleted, running_cell

carriers: dict[str, RunningCell] = {}
"""By viewer, the cell whose output has it, as it ran last."""

ISOLATING_VARIABLES = ("DATABRICKS_RUNTIME_VERSION",)
"""Set where each output is shown in a page of its own, which can't read others."""

ISOLATING_MODULES = ("google.colab",)


def cell_with_viewer(viewer: str) -> RunningCell | None:
    """The cell whose output has the viewer; None where the output that is being made has to have one.

    That is so of the first picture of a process, of the first of that cell each time that it runs again, which replaces
    its output, and of the next one where that cell was deleted; and wherever outputs can't share one, or it is not
    known which cell runs.
    """
    running = running_cell()
    if running is None or are_outputs_isolated(os.environ, sys.modules):
        return None
    carrier = carriers.get(viewer)
    if (
        carrier is None
        or (carrier.identity == running.identity and carrier.execution != running.execution)
        or is_deleted(carrier)
    ):
        carriers[viewer] = running
        return None
    return carrier


def note_viewer_in_output(viewer: str) -> None:
    """The output that is being made has the viewer, whatever was before."""
    running = running_cell()
    if running is not None:
        carriers[viewer] = running


def are_outputs_isolated(environment: Mapping[str, str], modules: Mapping[str, Any]) -> bool:
    """Whether this notebook shows each output in a page of its own."""
    return any(name in environment for name in ISOLATING_VARIABLES) or any(
        name in modules for name in ISOLATING_MODULES
    )
