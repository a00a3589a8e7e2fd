"""Tracing changes nothing: every program prints and ends as plain CPython says, and the picture is what torch says.

The first test needs nothing but this folder. The others call the referee, where it lies beside the project.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plain_python import run_plain
from tests.tracing import ROOT, events, trace

PROGRAMS = [
    path for folder in ("tests/programs", "scenarios", "tests/golden") for path in sorted((ROOT / folder).glob("*.py"))
]
REFEREE = ROOT.parent / "shared/tools"
SEEDS = ROOT.parent / "shared/seeds"
ADDRESS = re.compile(r"0x[0-9a-f]+|\b\d{11,}\b")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_and_ends_as_plain_python_says(path: Path) -> None:
    told, truth = trace(path.read_text()), run_plain(path.read_text())
    out = "".join(e["text"] for s in told["steps"] for e in s["log"] if e["kind"] == "out" and e["stream"] == "stdout")
    assert ADDRESS.sub("~", out) == ADDRESS.sub("~", truth["printed"])
    error = told["outcome"].get("error")
    ended = [error["type"], error["message"], error["line"]] if error else None
    assert ADDRESS.sub("~", str(ended)) == ADDRESS.sub("~", str(truth["error"]))
    assert events(told, "tracer_fault") == []


def referee(tool: str, *words: str) -> str:
    command = [sys.executable, str(REFEREE / tool), "--trace", f"{sys.executable} -m server trace", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.skipif(not REFEREE.is_dir(), reason="the referee does not lie beside the project")
def test_the_referee_agrees_on_every_seed_snippet_as_printed() -> None:
    assert "49 of 49 agree, 0 refused, 0 differ, 0 left out" in referee("agreement.py", "--seeds", str(SEEDS))


@pytest.mark.skipif(not REFEREE.is_dir(), reason="the referee does not lie beside the project")
def test_the_referee_agrees_on_every_program() -> None:
    told = referee("agreement.py", "tests/programs", "scenarios", "tests/golden")
    assert re.search(r"(\d+) of \1 agree", told), told[-500:]


@pytest.mark.skipif(not REFEREE.is_dir(), reason="the referee does not lie beside the project")
def test_every_statements_state_is_true() -> None:
    told = referee("steps_truth.py", "tests/programs", "scenarios", "tests/golden")
    assert re.search(r"(\d+) of \1 statement states are true", told), told[-500:]
