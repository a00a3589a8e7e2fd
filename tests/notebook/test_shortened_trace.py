"""A trace that is too large for a notebook's output keeps its first steps, and is a trace."""

import base64
import gzip
import json

import pytest
import torch

from gradbox.notebook.shortened_trace import MAX_PACKED_BYTES, shorten_trace
from gradbox.region import watch
from gradbox.run import Run
from gradbox.wire.trace import Trace


@pytest.fixture(scope="module")
def body() -> bytes:
    with watch("part", show=False) as region:
        x = torch.ones(4, requires_grad=True)
        for _ in range(6):
            (x * 2).sum().backward()
    return region.run.body


def packed_bytes(trace: bytes) -> int:
    return len(base64.b64encode(gzip.compress(trace, 9)))


@pytest.mark.parametrize("limit", [1, 3000, 4000])
def test_the_first_steps_that_fit_are_a_trace(limit: int, body: bytes) -> None:
    steps = json.loads(body)["steps"]
    shortened, count = shorten_trace(body, limit)
    trace = json.loads(shortened)
    Trace.model_validate(trace)
    assert trace["steps"] == steps[:count] and 1 <= count < len(steps)
    of_one_step = {**trace, "steps": steps[:1]}
    of_one_step.pop("rounds", None)
    least = packed_bytes(json.dumps(of_one_step, separators=(",", ":"), ensure_ascii=False).encode())
    assert packed_bytes(shortened) <= max(limit, least) and least < 12_000
    assert trace["outcome"]["stopped"] == {"limit": "trace", "value": limit, "line": steps[count - 1]["line"]}


def test_a_small_trace_stays_as_it_is(body: bytes) -> None:
    assert shorten_trace(body) == (body, len(json.loads(body)["steps"])) and packed_bytes(body) < MAX_PACKED_BYTES


@pytest.mark.parametrize(("raised", "shown"), [(True, "run"), (False, "run: the first 1 of ")])
def test_a_run_that_raised_is_shown_whole(
    raised: bool, shown: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradbox.notebook.shortened_trace.shorten_trace.__defaults__", (1,))
    trace = json.loads(body)
    if raised:
        trace["outcome"] = {"status": "raised", "error": {"type": "ValueError", "message": "", "line": 1, "step": 1}}
    _, title = Run(json.dumps(trace).encode(), "run").trace_and_title_for_notebook()
    assert title.startswith(shown) and (title == "run") == raised


def test_a_table_of_rounds_that_takes_all_room_is_left_out(body: bytes) -> None:
    trace = json.loads(body)
    row = {"n": 0, "backwards": 1, "losses": [], "lr": []}
    norms = [[n * 0.123456789 + k / 7 for k in range(64)] for n in range(500)]
    trace["rounds"]["rounds"] = [{**row, "n": n, "grad": values} for n, values in enumerate(norms)]
    whole = json.dumps(trace).encode()
    shortened, count = shorten_trace(whole, 40_000)
    assert packed_bytes(whole) > 40_000 >= packed_bytes(shortened)
    kept = json.loads(shortened)
    assert "rounds" not in kept and count == len(trace["steps"]) == len(kept["steps"])
    assert kept["outcome"] == trace["outcome"]
