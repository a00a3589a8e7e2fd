"""Causes that no step shows: in code that is not stepped, and in iterations that are not recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.forks.forked_command import run_gradbox
from tests.forks.plain_python import call_beside_gradbox
from tests.support.explaining import findings_of, findings_of_traces
from tests.support.sampling import in_turn, places, sampled
from tests.support.tracing import events, trace

pytestmark = pytest.mark.slow

LIBRARY = """\
import copy
import torch
def run(w):
    a = torch.softmax(w, 0)
    a *= 0.5
    a.pow(2).sum().backward()
def residual(x, norm):
    x = x + 1
    y = norm(x)
    x += y
    return x.pow(2).sum()
def gated(x):
    gate = x.sigmoid()
    torch.nn.functional.relu(gate, inplace=True)
    return gate.sum()
def build():
    layer = torch.nn.Linear(2, 2)
    other = copy.deepcopy(layer)
    torch.nn.init.zeros_(other.weight)
    return layer
def rows(x):
    some = x[[0, 1]]
    some.add_(1)
    return x
def backward(loss):
    loss.backward()
def twice(w):
    loss = w.exp().sum()
    loss.backward()
    loss.backward()
def without_grad(w):
    with torch.no_grad():
        y = w * 2
        return y.sum()
def rebuilt(w):
    loss = (w * 2).sum()
    return torch.tensor(loss.item(), requires_grad=True)
def stopped(w):
    h = w.tanh().detach()
    return (h * 3).sum()
def mixed(w):
    some = w.detach()
    more = some * 1
    return (w * 2).sum() + more.sum()
"""


def findings_with_library(folder: Path, source: str) -> list[dict[str, Any]]:
    """The findings of a script beside a module without steps."""
    (folder / "library.py").write_text(LIBRARY)
    (folder / "train.py").write_text(f"import torch, library\nx = torch.ones(2, 4, requires_grad=True)\n{source}\n")
    _, out, _ = call_beside_gradbox(run_gradbox, str(folder), ["trace", "--script-only", "train.py"])
    (found,) = findings_of_traces([json.loads(out)])
    return found


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("library.run(x)", 5),
        ("loss = library.residual(x, torch.nn.LayerNorm(4))\nloss.backward()", 10),
        ("library.gated(x).backward()", 14),
    ],
)
def test_a_write_in_a_module_without_steps_is_found_at_its_line(tmp_path: Path, call: str, line: int) -> None:
    finding = findings_with_library(tmp_path, call)[0]
    assert (finding["kind"], finding["variant"]) == ("saved_overwritten", "elsewhere")
    assert f"`library.py:{line}`" in finding["what"] and finding["also"] == "library"
    assert finding["hints"] == []


ROUND = "b = torch.zeros(1, requires_grad=True)\nloss = {loss} + b\nloss.backward()\nprint(x.grad)"


@pytest.mark.parametrize(
    ("call", "kind", "line", "others"),
    [
        ("loss = x.exp().sum()\nlibrary.backward(loss)\nlibrary.backward(loss)", "backward_twice", 26, [26]),
        ("library.twice(x)", "backward_twice", 30, [29]),
        ("library.without_grad(x).backward()", "no_graph", 33, []),
        (ROUND.format(loss="library.rebuilt(x)"), "grad_none", 37, []),
        (ROUND.format(loss="library.stopped(x)"), "grad_none", 40, []),
    ],
)
def test_a_backward_and_a_cut_in_a_module_without_steps_are_found_at_their_lines(
    tmp_path: Path, call: str, kind: str, line: int, others: list[int]
) -> None:
    finding = findings_with_library(tmp_path, call)[0]
    assert finding["kind"] == kind and finding["also"] == "library"
    text = LIBRARY.splitlines()[line - 1].strip()
    assert f"`{text}` at `library.py:{line}`" in finding["what"] and "`--also library`" in finding["todo"]
    for other in others:
        assert any(f"`library.py:{other}`" in link["text"] for link in finding["chain"])


def test_a_line_that_only_used_what_was_detached_is_not_said_to_have_detached_it(tmp_path: Path) -> None:
    finding = findings_with_library(tmp_path, ROUND.format(loss="library.stopped(x)"))[0]
    assert "It happens before `return (h * 3).sum()` at `library.py:40` uses it." in finding["what"]


def test_a_cut_that_is_not_the_cause_gives_a_finding_no_place(tmp_path: Path) -> None:
    call = "loss = library.mixed(x)\nloss.backward()\nx.grad = None\nloss.backward()"
    finding = findings_with_library(tmp_path, call)[0]
    assert finding["kind"] == "backward_twice"
    assert finding["also"] is None and "library.py" not in finding["text"]


def test_code_of_exec_is_a_part_of_the_statement_that_runs_it(tmp_path: Path) -> None:
    call = "loss = x.exp().sum()\nexec('loss.backward()')\nexec('loss.backward()')"
    finding = findings_with_library(tmp_path, call)[0]
    assert (finding["kind"], finding["line"], finding["also"]) == ("backward_twice", 5, None)
    assert "<string>" not in finding["text"]


@pytest.mark.parametrize("call", ["layer = library.build()", "y = library.rows(torch.ones(3))"])
def test_a_copy_made_in_a_module_without_steps_is_not_reported_as_a_lost_write(tmp_path: Path, call: str) -> None:
    assert findings_with_library(tmp_path, call) == []


def test_a_write_in_the_program_itself_has_no_place_in_another_module() -> None:
    recorded = trace("import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n")
    assert ["place" in event for event in events(recorded, "saved_stale")] == [False]


LAYERS = """\
import torch
torch.manual_seed(0)
class Layer(torch.nn.Linear):
    def __init__(self, size):
        super().__init__(size, size)
        self.opt = torch.optim.SGD(self.parameters(), 0.1)
    def train(self, x):
        for i in range({rounds}):
            loss = self.forward(x).exp().log1p().pow(2).mean() + self.forward(-x).exp().log1p().pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return self.forward(x)
