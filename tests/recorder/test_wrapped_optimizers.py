"""An optimizer that a library wraps is known by its steps: what it holds, how often it stepped, and what that moved."""

from typing import Any

import pytest

from gradbox.wire.tables import RunTables
from tests.recorder import trainer_library
from tests.support.explaining import call_page, findings_of_traces
from tests.support.tracing import Replay, events, trace

WRAPPED = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
halved = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)
opt, halved = trainer_library.WRAPPER(opt), trainer_library.HeldScheduler(halved)
for _ in range(3):
    loss = (net(torch.randn(4, 3)) - 1).pow(2).mean()
    opt.zero_grad()
    trainer_library.backward(loss)
    opt.step()
    halved.step()
"""

LOOP = """\
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh())
        self.head = torch.nn.Linear(6, 1)
    def training_step(self, batch, number):
        hidden = self.body(batch)
        return (self.head(hidden) - 1).pow(2).mean()
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.1)
torch.manual_seed(0)
trainer_library.Loop().fit(Model(), torch.randn(5, 3, 4))
"""
NO_GRAD = LOOP.replace("        hidden = self", "        with torch.no_grad(): hidden = self")

ACCUMULATING = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = trainer_library.SubclassedOptimizer(torch.optim.AdamW(net.parameters(), lr=0.01), 2)
for x in torch.randn(6, 4, 3):
    with trainer_library.accumulating():
        trainer_library.backward((net(x) - 1).pow(2).mean() / 2)
        opt.step(); opt.zero_grad()
"""
DROPPED = ACCUMULATING.replace("opt.step(); opt.zero_grad()", "opt.zero_grad(); opt.step()")


def recorded(source: str) -> dict[str, Any]:
    found = trace(source, trainer_library.install)
    assert found["outcome"]["status"] == "finished" and not events(found, "tracer_fault")
    return found


def parameters(found: dict[str, Any]) -> dict[str, tuple[str, int, int, list[tuple[str, float]]]]:
    """By name what became of each parameter, how many of its steps moved it, and who holds it at which rate."""
    rows = RunTables.model_validate(call_page("views/tables", found)).parameters
    return {
        str(row.name): (row.fate, row.updated, row.steps, [(held.optimizer, held.lr or 0) for held in row.held_by])
        for row in rows
    }


@pytest.mark.parametrize(("wrapper", "name"), [("SubclassedOptimizer", "opt.optimizer"), ("HeldOptimizer", "SGD")])
def test_a_wrapped_optimizer_is_one_from_its_beginning_to_its_last_step(wrapper: str, name: str) -> None:
    found = recorded(WRAPPED.replace("WRAPPER", wrapper))
    (uid,) = {event["optimizer"] for event in events(found, "optimizer_stepped")}
    assert uid in Replay(found).state and Replay(found).state[uid]["type"] == "SGD"
    row = ("updated", 3, 3, [(name, 0.125)])  # the rate with which it stepped last
    assert parameters(found) == {"net.weight": row, "net.bias": row}
    assert findings_of_traces([found]) == [[]]


def test_an_optimizer_that_only_a_library_holds_is_known() -> None:
    found = recorded(LOOP)
    assert {fate for fate, *_ in parameters(found).values()} == {"updated"}
    assert [held for *_, held in parameters(found).values()] == [[("AdamW", 0.1)]] * 4
    assert findings_of_traces([found]) == [[]]


def test_a_cut_in_a_step_that_a_library_calls_is_found() -> None:
    found = recorded(NO_GRAD)
    fates = {name.split(".", 1)[1]: fate for name, (fate, *_) in parameters(found).items()}
    held_back = {"body.0.weight": "never_learns", "body.0.bias": "never_learns"}
    assert fates == {**held_back, "head.weight": "updated", "head.bias": "updated"}
    ((finding,),) = findings_of_traces([found])
    assert (finding["kind"], finding["line"], finding["severity"]) == ("grad_none", 8, "warning")


def test_gradients_that_a_wrapper_resets_before_it_steps_are_dropped() -> None:
    ((finding,),) = findings_of_traces([recorded(DROPPED)])
    assert (finding["kind"], finding["line"]) == ("gradients_dropped", 8)
    assert findings_of_traces([recorded(ACCUMULATING)]) == [[]]


OWN = """\
import torch
class Slow(torch.optim.Optimizer):
    def __init__(self, params, inner, **options):
        super().__init__(params, options)
        self.inner = inner(self.param_groups, **options)
    def advance(self):
        self.inner.step()
        self.zero_grad()
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = Slow(net.parameters(), torch.optim.SGD, lr=0.1)
for _ in range(3):
    net(torch.randn(4, 3)).pow(2).mean().backward()
    opt.advance()
"""


def test_an_optimizer_and_the_one_in_it_with_its_groups_are_one() -> None:
    found = recorded(OWN)
    row = ("updated", 3, 3, [("opt", 0.1)])
    assert parameters(found) == {"net.weight": row, "net.bias": row}
    assert findings_of_traces([found]) == [[]]


def test_an_optimizer_is_gone_when_python_has_freed_it() -> None:
    found = recorded("import torch\nw = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w])\nopt = None\n")
    assert not [facts for facts in Replay(found).state.values() if facts.get("type") == "SGD"]
