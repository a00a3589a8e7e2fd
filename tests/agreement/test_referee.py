"""The referee finds every falsified trace, and judges as the one that lies beside the project."""

import copy
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tests.agreement.test_agreement import PASTES, PROGRAMS
from tests.referee.agreement import Case, verdict
from tests.referee.comparison import disagreements
from tests.referee.drawn_state import Trace, reached, replayed
from tests.referee.plain_run import plain_run
from tests.referee.steps_truth import cut, statements
from tests.support.tracing import ROOT
from tests.support.workers import Workers

pytestmark = pytest.mark.slow

TOOLS = ROOT.parent / "shared/tools"

PROGRAM = """\
import torch
x = torch.tensor([1., 2.], requires_grad=True)
y = x.sigmoid()
v = y.detach()
w = torch.zeros(2)
z = (y * x).sum()
q = x * 3
q.sum().backward()
n = 3
items = [x, v]
also = v
print(n, items[0].shape)
v.add_(1)
"""


class Forgery:
    """A trace of PROGRAM that can be changed as if the recorder had told it so at the last step."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.state = replayed(trace)
        self.uids = reached(self.state)

    def tensor(self, name: str) -> dict[str, Any]:
        return self.state[self.uids[name]]

    def change(self, uid: str, /, **fields: Any) -> None:
        """Set fields of an entity at the last step."""
        self.trace["steps"][-1]["set"].setdefault(uid, {}).update(fields)

    def change_tensor(self, name: str, /, **fields: Any) -> None:
        self.change(self.uids[name], **fields)

    def change_cell(self, name: str) -> None:
        storage = self.tensor(name)["storage"]
        (dtype, cells), *_ = self.state[storage]["cells"].items()
        self.change(storage, cells={dtype: [*cells[:-1], 77.0]})
        self.trace["steps"][-1]["set"][storage].pop("cells_at", None)

    def change_node(self, name: str, /, **fields: Any) -> None:
        self.change(self.tensor(name)["grad_fn"], **fields)

    def node(self, name: str) -> dict[str, Any]:
        return self.state[self.tensor(name)["grad_fn"]]

    def rename(self, **names: Any) -> None:
        """Bind module-level names to other values."""
        frame = next(uid for uid, e in self.state.items() if e["kind"] == "frame" and e.get("caller") is None)
        self.change(frame, vars=names)

    def separate(self, name: str) -> None:
        """Give a handle a storage of its own, with equal cells."""
        old = self.state[self.tensor(name)["storage"]]
        self.change("s999", **{**copy.deepcopy(old), "cells": {"float32": [1.7310585, 1.880797]}})
        self.change_tensor(name, storage="s999")

    def slot(self, node: str, state: str) -> None:
        """Tell another state of every saved slot of a node."""
        saved = {name: {**slot, "state": state} for name, slot in self.node(node)["saved"].items()}
        self.change_node(node, saved=saved)

    def drop(self, line: int) -> None:
        self.trace["steps"] = [step for step in self.trace["steps"] if step["line"] != line]


def print_other(forged: Forgery) -> None:
    for step in forged.trace["steps"]:
        for entry in step["log"]:
            if entry["kind"] == "out":
                entry["text"] = entry["text"].replace("3", "4")


def swap_edges(forged: Forgery) -> None:
    edges = forged.state[forged.node("z")["next"][0][0]]["next"]
    forged.change(forged.node("z")["next"][0][0], next=edges[::-1])


FORGERIES: dict[str, tuple[Callable[[Forgery], None], str]] = {
    "a wrong cell": (lambda f: f.change_cell("w"), "w holds"),
    "a wrong cell of a gradient": (
        lambda f: f.change(f.state[f.tensor("x")["grad"]]["storage"], cells={"float32": [3.0, 4.0]}),
        "x.grad holds",
    ),
    "a wrong version": (lambda f: f.change(f.tensor("w")["counter"], value=5), "w.version is 5"),
    "a wrong edge": (swap_edges, "z: node"),
    "an edge that ends": (lambda f: f.change_node("z", next=[None]), "z: a graph of 1 nodes"),
    "a wrong input of an edge": (lambda f: f.change_node("z", next=[[f.node("z")["next"][0][0], 1]]), "z: node"),
    "a wrong node": (lambda f: f.change_node("q", name="DivBackward0"), "q.grad_fn is 'DivBackward0'"),
    "a stale slot that is told as good": (lambda f: f.slot("y", "ok"), "saved SigmoidBackward0.result is ok"),
    "a freed slot that is told as stale": (lambda f: f.slot("q", "stale"), "is stale instead of freed"),
    "a leaf's variable": (
        lambda f: f.change(f.node("q")["next"][0][0], variable=f.uids["w"]),
        "AccumulateGrad",
    ),
    "handles that share a storage, separated": (lambda f: f.separate("v"), "share a storage; the picture separates"),
    "two storages drawn as one": (
        lambda f: f.change_tensor("w", storage=f.tensor("v")["storage"]),
        "are drawn in one storage; torch keeps two",
    ),
    "a counter of its own": (
        lambda f: (f.change("c999", kind="counter", value=1), f.change_tensor("v", counter="c999"), None)[-1],
        "counters shared by",
    ),
    "one tensor drawn as two": (
        lambda f: (f.change("t999", **f.tensor("v")), f.rename(also={"ref": "t999"}), None)[-1],
        "one tensor:",
    ),
    "a name of another tensor": (lambda f: f.rename(w={"ref": f.uids["q"]}), "w.requires_grad is True"),
    "a tensor that is missing": (lambda f: f.rename(w=None), "w: no tensor in the picture"),
    "a gradient that is missing": (lambda f: f.change_tensor("x", grad=None), "x.grad is missing"),
    "a gradient that is not there": (lambda f: f.change_tensor("w", grad=f.uids["v"]), "w.grad is shown"),
    "a shape": (lambda f: f.change_tensor("w", shape=[1, 2], stride=[2, 1]), "w.shape is [1, 2]"),
    "a stride": (lambda f: f.change_tensor("w", stride=[0]), "w.stride is [0]"),
    "an offset": (lambda f: f.change_tensor("w", offset=1), "w.offset is 1"),
    "a dtype": (lambda f: f.change_tensor("w", dtype="float64"), "w.dtype is 'float64'"),
    "requires_grad": (lambda f: f.change_tensor("w", requires_grad=True), "w.requires_grad is True"),
    "a leaf": (lambda f: f.change_tensor("y", leaf=True), "y.leaf is True"),
    "a number": (lambda f: f.rename(n=4), "n = 4 instead of 3"),
    "a number of another type": (lambda f: f.rename(n=3.0), "n = 3.0 instead of 3"),
    "a printed text": (print_other, "printed"),
    "an error that was none": (
        lambda f: f.trace["outcome"].update(error={"type": "E", "message": "", "line": 1}),
        "ended with",
    ),
    "a program that was stopped": (lambda f: f.trace["outcome"].update(status="stopped"), "not run: stopped"),
    "a missing step": (lambda f: f.drop(13), "v holds"),
}


@pytest.fixture(scope="module")
def tools() -> ModuleType:
    """The referee that lies beside the project."""
    if not TOOLS.is_dir():
        pytest.skip("../shared/tools is missing: our referee was not held against the one there")
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.path.insert(0, str(TOOLS))
    try:
        specification = importlib.util.spec_from_file_location("steps_truth", TOOLS / "steps_truth.py")
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module


def as_theirs(truth: dict[str, Any]) -> dict[str, Any]:
    """Our truth in the form of theirs, which does not ask for the modes of modules."""
    error = truth["error"]
    rest = {key: value for key, value in truth.items() if key not in ("printed", "error", "facts", "modes")}
    return {**rest, "out": truth["printed"], "error": error and [error[0], error[1], error[3]]}


def test_a_true_trace_passes_the_referee(workers: Workers) -> None:
    assert verdict(Case("true", PROGRAM, PROGRAM), workers.trace(PROGRAM)).kind == "agrees"
    assert all(not state.sentences for state in statements(PROGRAM, workers.trace(PROGRAM)))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_falsified_trace_fails_the_referee(workers: Workers, name: str) -> None:
    falsify, words = FORGERIES[name]
    forged = Forgery(workers.trace(PROGRAM))
    falsify(forged)
    result = verdict(Case(name, PROGRAM, PROGRAM), forged.trace)
    assert result.kind == "differs"
    assert words in "; ".join(result.sentences)


@pytest.mark.parametrize("name", FORGERIES)
def test_the_published_referee_rejects_the_same_falsified_traces(
    workers: Workers, tools: ModuleType, name: str
) -> None:
    forged = Forgery(workers.trace(PROGRAM))
    FORGERIES[name][0](forged)
    disagreeing = disagreements(plain_run(PROGRAM), forged.trace)
    assert disagreeing == tools.referee.compare(as_theirs(plain_run(PROGRAM)), forged.trace) != []


SAMPLE = [(path.stem, path.read_text(), path.read_text()) for path in PROGRAMS[::12]]
SAMPLE += [(case.name, case.pasted, case.program) for case in PASTES[::8]]


@pytest.mark.parametrize(("name", "pasted", "program"), SAMPLE, ids=[name for name, *_ in SAMPLE])
def test_both_referees_judge_alike(workers: Workers, tools: ModuleType, name: str, pasted: str, program: str) -> None:
    """They get the same truth from torch, say the same of a trace, and cut it at the same steps."""
    truth, trace, theirs = plain_run(program), workers.trace(pasted), tools.referee.plain(program)
    assert as_theirs(truth).keys() == theirs.keys(), name
    assert tools.referee.compare(as_theirs(truth), trace) == disagreements(truth, trace) == []
    assert tools.referee.compare(theirs, trace) == [], theirs
    for line in {step["line"] for step in trace["steps"]}:
        assert tools.upto(trace, line, line) == cut(trace, line, line)


def test_a_temporarily_false_state_fails_the_referee(workers: Workers) -> None:
    """The end alone doesn't show it."""
    trace = workers.trace(PROGRAM)
    at = {step["line"]: step for step in trace["steps"] if step["depth"] == 0}
    storage = Forgery(trace).tensor("w")["storage"]
    at[6]["set"].setdefault(storage, {})["cells"] = {"float32": [0.0, 9.0]}
    at[9]["set"].setdefault(storage, {})["cells"] = {"float32": [0.0, 0.0]}
    assert disagreements(plain_run(PROGRAM), trace) == []
    false = [state.line for state in statements(PROGRAM, trace) if state.sentences]
    assert false == [6, 7, 8]


def test_a_statement_without_a_step_fails_the_referee(workers: Workers) -> None:
    forged = Forgery(workers.trace(PROGRAM))
    forged.drop(9)
    assert [state.sentences for state in statements(PROGRAM, forged.trace) if state.line == 9] == [["no step"]]
