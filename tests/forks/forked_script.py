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


def run_python(folder: str, arguments: list[str], environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    """The status of `python …`, run in this folder, and what was printed to stdout and stderr.

    arguments: a script or `-m` and a module, which raises nothing but SystemExit, and its arguments
    environment: variables that it finds besides this process's
    """
    os.environ |= environment or {}
    os.chdir(folder)
    sys.path.insert(0, str(Path(folder).resolve()))
    is_module, status = arguments[0] == "-m", 0
    sys.argv[:] = arguments[is_module:]
    run = runpy.run_module if is_module else runpy.run_path
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            run(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), errors.getvalue()
