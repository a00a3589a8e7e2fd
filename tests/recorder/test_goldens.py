"""Small programs beside their stored traces: what changes in a trace shows in a diff.

`python -m tests.recorder.test_goldens` writes them anew.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.support.tracing import trace

FOLDER = Path(__file__).parents[1] / "golden"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def text(recorded: dict[str, Any]) -> str:
    """A trace without what differs between machines, a step a line."""
    recorded = {key: recorded[key] for key in ("schema", "program", "steps", "outcome")}
    steps = ",\n  ".join(json.dumps(step, ensure_ascii=False) for step in recorded.pop("steps"))
    rest = {key: json.dumps(value, ensure_ascii=False) for key, value in recorded.items()}
    head = f' "schema": {rest["schema"]},\n "program": {rest["program"]},\n'
    return f'{{\n{head} "steps": [\n  {steps}\n ],\n "outcome": {rest["outcome"]}\n}}\n'


@pytest.mark.skipif(not version("torch").startswith("2.13."), reason="the traces are those of torch 2.13")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_trace_is_the_stored_one(program: Path) -> None:
    recorded = text(trace(program.read_text()))
    assert recorded == program.with_suffix(".json").read_text(), (
        "if the change is meant: python -m tests.recorder.test_goldens"
    )


def test_there_are_at_least_a_dozen_stored_traces() -> None:
    assert len(PROGRAMS) >= 12


if __name__ == "__main__":
    for path in PROGRAMS:
        path.with_suffix(".json").write_text(text(trace(path.read_text())))
        sys.stdout.write(f"{path.stem}\n")
