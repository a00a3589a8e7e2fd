"""A script that watches regions of itself, and prints what they recorded as JSON: run by
tests/sessions/test_own_code_region.py."""

import ast
import contextlib
import gc
import io
import json
import pdb
import resource
import sys
import textwrap
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import gradbox
from tests.support.process_state import process_state

REGIONS = int(sys.argv[1])
result: dict[str, object] = {}  # traces as text, other names with `_`: else each region would draw them
weight = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
saved_before = weight.exp()
stale_before = weight.sigmoid()
with torch.no_grad():
    stale_before += 1


def train(x: torch.Tensor) -> float:
    optimizer.zero_grad()
    loss = (weight * x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


class Pair:
    def __init__(self) -> None:
        self.first, self.options, self.second = torch.ones(2), {"a": 1}, torch.zeros(2)


def in_function() -> gradbox.Run:
    scale = torch.full((2,), 2.0)
    with gradbox.watch("in a function") as region:
        view = scale[0]
        view += 1
        for k in range(2):
            scale[k] *= 3
    return region.run


train(torch.ones(3))
gc.collect()
_before = process_state()
with gradbox.watch("training") as region:
    value = train(torch.ones(3))
_after = process_state()
result["left"] = [name for name in _before if _before[name] != _after[name] and name != "hook numbers"]
result["training"] = region.run.body.decode()
result["function"] = in_function().body.decode()

try:
    with gradbox.watch("raises", steps=50) as raising:
        saved = weight.exp()
        saved += 1
        saved.sum().backward()
except RuntimeError as error:
    result["raised"] = [str(error)[:30], raising.run.trace["outcome"]["status"], raising.run.findings()[0].kind]


def numbers() -> Generator[torch.Tensor, None, None]:
    yield torch.ones(1)
    yield torch.ones(2)


waiting = numbers()
with gradbox.watch("thrown") as thrown:
    next(waiting)
    with contextlib.suppress(ValueError):
        waiting.throw(ValueError("x"))
result["thrown"] = [step["kind"] for step in thrown.run.trace["steps"]]

explained = gradbox.explain(quiet=True)
try:
    with explained:
        saved = weight.exp()
        saved += 1
        saved.sum().backward()
except RuntimeError:
    result["explained"] = [finding.kind for finding in explained.findings]


def cell() -> None:
    """What a notebook keeps as a function and compiles without its indent."""
    indented = gradbox.explain(quiet=True)
    try:
        with indented:
            saved = weight.exp()
            saved += 1
            saved.sum().backward()
    except RuntimeError:
        result["cell"] = [
            [step["line"] for step in indented.run.trace["steps"] if step["kind"] == "statement"],
            indented.findings[0].kind,
            indented.findings[0].line,
        ]


_first = cell.__code__.co_firstlineno + 1
_lines = Path(__file__).read_text().splitlines()[_first : _first + 12]
_tree = ast.increment_lineno(ast.parse(textwrap.dedent("\n".join(_lines))), _first)
exec(compile(_tree, __file__, "exec"))
_with = _first + 1 + next(k for k, text in enumerate(_lines) if "with indented" in text)
result["cell"] = [_with, *result["cell"]]  # type: ignore[misc]

with gradbox.watch("limited", steps=4) as limited:
    for k in range(10):
        value = k
result["limited"] = [value, limited.run.trace["outcome"], len(limited.run.trace["steps"])]

with gradbox.watch("outer") as outer:
    try:
        with gradbox.watch("inner"):
            value = 1
    except RuntimeError as error:
        result["nested"] = str(error)


def traced(x: list[int]) -> int:
    x.append(1)
    doubled = [2 * k for k in x]
    made = (k for k in doubled)
    next(numbers())
    return next(made)


def heard(region: contextlib.AbstractContextManager[object]) -> list[list[object]]:
    """What a trace function hears while `traced` runs in a region."""
    events: list[list[object]] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename == __file__:
            events.append([frame.f_code.co_name, frame.f_lineno, event])
        return trace

    sys.settrace(trace)
    try:
        with region:
            traced([0])
    finally:
        assert sys.gettrace() is trace
        sys.settrace(None)
    return events


traced_region = gradbox.watch("traced")
_alone, _beside = heard(contextlib.nullcontext()), heard(traced_region)
result["traced"] = [_alone, _beside, [step["kind"] for step in traced_region.run.trace["steps"]]]


def debugged(x: int) -> int:
    y = x + 1
    pdb.Pdb(stdin=io.StringIO("next\ncontinue\n"), stdout=io.StringIO()).set_trace()
    y *= 2
    return y


printed = io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), gradbox.watch("debugged") as region:
    before = 1
    after = debugged(before)
sys.settrace(None)
result["debugged"] = [after, region.run.body.decode(), printed.getvalue()]

tagged = torch.ones(2)
tagged.note = "an attribute"  # type: ignore[attr-defined]
sizes = []
for k in range(REGIONS):
    with gradbox.watch():
        value = train(torch.ones(3))
    if k == REGIONS // 2 or k == REGIONS - 1:
        gc.collect()
        sizes.append([len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])
result["sizes"] = sizes
pair, _asked_for_dict = Pair(), Pair()
with gradbox.watch():
    pair.first.add_(1)
result["pair"] = [list(vars(pair)), sys.getsizeof(vars(_asked_for_dict)), sys.getsizeof(vars(pair))]
result["state_after_all"] = [
    name for name, value in process_state().items() if _before[name] != value and name != "hook numbers"
]
result["attribute dictionaries"] = [
    any(type(referent) is dict for referent in gc.get_referents(tensor)) for tensor in (weight, weight.grad, tagged)
]
print(json.dumps(result))