x = torch.randn(5, 3)
for layer in [Layer(3), Layer(3)]:
    x = layer.train(x)
"""


@pytest.mark.parametrize("rounds", sampled([4, 40, 200], places(0, 2)))
def test_a_graph_that_is_carried_into_unrecorded_iterations_is_named(rounds: int) -> None:
    finding = findings_of(LAYERS.format(rounds=rounds))[0]
    assert (finding["kind"], finding["variant"], finding["line"]) == ("backward_twice", "carried", 16)
    assert 13 in finding["lines"] and "`x`" in finding["what"]


def test_a_list_is_told_with_its_own_length_and_the_line_that_made_it() -> None:
    source = (
        "import torch\nmodel = torch.nn.Linear(2, 1)\nhist = []\nfor i in range(150):\n"
        "    loss = model(torch.ones(4, 2)).exp().log1p().pow(2).mean()\n    model.zero_grad()\n"
        "    loss.backward()\n    hist.append(loss)\n"
    )
    (finding,) = [found for found in findings_of(source) if found["kind"] == "graph_grows"]
    assert "holds 150 of them" in finding["why"]
    assert finding["chain"][0]["line"] == 3


UNROLLED = """\
import torch
torch.manual_seed(0)
cell, head = torch.nn.{cell}(1, 4), torch.nn.Linear(4, 1)
opt = torch.optim.LBFGS([*cell.parameters(), *head.parameters()], lr=0.5)
x = torch.randn(3, {length})
def predict():
    state = {start}
    out = []
    for t in x.split(1, dim=1):
        state = cell(t, state)
        out += [head({hidden})]
    return torch.cat(out, 1)
def closure():
    opt.zero_grad()
    loss = (predict() - 1).pow(2).mean()
    loss.backward()
    return loss
for i in range(2):
    opt.step(closure)
"""


CELLS = {
    "GRUCell": ("torch.zeros(3, 4)", "state"),
    "LSTMCell": ("(torch.zeros(3, 4), torch.zeros(3, 4))", "state[0]"),
}
"""By module, the state that it begins with, and what of it is read."""


@pytest.mark.parametrize(("cell", "length"), in_turn(CELLS, [8, 60]))
def test_the_graph_of_an_unrolled_module_grows_only_until_its_backward(cell: str, length: int) -> None:
    start, hidden = CELLS[cell]
    source = UNROLLED.format(cell=cell, start=start, hidden=hidden, length=length)
    assert [found["kind"] for found in findings_of(source) if found["severity"] != "note"] == []


ASSERTING = """\
import torch
w = torch.ones(2, requires_grad=True)
copy = w.detach()
(w.detach() * 2).sum().item()
assert not torch.equal(w, copy), f"the same: {w} and {copy}, shape and requires_grad"
"""


def test_a_program_s_own_assertion_is_no_error_about_its_tensors() -> None:
    (finding,) = findings_of(ASSERTING)
    assert (finding["kind"], finding["variant"]) == ("unexplained_error", "assertion")
    assert "no operation of torch did" in finding["text"] and "requires grad before" not in finding["text"]
