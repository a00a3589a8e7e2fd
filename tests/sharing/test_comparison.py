"""Traces of two runs compared, without all of a trace being parsed at once."""

import gzip
import json
from typing import Any

import pytest

from server.store.stored_traces import DifferingPart, compare_traces, read_trace_header
from tests.recordings.store import kept_trace

SEPARATORS = ((",", ":"), (", ", ": "))
TRICKY = 'x = \',"steps":[\'  # ,"steps":[{"i":9'


Run = dict[str, Any]
"""What `recorded` is called with."""


def run(*printed: str, status: str = "finished", source: str = TRICKY) -> Run:
    """A run that printed these texts. No program runs until `recorded` asks for it."""
    return {"printed": printed, "status": status, "source": source}


def recorded(run: Run) -> dict[str, Any]:
    """A trace with a step for each text that the program printed."""
    steps = [
        {"i": i, "kind": "statement", "line": 1, "log": [{"kind": "out", "stream": "stdout", "text": text}]}
        for i, text in enumerate(run["printed"])
    ]
    whole = {**kept_trace(run["source"]), "steps": steps, "focus": None}
    whole["outcome"], whole["cost"] = {**whole.pop("outcome"), "status": run["status"]}, whole.pop("cost")
    return whole


def stored(value: dict[str, Any], separators: tuple[str, str] = SEPARATORS[0]) -> bytes:
    return gzip.compress(json.dumps(value, separators=separators).encode())


@pytest.mark.parametrize("separators", SEPARATORS)
@pytest.mark.parametrize("size", [0, 1, 300_000])
def test_the_header_of_a_stored_trace(separators: tuple[str, str], size: int) -> None:
    value = recorded(run("x" * size, source=TRICKY + "#" * size))
    header = read_trace_header(stored(value, separators))
    assert header == {name: field for name, field in value.items() if name in ("schema", "program", "runtime")}


@pytest.mark.parametrize("separators", SEPARATORS)
@pytest.mark.parametrize(
    ("old", "new", "parts", "step"),
    [
        (run(), run(), [], None),
        (run("a", "b"), run("a", "b"), [], None),
        (run("a", '],"focus":'), run("a", '],"focus":', "c"), ["steps", "printed"], 2),
        (run("a", "b"), run("a", "c"), ["steps", "printed"], 1),
        (run("a", "b"), run(), ["steps", "printed"], 0),
        (run("ab", "c"), run("a", "bc"), ["steps", "printed"], 0),
        (run("a"), run("a", status="raised"), ["outcome"], None),
        (run("a"), run("b", status="raised"), ["steps", "printed", "outcome"], 0),
    ],
)
def test_the_parts_that_differ(
    old: Run, new: Run, parts: list[DifferingPart], step: int | None, separators: tuple[str, str]
) -> None:
    before, after = recorded(old), recorded(new)
    after["cost"] = {**after["cost"], "wall_ms": 77}  # which never counts
    assert compare_traces(stored(before), stored(after, separators)) == (parts, step)


def test_equal_traces_have_no_differences() -> None:
    body = stored(recorded(run("a")))
    assert compare_traces(body, body) == ([], None)
