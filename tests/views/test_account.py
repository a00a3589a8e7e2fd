"""One account of a run: which memory is kept by whom, how much ran, and what each parameter got, in every view."""

from pathlib import Path
from typing import Any

import pytest

from tests.recordings.store import kept_document
from tests.support.explaining import call_page, findings_of, looked_for_in
from tests.support.sampling import every, sampled

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted([*(EXAMPLES / "healthy").glob("*.py"), *(EXAMPLES / "quiet").glob("*.py")])


def account_of(source: str) -> dict[str, Any]:
    account: dict[str, Any] = call_page("views/account", kept_document(source))
    return account


@pytest.mark.parametrize("path", sampled(PROGRAMS, every(8)), ids=lambda path: path.stem)
def test_kept_bytes_are_the_same_number_at_every_step(path: Path) -> None:
    account = account_of(path.read_text("utf-8"))
    assert account["account"] == account["state"], "each storage is booked once, while a node keeps it"
    assert account["places"] == account["state"], "the net and the loom by module book all of it to a place"
    assert account["total"] <= max(account["state"], default=0)


TWO_LAYERS = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 8))
x = torch.randn(16, 4)
{before}
loss = net(x).sum()
loss.backward()
"""


def test_memory_that_two_nodes_keep_is_free_when_the_last_lets_go() -> None:
    source = TWO_LAYERS.format(before="")
    account = account_of(source)
    recorded = call_page("recordings/reading", kept_document(source), "en")
    hidden, batch = 16 * 64 * 4, 16 * 4 * 4
    assert dict(account["modules"]) == {"net": hidden + batch, "net.0": batch, "net.1": hidden, "net.2": 0}
    assert hidden + batch in account["account"] and account["account"][-1] == 0
    assert len(account["account"]) == len(recorded["steps"])


def test_an_evaluation_before_the_training_keeps_nothing_and_hides_nothing() -> None:
    source = TWO_LAYERS.format(before="with torch.no_grad():\n    net(x)")
    assert account_of(source)["modules"] == account_of(TWO_LAYERS.format(before=""))["modules"]


ROUNDS = """\
import torch
torch.manual_seed(0)
{head}
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range({count}):
    if {trains}:
        loss = (net(torch.ones(2)) - 1).pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("count", "trains", "line"),
    [
        (6, "True", "**Nothing wrong found** in 6 rounds."),
        (150, "step >= 100 and step % 10 == 0", "**Nothing wrong found** in 5 rounds."),
        (300, "True", "recorded, of 300."),
        (1, "True", "**Nothing wrong found** in 19 steps."),
    ],
    ids=["all", "every tenth", "a long loop", "one"],
)
def test_rounds_are_those_of_the_training(count: int, trains: str, line: str) -> None:
    looked_for = looked_for_in(ROUNDS.format(head="", count=count, trains=trains))
    assert looked_for is not None and looked_for.line.endswith(line), looked_for
    assert looked_for.calm


def test_a_loop_without_a_backward_has_no_rounds() -> None:
    looked_for = looked_for_in(
        "import torch\na = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([a], lr=0.1)\n"
        "s = 4\nwhile s < 9:\n    s += 1\n(a * 2).sum().backward()\nopt.step()\n"
    )
    assert looked_for is not None and "rounds" not in looked_for.line, looked_for


CUT = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(4, 2), torch.randn(4, 1)
for _ in range({rounds}):
    with torch.no_grad():
        h = net[0](x)
    loss = (net[2](net[1](h)) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("rounds", [1, 3])
def test_what_never_learns_is_a_warning_at_the_cut_and_no_tick_stands(rounds: int) -> None:
    source = CUT.format(rounds=rounds)
    [finding] = findings_of(source)
    assert (finding["kind"], finding["severity"], finding["line"]) == ("grad_none", "warning", 9)
    assert looked_for_in(source) is None


TEACHER = CUT.replace("h = net[0](x)", "aim = net[0](x).mean(1, keepdim=True)").replace(
    "(net[2](net[1](h)) - y)", "(net[2](x) - aim - y)"
)


def test_a_teacher_that_the_optimizer_holds_is_a_note_and_no_tick_stands() -> None:
    source = TEACHER.format(rounds=3)
    [finding] = findings_of(source)
    assert (finding["kind"], finding["severity"], finding["line"]) == ("grad_none", "note", 9)
    looked_for = looked_for_in(source)
    assert looked_for is not None and not looked_for.calm
    assert looked_for.line == "**No error and no warning** in 3 rounds."


def test_tensors_that_were_changed_and_nobody_needed_are_told_without_a_tick() -> None:
    looked_for = looked_for_in("import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.mul_(2)\n")
    assert looked_for is not None and not looked_for.calm
    assert looked_for.remarks == ["One tensor kept for backward was changed since; no backward failed for it."]
