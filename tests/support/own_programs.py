"""Runs scripts of folders as `python` runs them and as `gradbox` does, and says what they leave."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.forks.forked_command import run_gradbox
from tests.forks.forked_script import run_python
from tests.forks.plain_python import call_beside_gradbox

ROOT = Path(__file__).parents[2]


def run_in_folder(command: Sequence[str], folder: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """What a command does in a folder.

    text: its standard input
    """
    environment = {**os.environ, "PYTHONPATH": "", "COLUMNS": "80", "PYTHONHASHSEED": "0"}
    return subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, env=environment, check=False)


def files_left(folder: Path) -> dict[str, bytes]:
    """The files of a folder, but for Python's cache, and for tensors in pickles, which hold addresses."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pt", ".pickle")
    }


def gradbox_command(python: str = sys.executable) -> list[str]:
    """The command of this tree, run by a Python."""
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from gradbox.command import main; sys.exit(main())"
    return [python, "-c", code]


def forked_gradbox(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`gradbox …` in a folder, where no process imports torch anew."""
    return subprocess.CompletedProcess(arguments, *call_beside_gradbox(run_gradbox, str(folder), arguments))


def forked_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python …` in a folder, of a script or module that raises nothing; no process imports torch anew."""
    return subprocess.CompletedProcess(arguments, *call_beside_gradbox(run_python, str(folder), arguments))
