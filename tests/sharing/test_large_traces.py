"""Large traces are read in a process of their own, with the result that the function gives here."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from server.saved import large_traces
from server.saved.large_traces import LARGE_BYTES, TraceProcessor, run_function_in_process
from server.wire.problems import ProblemError

pytestmark = pytest.mark.slow


def stored(*texts: str) -> bytes:
    """A trace that leaves `answered` True, with a step for each text that was printed."""
    steps: list[dict[str, Any]] = [
        {"i": i, "kind": "statement", "line": 1, "log": [{"kind": "out", "stream": "stdout", "text": text}]}
        for i, text in enumerate(texts)
    ]
    module = {"kind": "frame", "vars": {"answered": True}, "unset": None}
    trace = {"schema": 1, "steps": [*steps, {"set": {"f1": module}}], "outcome": {"status": "finished"}}
    return gzip.compress(json.dumps(trace).encode())


def test_a_large_trace_is_read_as_a_small_one_is() -> None:
    reader = TraceProcessor()
    for size in (1, LARGE_BYTES):
        old, new = stored("a", "b"), stored("a", "b" * size + "c")
        assert list(asyncio.run(reader.run_function("compare", old, new))) == [["steps", "printed"], 1]
        assert asyncio.run(reader.run_function("judge", new)) == {"right": True, "status": "finished", "error": None}


def test_a_trace_that_can_not_be_read_is_a_problem_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asyncio.run(run_function_in_process("judge", b"no gzip")) is None
    monkeypatch.setattr(large_traces, "TIMEOUT", 0.0)
    with pytest.raises(ProblemError) as raised:
        asyncio.run(TraceProcessor().run_function("judge", stored("x" * LARGE_BYTES)))
    assert raised.value.status == 503
