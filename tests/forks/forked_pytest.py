"""Runs pytest in this process, which is a fork for it, and tries fixes in further forks."""

import os
import sys
import tempfile
from pathlib import Path
from subprocess import TimeoutExpired
from types import SimpleNamespace
from typing import Any

import pytest

from gradbox import fix_trials


def printed_by_pytest(folder: str, arguments: list[str]) -> tuple[int, str]:
    """The status of `pytest …`, run in this folder, and what it prints. Fixes are tried in forks."""
    os.chdir(folder)
    setattr(fix_trials, "subprocess", SimpleNamespace(run=run_forked_pytest, TimeoutExpired=TimeoutExpired))  # noqa: B010 mypy knows a module there
    with tempfile.TemporaryFile("w+") as out:
        os.dup2(out.fileno(), 1)
        status = int(pytest.main(arguments))
        sys.stdout.flush()
        out.seek(0)
        return status, out.read()


def run_forked_pytest(command: list[str], cwd: Path, **_: Any) -> SimpleNamespace:
    """The `subprocess.run` of a `python -m pytest …`, as a fork that forgets the modules of the folder."""
    child = os.fork()
    if child == 0:
        status = -1
        try:
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", None)).startswith(f"{cwd}/"):
                    del sys.modules[name]
            status = int(pytest.main([*command[command.index("pytest") + 1 :], "--capture=no"]))
        finally:
            os._exit(status)
    return SimpleNamespace(returncode=os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
