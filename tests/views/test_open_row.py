"""The open row of a step: what its place read and made, each beside its gradient, as plain PyTorch has them."""

import json
from functools import cache
from typing import Any

import pytest

from tests.recordings.store import kept_document
from tests.support.explaining import call_page

NET = """\
import torch
from torch import nn
torch.manual_seed(11)
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(3, 4)
        self.slim = nn.Linear(4, 2)
    def forward(self, given):
        hidden = torch.tanh(self.wide(given))
        return self.slim(hidden)
gate = Gate()
climber = torch.optim.SGD(gate.parameters(), lr=0.1)
for turn in range(2):
    batch, wanted = torch.randn(2, 3), torch.randn(2, 2)
    loss = (gate(batch) - wanted).pow(2).mean()
    climber.zero_grad()
    loss.backward()
    climber.step()
"""

STALE = """\
import torch
from torch import nn
torch.manual_seed(2)
cell = nn.Linear(3, 3)
other = nn.Linear(3, 3)
climber = torch.optim.SGD([*cell.parameters(), *other.parameters()], lr=0.1)
state = torch.zeros(1, 3)
for turn in range(3):
    state = torch.tanh(cell(state) + other(torch.ones(1, 3)))
    loss = state.sum()
    climber.zero_grad()
    loss.backward()
    climber.step()
"""


BY_HAND = """\
import torch
slope = torch.randn(2, 3, requires_grad=True)
shift = torch.zeros(3, requires_grad=True)
given = torch.randn(4, 2)
for turn in range(2):
    guess = torch.tanh(given @ slope + shift)
    loss = (guess - 1).pow(2).mean() + sum(guess.sigmoid().sum() for k in range(4))
    loss.backward()
    with torch.no_grad():
        for leaf in (slope, shift):
            leaf -= 0.1 * leaf.grad
            leaf.grad = None
"""


