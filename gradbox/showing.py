"""Shows what a region recorded where nobody said where to: below a notebook's cell, in the browser, or as a file that is named."""

import importlib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from gradbox.run import Run
from gradbox.viewer import has_browser, open_in_browser

MAX_PICTURES = 20
"""Pictures that a process writes, or that a notebook's cell shows, for regions that name no file."""

PYTEST_VARIABLE = "PYTEST_CURRENT_TEST"

picture_paths: set[Path] = set()
"""Files that this process has chosen for regions that name none."""

runs_shown_in_cell = [0, 0]
"""The number of the notebook's cell that last showed a region, and how many it has shown."""


def show_region(run: Run, quiet: bool = False) -> None:
    """Show a run that was recorded in this process, where its reader can be expected to see it.

    In a notebook it is shown below the cell. Elsewhere it is written to a file of the current folder; the first one is opened
    in the browser, if standard output is a terminal and a browser can be opened here. Under pytest it is not shown. Nothing is
    raised: what can't be written is said on stderr. quiet: no line that says where it was written.
    """
    if PYTEST_VARIABLE in os.environ:
        return
    shell = notebook_shell()
    if shell is not None:
        show_in_cell(run, shell)
        return
    path = picture_path(run.title)
    if path not in picture_paths and len(picture_paths) >= MAX_PICTURES:
        return
    is_first = not picture_paths
    picture_paths.add(path)
    if not os.access(path.parent, os.W_OK):
        path = Path(tempfile.mkdtemp(prefix="gradbox-")) / path.name
    note = " Later regions are not written: name a file with out=." if len(picture_paths) == MAX_PICTURES else ""
    if not write_and_report(run, path, quiet, note):
        return
    if is_first and is_terminal() and has_browser(os.environ, sys.platform, of_file=True):
        open_in_browser(path.as_uri())


def write_and_report(run: Run, path: Path, quiet: bool = False, note: str = "") -> bool:
    """Write a file of a run, and say where; where it can't be written, say why and return False: the program goes on.

    quiet: don't say where. note: more to say.
    """
    try:
        run.save(path)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"gradbox: {run.summary()} {path} could not be written: {why}", file=sys.stderr)
        return False
    if not quiet:
        print(f"gradbox: {run.summary()} Written to {path}{note}", file=sys.stderr)
    return True


def picture_path(title: str) -> Path:
    """The file of a region's picture: `gradbox-train.py-step-3.html` of the current folder."""
    name = re.sub(r"[^\w.-]+", "-", title).strip("-")[:80]
    return Path.cwd() / f"gradbox-{name}.html"


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def notebook_shell() -> Any:
    """The shell of the notebook that this process is the kernel of; None where it is none's."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if hasattr(shell, "kernel") else None


def show_in_cell(run: Run, shell: Any) -> None:
    """Show a run below the cell that runs; of a cell with very many regions the first."""
    cell = len(shell.user_ns.get("In", ())) - 1
    runs_shown_in_cell[:] = [cell, runs_shown_in_cell[1] + 1 if runs_shown_in_cell[0] == cell else 1]
    if runs_shown_in_cell[1] <= MAX_PICTURES:
        importlib.import_module("IPython.display").display(run)
