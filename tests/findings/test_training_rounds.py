"""The rounds of a training: their losses and norms are those of a plain run, also of the rounds that are not
recorded."""

import math
from functools import cache
from typing import Any

import pytest

from gradbox.recorder.round_tables import extend_or_begin_stretch
from gradbox.wire.rounds import MAX_STRETCHES
from tests.findings.rounds_truth import PREAMBLE, rounds_of
from tests.forks.plain_python import call_in_plain, run_plain
from tests.support.tracing import printed, trace

pytestmark = pytest.mark.slow

MLP = (
    PREAMBLE
    + """\
x = torch.linspace(-3, 3, 16).reshape(-1, 1)
net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for t in range(500):
    loss = ((net(x) - torch.sin(x)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if t % 100 == 0:
        print(t, loss.item())
"""
)

NESTED = (
    PREAMBLE
    + """\
from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(32, 3)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=10, gamma=0.5)
def train_epoch():
    for (xb,) in DataLoader(TensorDataset(X), batch_size=8):
        opt.zero_grad()
        loss = (net(xb) - xb.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        opt.step()
for epoch in range(60):
    train_epoch()
    sched.step()
"""
)

ACCUMULATION = (
    PREAMBLE
    + """\
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(600):
    x = torch.randn(4, 3)
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean() / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        opt.step()
        opt.zero_grad()
"""
)

GAN = (
    PREAMBLE
    + """\
G = torch.nn.Linear(2, 1)
D = torch.nn.Linear(1, 1)
oG = torch.optim.Adam(G.parameters(), lr=1e-2)
oD = torch.optim.Adam(D.parameters(), lr=1e-2)
bce = torch.nn.BCEWithLogitsLoss()
for it in range(300):
    real = torch.randn(8, 1) + 3
    fake = G(torch.randn(8, 2))
    loss_D = bce(D(real), torch.ones(8, 1)) + bce(D(fake.detach()), torch.zeros(8, 1))
    oD.zero_grad()
    loss_D.backward()
    oD.step()
    loss_G = bce(D(fake), torch.ones(8, 1))
    oG.zero_grad()
    loss_G.backward()
    oG.step()
"""
)

LBFGS = (
    PREAMBLE
    + """\
x = torch.linspace(-1, 1, 10).unsqueeze(1)
net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
def closure():
    opt.zero_grad()
    loss = ((net(x) - x ** 2) ** 2).mean()
    loss.backward()
    return loss
for i in range(60):
    opt.step(closure)
"""
)

BROKEN = (
    PREAMBLE
    + """\
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
def train():
    i = 0
    while i < 500:
        x = torch.randn(4, 2)
        loss = (net(x) ** 2).mean()
        if i == 137:
            loss = loss * float("nan")
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        i += 1
train()
"""
)

BY_HAND = (
    PREAMBLE
    + """\
w = torch.randn(3, requires_grad=True)
for i in range(300):
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
"""
)

PROGRAMS = {
    "mlp": MLP, "nested": NESTED, "accumulation": ACCUMULATION, "gan": GAN, "lbfgs": LBFGS, "broken": BROKEN,
}  # fmt: skip


recording = cache(trace)


def number(value: Any) -> float | None:
    return float(value["$f"]) if isinstance(value, dict) else value