@cache
def steps(source: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call_page("views/open_row", kept_document(source))
    return found


@cache
def plain(source: str) -> dict[str, list[dict[str, list[float]]]]:
    """By module, for each round of a plain run: what went in and out, and the gradients that came and went on."""
    import torch
    from torch import nn

    rounds: dict[str, list[dict[str, list[float]]]] = {}
    original = nn.Module.__call__

    def called(module: Any, given: Any) -> Any:
        out = original(module, given)
        if not isinstance(module, nn.Linear):
            return out
        of_round: dict[str, list[float]] = {"input": flat(given), "result": flat(out)}
        rounds.setdefault(f"{module.in_features}", []).append(of_round)
        out.register_hook(lambda grad: keep(of_round, "in", grad))
        if given.requires_grad:
            given.register_hook(lambda grad: keep(of_round, "out", grad))
        of_round["weight"] = flat(module.weight)
        module.weight.register_post_accumulate_grad_hook(lambda weight: keep(of_round, "grad", weight.grad))
        return out

    nn.Module.__call__ = called
    try:
        exec(compile(source, "net.py", "exec"), {"__name__": "__main__"})
    finally:
        nn.Module.__call__ = original
    assert torch.is_grad_enabled()
    return rounds


def keep(of_round: dict[str, list[float]], name: str, gradient: Any) -> None:
    """The first that comes."""
    of_round.setdefault(name, flat(gradient))


def flat(tensor: Any) -> list[float]:
    return [float(value) for value in tensor.detach().reshape(-1).tolist()]


def rows_of(name: str, source: str = NET) -> list[dict[str, Any]]:
    """The open row of a name at each step that has it open."""
    return [row for step in steps(source) for row in step["open"] if row["name"] == name]


def tensor(row: dict[str, Any], role: str, name: str | None = None) -> dict[str, Any]:
    both = [*row["read"], *row["made"]]
    return next(each for each in both if each["role"] == role and (name is None or each["name"] == name))


@pytest.mark.parametrize(("name", "key"), [("wide", "3"), ("slim", "4")])
def test_a_module_shows_what_plain_torch_gives_it(name: str, key: str) -> None:
    truth = plain(NET)[key]
    rows = rows_of(name)
    assert len(rows) > 4
    for told, role, of in (("input", "read", None), ("result", "made", None), ("weight", "parameter", "weight")):
        shown = [tensor(row, role, of)["cells"] for row in rows]
        for cells in shown:
            assert any(cells == pytest.approx(each[told], abs=1e-6) for each in truth), (told, cells)
        assert {tuple(cells) for cells in shown} >= {tuple(shown[0])}
    arrived = [tensor(row, "made")["gradient"] for row in rows]
    for gradient in [each for each in arrived if each]:
        assert gradient["role"] == "in"
        assert any(gradient["cells"] == pytest.approx(each["in"], abs=1e-6) for each in truth)
    assert any(arrived)
    kept = [tensor(row, "parameter", "weight")["gradient"] for row in rows]
    for gradient in [each for each in kept if each and each["isFresh"]]:
        assert any(gradient["cells"] == pytest.approx(each["grad"], abs=1e-6) for each in truth)
    assert any(each and each["isFresh"] for each in kept)


def test_a_gradient_goes_on_to_what_was_read() -> None:
    gone = [tensor(row, "read")["gradient"] for row in rows_of("slim")]
    truth = [each["out"] for each in plain(NET)["4"]]
    assert any(gone)
    for gradient in [each for each in gone if each]:
        assert gradient["role"] == "out"
        assert any(gradient["cells"] == pytest.approx(each, abs=1e-6) for each in truth)


def test_nothing_is_said_of_a_gradient_before_backward() -> None:
    forward = [step for step in steps(NET) if step["line"] == 10]
    assert forward
    assert all(each["gradient"] is None or each["gradient"]["role"] == "grad"
               for step in forward for row in step["open"] for each in [*row["read"], *row["made"]])  # fmt: skip


def test_statements_of_the_loop_have_rows_and_open() -> None:
    last = steps(NET)[-1]["rows"]
    names = [row["name"] for row in last if row["isStatement"]]
    assert names == ["batch, wanted", "zero_grad", "backward", "step"]
    (opened, *_) = [row for row in rows_of("step") if row["read"]]
    moved = {each["name"] for each in opened["read"]}
    assert moved == {"gate.wide.weight", "gate.wide.bias", "gate.slim.weight", "gate.slim.bias"}
    (backward, *_) = rows_of("backward")
    assert backward["read"][0]["name"] == "loss"
    assert backward["read"][0]["gradient"]["cells"] == [1]


def test_one_row_is_open_and_a_body_has_one_height() -> None:
    within = [step for step in steps(NET) if step["open"]]
    assert len(within) > 20
    assert {len(step["open"]) for step in within} == {1}
    assert len({row["height"] for step in within for row in step["open"]}) == 1


def test_headlines_have_names_of_modules_and_never_of_nodes() -> None:
    said = [step["headline"] for step in steps(NET) if step["headline"]]
    assert any("`gate.wide`" in sentence or "`wide`" in sentence for sentence in said)
    assert not [sentence for sentence in said if "Addmm" in sentence or "Backward0" in sentence]


def test_an_error_opens_its_cause_and_where_it_shows() -> None:
    last = [step for step in steps(STALE) if any(row["end"] for row in step["rows"])]
    assert last
    ends = [row for row in last[-1]["rows"] if row["end"]]
    assert [row["end"]["isCause"] for row in ends].count(True) == 1
    assert len(ends) == 2
    assert {row["end"]["tone"] for row in ends} == {"error"}
    assert sum(row["isEnd"] for row in last[-1]["open"]) == 2


def test_no_name_is_cut() -> None:
    for source in (NET, STALE):
        for step in steps(source):
            names = {row["name"] for row in step["rows"] if row["kind"] in ("callSite", "head")}
            assert names <= set(step["texts"])


@pytest.mark.parametrize(
    ("write", "opened"),
    [
        ("row = hidden[0]\n        moved = hidden + 1\n        row.mul_(2)", ["moved", "mul_"]),
        ("flat = hidden.view(-1)\n        moved = hidden + 1\n        flat[2] = 5", ["moved", "flat[2]"]),
        ("moved = hidden + 1\n        hidden.data.zero_()", ["hidden", "moved"]),
        ("moved = hidden + 1\n        hidden.mul_(2)", ["mul_"]),
        ("moved = hidden + 1\n        hidden[:, 0] = 5", ["hidden[:, 0]"]),
    ],
    ids=["view", "element of a view", "data", "own name", "own part"],
)
def test_a_write_by_another_name_opens_the_row_that_knows_the_memory_too(write: str, opened: list[str]) -> None:
    forward = f"hidden = self.wide(given) * 2\n        {write}\n        return self.slim(moved)"
    source = NET.replace("hidden = torch.tanh(self.wide(given))\n        return self.slim(hidden)", forward)
    line = next(k for k, text in enumerate(source.splitlines(), 1) if text.strip() == write.split("\n")[-1].strip())
    for at in [each for each in steps(source) if each["line"] == line and not each["node"]]:
        assert [row["name"] for row in at["open"]] == opened


def test_leaves_without_a_module_are_shown_by_their_own_names_with_their_gradients() -> None:
    """Also after a loop has called each of them by one name, and where the program takes the gradient away."""

    def opened(line: int) -> list[list[dict[str, Any]]]:
        found = [step["open"] for step in steps(BY_HAND) if step["line"] == line and step["node"] is None]
        return [open_rows[0]["read"] + open_rows[0]["made"] for open_rows in found if open_rows]

    assert [tensor["name"] for tensor in opened(6)[-1]] == ["given", "slope", "shift", "guess"]
    assert {tensor["name"] for tensor in opened(8)[-1] if tensor["gradient"]} == {"loss", "slope", "shift"}
    assert [tensor["name"] for tensor in opened(10)[0]] == ["leaf"]
    assert [tensor["gradient"]["role"] for tensor in opened(11)[0]] == ["grad"]
    assert [tensor["gradientState"] for tensor in opened(12)[0]] == ["cleared"]


RAISING = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 4)
        self.head = nn.Linear(4, 2)
        self.scales = {"in": 2.0}
    def forward(self, tokens, lengths):
        found = self.embed(tokens)
        {statement}
        return self.head(found)
