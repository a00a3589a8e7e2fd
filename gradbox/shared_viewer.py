"""Which output of a notebook has the viewer. One has; the pictures of the other cells find it in the page that shows them all."""

import itertools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RunningCell:
    """identity: the same when the cell runs again. execution: another one then. number: as the notebook shows it, "" where
    it shows none.
    """

    identity: str
    execution: str
    number: str


carriers: dict[str, RunningCell] = {}
"""By viewer, the cell whose output has it, as it ran last."""

ISOLATING_VARIABLES = ("DATABRICKS_RUNTIME_VERSION",)
"""Set where each output is shown in a page of its own, which can't read others."""

ISOLATING_MODULES = ("google.colab",)

_marimo_pictures = itertools.count()


def cell_with_viewer(viewer: str) -> RunningCell | None:
    """The cell whose output has the viewer; None where the output that is being made has to have one.

    That is so of the first picture of a process, and of the first of that cell each time that it runs again, which replaces its
    output; and wherever outputs can't share one, or it is not known which cell runs.
    """
    running = running_cell()
    if running is None or are_outputs_isolated(os.environ, sys.modules):
        return None
    carrier = carriers.get(viewer)
    if carrier is None or (carrier.identity == running.identity and carrier.execution != running.execution):
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


def running_cell() -> RunningCell | None:
    """The notebook's cell that runs in this process; None where none does, or it is not told."""
    return jupyter_cell() or marimo_cell()


def jupyter_cell() -> RunningCell | None:
    """Of a kernel of Jupyter's. A front end that sends no ids of cells is told by the cell's text."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(getattr(shell, "kernel", None), "get_parent"):
        return None
    request = shell.kernel.get_parent() or {}
    execution = str((request.get("header") or {}).get("msg_id", ""))
    inputs = shell.user_ns.get("In", ())
    identity = (request.get("metadata") or {}).get("cellId") or (inputs[-1] if inputs else "")
    return RunningCell(str(identity), execution, str(len(inputs) - 1)) if execution else None


def marimo_cell() -> RunningCell | None:
    """Of marimo, which tells no run of a cell from the next: each picture of the cell with the viewer has one."""
    contexts = sys.modules.get("marimo._runtime.context")
    current = getattr(contexts, "safe_get_context", None)
    identity = getattr(current() if current is not None else None, "cell_id", None)
    if identity is None:
        return None
    return RunningCell(str(identity), str(next(_marimo_pictures)), "")