def assert_close(told: float | None, true: float | None, relative: float) -> None:
    if told is None or true is None or math.isnan(true):
        assert (told is None) == (true is None) and (true is None or math.isnan(told or 0.0))
    else:
        assert told == pytest.approx(true, rel=relative, abs=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_losses_and_norms_are_those_of_a_plain_run(name: str) -> None:
    source = PROGRAMS[name]
    recorded, true = recording(source), call_in_plain(rounds_of, source)
    rounds = recorded["rounds"]
    steps_in_round = 2 if name == "gan" else 1
    assert rounds["count"] == len(true["steps"]) // steps_in_round and rounds["optimizers"] == steps_in_round
    backwards = 0
    checked = 0
    for entry in rounds["rounds"]:
        n = entry["n"]
        assert rounds["every"] == 1 and entry is rounds["rounds"][n]
        values = true["losses"][backwards : backwards + entry["backwards"]]
        backwards += entry["backwards"]
        told = [number(value) for value in entry["losses"]]
        for k, value in enumerate(told):
            assert_close(value, values[k] if len(told) > 1 else values[-1], 1e-6)
            assert number(rounds["losses"][k]["values"][n]) == pytest.approx(value, nan_ok=True)
        norms = [row for step in true["steps"][n * steps_in_round : (n + 1) * steps_in_round] for row in step]
        for k, column in enumerate(("grad", "weight", "moved")):
            for value, row in zip(entry[column], norms, strict=True):
                assert_close(number(value), row[k], 1e-4)
                checked += 1
    assert backwards == len(true["losses"]) and checked >= 60


def test_recording_rounds_does_not_change_the_program() -> None:
    assert printed(recording(MLP)) == run_plain(MLP)["printed"]


def test_the_first_and_the_last_round_are_recorded() -> None:
    for source in (MLP, NESTED, ACCUMULATION, GAN, BY_HAND):
        rounds = recording(source)["rounds"]
        recorded = [entry["n"] for entry in rounds["recorded"]]
        assert recorded[0] == 0 and recorded[-1] == rounds["count"] - 1 and len(recorded) < rounds["count"]


def test_recorded_rounds_have_the_step_of_the_optimizer() -> None:
    recorded = recording(MLP)
    for told in recorded["rounds"]["recorded"]:
        step = recorded["steps"][told["end"]]
        assert told["step"] <= told["end"] and step["line"] == 10 and step["iter"] == [told["n"]]


def test_a_training_of_a_thousand_rounds_is_bounded_and_tells_every_loss() -> None:
    rounds = trace(MLP.replace("range(500)", "range(1000)"))["rounds"]
    assert rounds["count"] == 1000 and len(rounds["rounds"]) <= 500 and rounds["every"] == 4
    assert len(rounds["losses"][0]["values"]) == 1000 and None not in rounds["losses"][0]["values"]
    told = {entry["n"] for entry in rounds["rounds"]}
    assert set(range(0, 1000, 4)) <= told
    assert {entry["n"] for entry in rounds["printed"]} == set(range(0, 1000, 100))


def test_loops_of_all_functions_place_a_round() -> None:
    stretches = recording(NESTED)["rounds"]["stretches"]
    assert [(s["first"], s["iteration"], s["by"]) for s in stretches[:3]] == [
        (0, [0, 0], 1),
        (4, [1, 0], 1),
        (8, [2, 0], 1),
    ]
    assert stretches[-1]["total"] == [60, 237] and stretches[-1]["inner"] == 1
    (accumulated,) = recording(ACCUMULATION)["rounds"]["stretches"]
    assert accumulated["iteration"] == [3] and accumulated["by"] == 4


def test_learning_rates_and_non_finite_rounds_are_recorded() -> None:
    nested = recording(NESTED)["rounds"]
    rates = [entry["lr"] for entry in nested["rounds"]]
    assert rates[39] == [0.05] and rates[40] == [0.025]
    assert nested["new_rates"] == [40, 80, 120, 160, 200]
    broken = recording(BROKEN)["rounds"]["losses"][0]["values"]
    assert broken[136] != {"$f": "nan"} == broken[137]


def test_rates_that_change_in_each_round_are_new_once() -> None:
    source = MLP.replace("range(500)", "range(900)").replace(
        "    opt.step()\n", "    opt.step()\n    if 700 <= t < 800:\n        opt.param_groups[0]['lr'] *= 0.99\n"
    )
    rounds = recording(source)["rounds"]
    assert rounds["new_rates"] == [701]
    rates = {entry["n"]: entry["lr"] for entry in rounds["rounds"]}
    assert rates[700] == [0.01] and rates[701] == [0.0099], "the round of the change is told, whichever are left out"


def test_rounds_beyond_those_whose_loops_are_told_lie_in_none() -> None:
    stretches: list[Any] = []
    for n in range(3000):
        extend_or_begin_stretch(stretches, n, ((1, 2), 1, (n, 0), (n + 1, n + 1)))
    assert len(stretches) == MAX_STRETCHES
    assert stretches[-2]["iteration"] == [MAX_STRETCHES - 2, 0] and stretches[-1]["loops"] == []


def test_iterations_without_an_optimizer_are_rounds() -> None:
    rounds = recording(BY_HAND)["rounds"]
    assert rounds["count"] == 300 and not rounds["optimizers"] and rounds["rows"] == []


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nfor i in range(300):\n    x = torch.randn(3).sum()\n    print(i, x.item())\n",
        "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n(x * 3).sum().backward()\n",
        "import torch\nw = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nopt.step()\n",
    ],
)
def test_what_only_looks_like_a_training_has_no_rounds(source: str) -> None:
    assert "rounds" not in recording(source)