def accuracy(scores):
    best = scores.argmax(-1)
    {inner}
    return best.float().mean()
tagger = Tagger()
climber = torch.optim.SGD(tagger.parameters(), lr=0.1)
for turn in range(2):
    tokens, lengths = torch.randint(0, 20, (3, 5)), torch.tensor([2, 5, 3])
    scores = tagger(tokens, lengths)
    accuracy(scores)
    climber.zero_grad()
    scores.sum().backward()
    climber.step()
    {last}
"""


@pytest.mark.parametrize(
    ("place", "statement"),
    [
        ("statement", "packed = pack_padded_sequence(found, lengths, batch_first=True)"),
        ("statement", 'found = found * self.scales["out"]'),
        ("statement", "found = found.view(7, -1)"),
        ("inner", "best = int(best)"),
        ("last", "print(scores.missing)"),
    ],
)
def test_the_statement_that_raised_has_a_red_row(place: str, statement: str) -> None:
    source = RAISING.replace(f"{{{place}}}", statement)
    for other in ("statement", "inner", "last"):
        source = source.replace(f"{{{other}}}", "pass")
    error = json.loads(kept_document(source))["outcome"]["error"]
    assert source.splitlines()[error["line"] - 1].strip() == statement
    step = steps(source)[error["step"]]
    assert [row["line"] for row in step["rows"] if row["isNow"]] == [error["line"]]
    assert error["line"] in [row["line"] for row in step["rows"] if (row["end"] or {}).get("tone") == "error"]
