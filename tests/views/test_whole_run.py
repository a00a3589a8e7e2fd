"""The whole run as a list: each number equals the trace, and what the same program does in plain Python."""

import math
from functools import cache
from typing import Any

import pytest

from tests.recordings.store import kept_document, kept_trace
from tests.support.explaining import call_page

pytestmark = pytest.mark.slow

FROZEN_BELOW = """\
import torch
from torch import nn
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.2)
x, y = torch.randn(5, 3), torch.randn(5, 1)
for _ in range(4):
    with torch.no_grad():
        h = net[0](x)
    loss = (net[2](net[1](h)) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

LONG = """\
import torch
from torch import nn
torch.manual_seed(5)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.second = nn.Linear(6, 2)
    def forward(self, x):
        h = torch.tanh(self.first(x))
        return self.second(h)
net = Net()
for parameter in net.first.parameters():
    parameter.requires_grad_(FROZEN)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for k in range(25):
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(set_to_none=False)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.3)
    opt.step()
    with torch.no_grad():
        net(x[:1])
"""
ALL_LEARN = LONG.replace("FROZEN", "True")
PART_FROZEN = LONG.replace("FROZEN", "False")
PROGRAMS = [FROZEN_BELOW, ALL_LEARN, PART_FROZEN]


@cache
def shown(source: str, **choices: str) -> dict[str, Any]:
    found: dict[str, Any] = call_page("views/whole_run", kept_document(source), choices)
    return found


@cache
def plain(source: str) -> dict[str, list[dict[str, float]]]:
    """What a plain run of the program does to each parameter: before the first step, then after each."""
    import torch

    rounds: dict[str, list[dict[str, float]]] = {}
    namespace: dict[str, Any] = {}

    def look(before: dict[str, Any] | None) -> dict[str, Any]:
        now = {name: parameter.detach().clone() for name, parameter in namespace["net"].named_parameters()}
        for name, parameter in namespace["net"].named_parameters():
            gradient = parameter.grad
            rounds.setdefault(f"net.{name}", []).append(
                {
                    "weight": now[name].norm().item(),
                    "gradient": math.nan if gradient is None else gradient.norm().item(),
                    "moved": 0.0 if before is None else (now[name] - before[name]).norm().item(),
                }
            )
        return now

    lines = source.splitlines()
    made = next(k for k, line in enumerate(lines) if line.startswith("opt ="))
    lines.insert(made + 1, "state = look(None)")
    step = next(k for k, line in enumerate(lines) if line.strip() == "opt.step()")
    lines.insert(step + 1, "    state = look(state)")
    namespace["look"] = look
    with torch.random.fork_rng():
        exec("\n".join(lines), namespace)
    return rounds


def joint(norms: list[float]) -> float:
    return math.sqrt(sum(norm**2 for norm in norms if not math.isnan(norm)))


@pytest.mark.parametrize("source", PROGRAMS, ids=["frozen below", "all learn", "part frozen"])
def test_norms_of_every_row_are_those_of_a_plain_run(source: str) -> None:
    rows = [row for row in shown(source)["rows"] if row["values"]]
    truth = plain(source)
    assert {name for row in rows for name in row["names"]} == set(truth)
    for row in rows:
        values, own = row["values"], [truth[name] for name in row["names"]]
        assert values["start"] == pytest.approx(joint([each[0]["weight"] for each in own]), rel=1e-4)
        assert values["end"] == pytest.approx(joint([each[-1]["weight"] for each in own]), rel=1e-4)
        rounds = list(zip(*[each[1:] for each in own], strict=True))
        moved = sum(joint([each["moved"] for each in of_round]) for of_round in rounds)
        assert values["moved"] == pytest.approx(moved, rel=1e-3, abs=1e-9)
        assert abs(values["end"] - values["start"]) <= values["moved"] * 1.001 + 1e-6
        for came, of_round in zip(values["gradients"], rounds, strict=True):
            norm = joint([each["gradient"] for each in of_round])
            assert (came or 0) == pytest.approx(norm, rel=1e-3, abs=1e-9)


def test_a_module_without_gradients_never_learns_and_the_row_is_red() -> None:
    found = shown(FROZEN_BELOW)
    assert found["headline"]["said"].startswith("`net.0` never learns; `net.2` does. 4 rounds, loss ")
    assert "All 4 rounds are recorded step by step." in found["headline"]["below"]
    rows = {row["path"]: row for row in found["rows"] if row["path"] and not row["parameter"]}
    assert rows["net.0"]["tone"] in ("error", "warning") and rows["net.2"]["tone"] is None
    assert {"never learns", "none in 4 rounds", "0", "4×"} <= set(rows["net.0"]["texts"])
    assert {"2 of 2 learn", "4×"} <= set(rows["net.2"]["texts"])
    inner = [row["texts"][:3] for row in found["rows"] if row["parameter"] and row["path"] == "net.0"]
    assert inner == [["weight", "4×3", "never learns"], ["bias", "4", "never learns"]]
    assert [rail for rail in found["rails"] if rail[2] == "cut"] == [["net.0", "net.1", "cut"]]
    only = shown(FROZEN_BELOW, filter="findings")["rows"]
    assert only and all(row["tone"] for row in only)


def test_the_headline_has_the_losses_of_all_rounds_and_says_what_was_recorded() -> None:
    trace, found = kept_trace(ALL_LEARN), shown(ALL_LEARN)
    losses = trace["rounds"]["losses"][0]["values"]
    said = found["headline"]["said"]
    assert said.startswith(f"25 rounds, loss {losses[0]:.3g} → {losses[-1]:.3g}") and said.endswith(
        "; all 4 parameters learn."
    )
    lowest = f"{min(losses):.3g}"
    assert (f"(lowest {lowest})" in said) == (lowest not in (f"{losses[0]:.3g}", f"{losses[-1]:.3g}"))
    recorded = len(trace["rounds"]["recorded"])
    assert ("recorded step by step; of all 25" in found["headline"]["below"]) == (recorded < 25)
    assert found["headline"]["tone"] is None and not any(row["tone"] for row in found["rows"])


MANY = """\
import torch
from torch import nn
torch.manual_seed(2)
net = nn.Sequential(*[nn.Linear(3, 3) for _ in range(40)], nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for k in range(ROUNDS):
    opt.zero_grad()
    net(torch.randn(4, 3)).square().mean().backward()
    opt.step()
"""


@pytest.mark.parametrize("count", [20, 420])
def test_what_is_known_of_rounds_that_are_not_recorded_is_counted(count: int) -> None:
    """Also of many parameters the first rounds and the last one have norms."""
    source = MANY.replace("ROUNDS", str(count))
    rounds, below = kept_trace(source)["rounds"], shown(source)["headline"]["below"]
    known = {each["n"] for each in rounds["rounds"] if "grad" in each} | {each["n"] for each in rounds["recorded"]}
    assert len(rounds["recorded"]) < count
    assert {0, 1, 2, count - 1} <= known
    if len(known) == count:
        assert f"of all {count} the losses and norms are known." in below
    else:
        assert f"the losses of all {count} are known, and the norms of {len(known)}." in below
    last = next(each for each in rounds["rounds"] if each["n"] == count - 1)
    assert all(value is not None for value in last["grad"] + last["weight"] + last["moved"])


FROZEN_ON_THE_WAY = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    if epoch == 1:
        net[0].weight.requires_grad = False
    opt.zero_grad()
    net(torch.ones(2, 3)).square().sum().backward()
    opt.step()
"""


def test_what_learned_until_it_was_frozen_is_told_from_what_learns_to_the_end() -> None:
    said = {language: shown(FROZEN_ON_THE_WAY, language=language)["headline"]["said"] for language in ("en", "zh")}
    assert said["en"].endswith("all 4 parameters learn. One of them was frozen before the end.")
    assert said["zh"].endswith("全部 4 个参数都在学习。其中 1 个在结束前被冻结。")


def test_what_is_frozen_is_called_so_and_moves_nowhere() -> None:
    found = shown(PART_FROZEN)
    assert "2 of 4 parameters learn, 2 frozen." in found["headline"]["said"]
    [first] = [row for row in found["rows"] if row["path"] == "net.first" and row["values"] and not row["parameter"]]
    assert "frozen" in first["texts"] and first["values"]["moved"] == 0 and first["tone"] is None


def test_an_evaluation_says_where_its_module_is_trained_and_no_row_shows_a_parameter_twice() -> None:
    rows = shown(ALL_LEARN)["rows"]
    assert any("gets no gradient here; it is trained on line 18" in row["texts"] for row in rows)
    leaves = [name for row in rows if row["kind"] != "head" and not row["parameter"] for name in row["names"]]
    assert len(leaves) == len(set(leaves)) == 4


def test_kept_bytes_of_all_rows_are_the_peak() -> None:
    found = shown(FROZEN_BELOW)
    rows = [row for row in found["rows"] if row["kind"] != "head" and not row["parameter"]]
    assert sum(row["kept"] for row in rows) == found["peak"] > 0


def test_a_heading_sorts_by_its_column_and_gives_the_rail_up() -> None:
    found = shown(ALL_LEARN, sort="moved")
    moved = [row["values"]["moved"] for row in found["rows"] if row["values"]]
    assert moved == sorted(moved, reverse=True) and len(moved) > 1 and found["rails"] == []
    assert {"net.first", "net.second"} <= {row["texts"][0] for row in found["rows"]}


def test_the_same_is_said_in_chinese() -> None:
    found = shown(FROZEN_BELOW, language="zh")
    assert found["headline"]["said"].startswith("`net.0` 从不学习；`net.2` 在学习。")
    assert any("2 个中 2 个学习" in text for row in found["rows"] for text in row["texts"])


COUNTED = """\
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]
for epoch in range(4):
    for given, wanted in batches:
        if epoch < 3:
            opt.zero_grad()
        loss = (net(given) - wanted).pow(2).mean()
        loss.backward()
        opt.step()
    for given, wanted in batches[:2]:
        with torch.no_grad():
            error = (net(given) - wanted).abs().mean()
"""


def test_a_row_counts_how_often_its_line_ran() -> None:
    """A loop's head is asked once more than it gives its body something."""
    rows = {row["line"]: row["texts"][-1] for row in shown(COUNTED)["rows"] if not row["parameter"]}
    expected = {7: "12×", 9: "9×", 11: "12×", 12: "12×"}
    assert {line: rows[line] for line in expected} == expected
