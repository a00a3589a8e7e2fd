"""The cells of the Jupyter or marimo notebook whose kernel is this process: which cell runs, what it is called, and how
to show something below it."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RunningCell:
    """The cell that runs.

    identity: the same each time the cell runs
    execution: different each time
    number: as the notebook shows it; "" if it shows none
    """

    identity: str
    execution: str
    number: str


MARIMO_CELL_PREFIX = "__marimo__cell_"
"""The prefix of the file names that marimo gives to its cells' code. The files don't exist."""

_marimo_executions: list[Any] = [None, 0]
"""marimo's object for the run of the cell that asked last, and how many runs there were."""


def running_cell() -> RunningCell | None:
    """The notebook cell that runs in this process; None if there is none or it is not known."""
    return jupyter_cell() or marimo_cell()


def is_in_notebook() -> bool:
    """Whether this process shows its output in a notebook."""
    return jupyter_shell() is not None or marimo_context() is not None


def show_below_cell(run: Any) -> None:
    """Show a `Run` below the cell that runs."""
    if jupyter_shell() is not None:
        from IPython.display import display  # noqa: PLC0415 optional: whoever is in Jupyter has it

        display(run)
    elif not write_to_marimo_console(run):
        import marimo  # noqa: PLC0415 optional: whoever is in marimo has it

        marimo.output.append(run)


def write_to_marimo_console(run: Any) -> bool:
    """Show a run among the text that the cell prints. Returns whether the page shows it. (marimo replaces a cell's
    output by the value of its last expression or by its error.)"""
    write = getattr(sys.stdout, "_write_with_mimetype", None)
    if write is None:
        return False
    write(run._repr_html_(), mimetype="text/html")
    return True


def cell_name(path: str) -> str | None:
    """The name of the cell whose code has this path, like `cell 3` or `cell of app.py`; None if it belongs to no
    cell."""
    shell = jupyter_shell()
    if shell is not None:
        number = getattr(shell.compile, "_filename_map", {}).get(path)
        return None if number is None else f"cell {number}"
    notebook = marimo_notebook_path(path)
    return None if notebook is None else f"cell of {notebook.name}"


def marimo_notebook_path(path: str) -> Path | None:
    """The file of a marimo notebook, from the path of a cell's code; None if it is not known, and for any other
    path."""
    context = marimo_context()
    file = getattr(context, "filename", None)
    return Path(file) if file and Path(path).name.startswith(MARIMO_CELL_PREFIX) else None


def jupyter_shell() -> Any:
    """The Jupyter shell of this process; None if it is not a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if hasattr(shell, "kernel") else None


def jupyter_cell() -> RunningCell | None:
    """The running cell of a Jupyter kernel. If the front end sends no cell ids, the cell's text serves as its
    identity."""
    shell = jupyter_shell()
    if shell is None or not hasattr(shell.kernel, "get_parent"):
        return None
    request = shell.kernel.get_parent() or {}
    execution = str((request.get("header") or {}).get("msg_id", ""))
    inputs = shell.user_ns.get("In", ())
    identity = (request.get("metadata") or {}).get("cellId") or (inputs[-1] if inputs else "")
    return RunningCell(str(identity), execution, str(len(inputs) - 1)) if execution else None


def marimo_context() -> Any:
    """marimo's state of the notebook while one of its cells runs for a page; None elsewhere, as in `python app.py`."""
    contexts = sys.modules.get("marimo._runtime.context")
    current = getattr(contexts, "safe_get_context", None)
    context = current() if current is not None else None
    if getattr(context, "execution_context", None) is None or not sys.modules["marimo"].running_in_notebook():
        return None
    return context


def marimo_cell() -> RunningCell | None:
    """The running cell of marimo, which does not number a cell's runs: each has its own `execution_context`."""
    context = marimo_context()
    if context is None:
        return None
    execution, (last, count) = context.execution_context, _marimo_executions
    if last is not execution:
        count += 1
        _marimo_executions[:] = [execution, count]
    return RunningCell(str(context.cell_id), str(count), "")


def is_deleted(cell: RunningCell) -> bool:
    """Whether marimo says that the notebook no longer has this cell."""
    context = marimo_context()
    cells = getattr(getattr(context, "graph", None), "cells", None)
    return cells is not None and cell.identity not in cells
