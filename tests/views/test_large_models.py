"""Large models: nothing of them is left out silently, and no table goes through every state of the run."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.recordings.store import kept_trace
from tests.support.explaining import call_page

ROOT = Path(__file__).parents[2]

LAYERS = 130
DEEP = f"""\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(*[nn.Linear(2, 2) for _ in range({LAYERS})])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.ones(1, 2)).sum()
loss.backward()
opt.step()
"""


def counts_of(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [call_page("views/large_model", traced) for traced in traces]


def last_lists(traced: dict[str, Any]) -> list[dict[str, Any]]:
    """The lists of the run that are longer than what the trace lists of each, as they were reported last."""
    objects: dict[str, dict[str, Any]] = {}
    for step in traced["steps"]:
        for uid, fields in step["set"].items():
            if uid[0] == "o":
                objects.setdefault(uid, {}).update(fields)
    return [facts for facts in objects.values() if facts.get("type") == "list" and facts.get("elided")]


def named(facts: dict[str, Any]) -> list[str]:
    """The tensors that a list names."""
    more = [f"t{k}" for first, last in facts.get("more_tensors", []) for k in range(first, last + 1)]
    return [item["ref"] for item in facts["items"]] + more


def cells_program(steps: int) -> str:
    """A cell that one statement calls again and again, each time with what it made before."""
    return (
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        "
        "super().__init__()\n"
        "        self.cell = nn.RNNCell(2, 2)\n    def forward(self, xs):\n        h = torch.zeros(1, 2)\n"
        "        return [h := self.cell(x, h) for x in xs][-1]\n"
        f"net = Net()\nnet(torch.ones({steps}, 1, 2)).sum().backward()\n"
    )


def test_a_module_that_reads_itself_many_times_is_placed_in_linear_time() -> None:
    few, many = counts_of([kept_trace(cells_program(20)), kept_trace(cells_program(80))])
    assert 0 < many["nodes"] <= 5 * few["nodes"]


def test_an_optimizer_of_many_parameters_is_known_whole() -> None:
    (facts,) = counts_of([kept_trace(DEEP)])
    assert facts["count"] == facts["held"] == 2 * LAYERS
    assert "updated" in facts["fates"] and set(facts["fates"]) <= {"updated", "not_updated"}


def test_a_long_list_of_parameters_names_them_in_their_order() -> None:
    source = DEEP.replace(
        "net.parameters()",
        "[p for p in net.parameters() if p.ndim == 2] + list(reversed([p for p in net.parameters() if p.ndim == 1]))",
    )
    traced = kept_trace(source + "weights = [p for layer in net for p in layer.parameters()]\n")
    group, listed = last_lists(traced)
    assert len(named(group)) == len(named(listed)) == 2 * LAYERS
    assert sorted(named(group)) == sorted(named(listed))
    assert named(group) == named(listed)[::2] + named(listed)[1::2][::-1]


def test_leaves_of_the_program_are_named_too_and_other_long_lists_are_counted() -> None:
    head = f"import torch\nws = [torch.ones(1, requires_grad=True) for _ in range({2 * LAYERS})]\n"
    traced = kept_trace(head + "opt = torch.optim.SGD(ws, lr=0.1)\nlosses = [w * 2 for w in ws]\n")
    lists = last_lists(traced)
    assert [len(named(facts)) for facts in lists].count(2 * LAYERS) == 2  # of the optimizer and of the program
    (losses,) = (facts for facts in lists if "more_tensors" not in facts)
    assert len(losses["items"]) + losses["elided"] == losses["len"] == 2 * LAYERS


BLOCKS = """\
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 16)
    def forward(self, x):
        return x + torch.tanh(self.lin(x))
class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(depth))
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
def main():
    net = Net(DEPTH)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        loss = net(torch.randn(4, 16)).square().mean()
        loss.backward()
        opt.step()
        print(i)
main()
"""


def test_the_net_and_the_tables_ask_for_few_whole_states_however_many_steps_there_are() -> None:
    few, many = counts_of([kept_trace(BLOCKS.replace("DEPTH", depth)) for depth in ("2", "12")])
    assert many["steps"] > 2 * few["steps"]
    for what in ("calls", "net", "modules", "parameters", "moment"):
        assert many[what] <= few[what] + 4 <= 30, (what, few, many)


def events_of(traced: dict[str, Any], name: str) -> list[tuple[int, dict[str, Any]]]:
    entries = ((step["i"], entry) for step in traced["steps"] for entry in step["log"])
    return [(i, entry) for i, entry in entries if entry.get("event") == name]


def test_a_stretch_that_is_large_is_told_in_less_room_and_says_so() -> None:
    source = BLOCKS.replace("DEPTH", "20")
    roomy, short = kept_trace(source), kept_trace(source, limits={"trace": 1_500_000})
    assert not events_of(roomy, "contents_summarized")
    (begun, event), *_ = events_of(short, "contents_summarized")
    assert short["outcome"]["status"] == "finished"
    sizes = {
        step["i"]: fields["nbytes"] // 4
        for step in short["steps"]
        for uid, fields in step["set"].items()
        if uid[0] == "s" and "float32" in (fields.get("summary") or {}) and "nbytes" in fields
    }
    assert min(sizes) >= begun and min(sizes.values()) > event["elements"]
    # what is told in a summary is what would have been listed
    listed = {
        (step["i"], uid): cells
        for step in roomy["steps"]
        for uid, fields in step["set"].items()
        if uid[0] == "s" and (cells := (fields.get("cells") or {}).get("float32"))
    }
    compared = 0
    for step in short["steps"]:
        for uid, fields in step["set"].items():
            summary = (fields.get("summary") or {}).get("float32")
            if summary is None or (step["i"], uid) not in listed:
                continue
            values = torch.tensor(listed[step["i"], uid])
            assert sum(summary["bins"]) == values.numel()
            assert summary["norm"] == pytest.approx(values.double().norm().item(), rel=1e-5)
            assert math.isclose(summary["max"], values.max().item(), rel_tol=1e-6)
            compared += 1
    assert compared > 5


def test_a_training_of_many_small_rounds_lists_its_contents_whole() -> None:
    source = BLOCKS.replace("DEPTH", "2").replace("range(2)", "range(300)")
    traced = kept_trace(source, limits={"trace": 1_500_000})
    assert traced["outcome"]["status"] == "finished"
    assert not events_of(traced, "contents_summarized")
