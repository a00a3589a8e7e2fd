"""Runs a script as `__main__` in this process, which is a fork for it, and says what it left: its tensors, what it
printed."""

import contextlib
import io
import os
import runpy
import sys
from pathlib import Path
from typing import Any

from tests.referee.torch_facts import facts


def facts_of_script(folder: str, arguments: list[str], text: str) -> dict[str, Any]:
    """The facts at the end of the folder's `train.py`, which is run as the module `__main__`.

    For a process of its own: it is left in that folder.

    text: its standard input
    """
    os.chdir(folder)
    sys.argv[:] = ["train.py", *arguments]
    sys.path.insert(0, str(Path(folder).resolve()))
    sys.stdin = io.StringIO(text)
    with contextlib.redirect_stdout(io.StringIO()):
        return facts(runpy.run_path("train.py", run_name="__main__"))


def printed_by_script(path: str, arguments: list[str], environment: dict[str, str]) -> str:
    """What the script prints to its standard output.

    environment: variables that it finds besides this process's
    """
    os.environ |= environment
    sys.argv[:] = [path, *arguments]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        runpy.run_path(path, run_name="__main__")
    return out.getvalue()


def errors_of_script(path: str) -> str:
    """What the script prints to its standard error."""
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        runpy.run_path(path, run_name="__main__")
    return errors.getvalue()
