"""A session in the user's own process: what it records is true, what passes through it is as plain, and nothing stays."""

import functools
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from server.wire.trace import Trace
from tests.fork_host import ForkHost
from tests.referee.agreement import Case, Verdict, verdict
from tests.referee.plain_run import plain_run
from tests.tracing import ROOT, events

pytestmark = pytest.mark.slow

HOST = ForkHost("tests.session_host", "SESSION_HOST")
PROGRAMS = sorted((ROOT / "tests/programs").glob("*.py"))
SAMPLE = PROGRAMS[::12]


@functools.cache
def recorded(source: str, limits: tuple[tuple[str, int], ...] = (), as_it_is: bool = False) -> dict[str, Any]:
    """What tests.session_host says of a program, with the trace."""
    result: dict[str, Any] = pickle.loads(HOST.ask(source=source, limits=dict(limits), as_it_is=as_it_is))
    head, *rest = (json.loads(line) for line in result["lines"])
    trace = {**head["header"], "steps": [line["step"] for line in rest if "step" in line], **rest[-1]}
    Trace.model_validate(trace)
    return {**result, "trace": trace}


def agrees_with_plain_python(source: str, as_it_is: bool = False) -> None:
    """The trace is true, the program printed and ended as without it, its tensors are the same, nothing is left."""
    result, truth = recorded(source, as_it_is=as_it_is), plain_run(source)
    assert verdict(Case("program", source, source), result["trace"]) == Verdict("agrees")
    assert events(result["trace"], "tracer_fault") == []
    assert result["error"] == truth["error"]
    assert result["left"] == []


def case(path: Path) -> Any:
    return pytest.param(path, id=path.stem, marks=() if path in SAMPLE else pytest.mark.exhaustive)


@pytest.mark.parametrize("path", [case(path) for path in PROGRAMS])
def test_a_program_runs_as_without_the_recorder(path: Path) -> None:
    agrees_with_plain_python(path.read_text())


@pytest.mark.parametrize("path", [case(path) for path in PROGRAMS if path.stem != "recursion_without_end"])
def test_code_that_runs_as_it_is_gives_a_true_trace(path: Path) -> None:
    """But for a recursion without end: Python's trace function takes room on the stack, and the error has other words."""
    agrees_with_plain_python(path.read_text(), as_it_is=True)
