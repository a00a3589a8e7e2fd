"""Gradients that are compared with finite differences without being asked: where, at what cost, and what is said of
them."""

from functools import cache
from typing import Any

import pytest

from tests.gradient_check.test_gradient_checks import check
from tests.recordings.store import kept_trace
from tests.support.explaining import call_page

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
NET = "net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))\nx = torch.randn(5, 2)\n"
LEAF = "w = torch.tensor([0.5, -1.2, 0.3], requires_grad=True)\n"
INDEX = "i = torch.tensor([0, 1, 1])\n"

TOLD_TO_AGREE = {
    "a gradient penalty": NET + """\
x.requires_grad_()
(g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
((g.norm(dim=1) - 1) ** 2).mean().backward()
""",
    "a Hessian's product": LEAF + """\
(g,) = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
print(torch.autograd.grad((g * torch.ones(3)).sum(), w))
""",
    "MAML": LEAF + """\
(g,) = torch.autograd.grad(((w - 1) ** 4).sum(), w, create_graph=True)
fast = w - 0.1 * g
((fast + 2) ** 2).sum().backward()
""",
    "index_add": LEAF + INDEX + "(torch.zeros(2).index_add(0, i, w) ** 2).sum().backward()\n",
    "scatter_add": LEAF + INDEX + "(torch.zeros(2).scatter_add(0, i, w) ** 2).sum().backward()\n",
    "index_put": LEAF + INDEX + "(torch.zeros(2).index_put((i,), w, accumulate=True) ** 2).sum().backward()\n",
    "an embedding": "e = nn.Embedding(3, 2)\n(e(torch.tensor([0, 2, 2])) ** 2).sum().backward()\n",
    "a second derivative that is printed on the way": LEAF + """\
(g,) = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
print(g.detach().tolist())
(g * g).sum().backward()
""",
}  # fmt: skip

NEVER_TOLD_TO_DIFFER = {
    "a penalty whose direction is held": LEAF + """\
(g,) = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
(g * g.detach()).sum().backward()
""",
    "first-order MAML": LEAF + """\
(g,) = torch.autograd.grad(((w - 1) ** 4).sum(), w)
(h,) = torch.autograd.grad(((w - 1) ** 4).sum(), w, create_graph=True)
fast = w - 0.1 * g
((fast + h) ** 2).sum().backward()
""",
    "gumbel softmax, hard": LEAF + """\
(g,) = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
(F.gumbel_softmax(g, hard=True) * torch.tensor([1., 2., 3.])).sum().backward()
""",
    "a loss divided by its own size": LEAF + INDEX + """\
loss = (torch.zeros(2).index_add(0, i, w) ** 2).sum()
(loss / loss.item()).backward()
""",
    "a ratio to what the parameters gave under no_grad": LEAF + INDEX + """\
with torch.no_grad():
    old = torch.zeros(2).index_add(0, i, w)
(torch.zeros(2).index_add(0, i, w) - old).exp().sum().backward()
""",
    "a factor computed under no_grad": LEAF + INDEX + """\
with torch.no_grad():
    size = (w * w).sum()
(torch.zeros(2).index_add(0, i, w) * size).sum().backward()
""",
    "a row of padding": "e = nn.Embedding(3, 2, 2)\nnn.init.normal_(e.weight)\n(e(torch.tensor([0, 2, 2])) ** 2).sum().backward()\n",  # noqa: E501
    "gradients scaled by frequency": """\
e = nn.Embedding(3, 2, scale_grad_by_freq=True)
(e(torch.tensor([0, 2, 2])) ** 2).sum().backward()
""",
    "an embedding of a largest norm": """\
e = nn.Embedding(3, 2, max_norm=0.1)
(e(torch.tensor([0, 2, 2])) ** 2).sum().backward()
""",
    "a hook that clips": LEAF + INDEX + """\
y = torch.zeros(2).index_add(0, i, w)
y.register_hook(lambda g: g.clamp(-0.1, 0.1))
(y ** 2).sum().backward()
""",
    "a gradient that is turned around": LEAF + INDEX + """\
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.view_as(x)
    @staticmethod
    def backward(ctx, g): return -g
y = torch.zeros(2).index_add(0, i, Reverse.apply(w))
(y ** 2).sum().backward()
""",
    "a kink": INDEX + """\
w = torch.zeros(3, requires_grad=True)
torch.zeros(2).index_add(0, i, w).abs().sum().backward()
""",
    "the largest of equals": LEAF + """\
out = torch.zeros(2).scatter_reduce(0, torch.tensor([0, 1, 1]), torch.ones(3) * w.sum(), "amax")
out.sum().backward()
""",
    "half precision": LEAF + INDEX + """\
(torch.zeros(2, dtype=torch.bfloat16).index_add(0, i, w.bfloat16()) ** 2).sum().backward()
""",
    "dropout": LEAF + INDEX + "(F.dropout(torch.zeros(2).index_add(0, i, w)) ** 2).sum().backward()\n",
    "noise without a seed": LEAF + INDEX + """\
import time
(torch.zeros(2).index_add(0, i, w) * time.time()).sum().backward()
""",
    "a quantized weight": LEAF + INDEX + """\
q = torch.fake_quantize_per_tensor_affine(w, 0.1, 0, -128, 127)
(torch.zeros(2).index_add(0, i, q) ** 2).sum().backward()
""",
}  # fmt: skip

LEFT_ALONE = {
    "one derivative": LEAF + "(w ** 3).sum().backward()\n",
    "a graph that nothing differentiates": LEAF + "print(torch.autograd.grad((w ** 3).sum(), w, create_graph=True))\n",
    "indices that differ": LEAF + "(torch.zeros(3).index_add(0, torch.tensor([0, 2, 1]), w) ** 2).sum().backward()\n",
    "indices that no gradient passes": LEAF + INDEX + """\
counts = torch.zeros(2).index_add(0, i, torch.ones(3))
(w.sum() * counts.sum()).backward()
""",
    "a program that raised": LEAF + INDEX + "(torch.zeros(2).index_add(0, i, w) ** 2).sum().backward()\n1 / 0\n",
    "no backward": INDEX + "print(torch.zeros(2).index_add(0, i, torch.ones(3)))\n",
}  # fmt: skip

WRONG = LEAF + INDEX + "(torch.zeros(2).scatter(0, i, w) ** 2).sum().backward()\n"
"""Of two values at one place torch keeps the last, and gives both its gradient."""


def asked(traces: list[dict[str, Any]], checks: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """What the page's functions say of traces and of checks."""
    reply: dict[str, list[Any]] = call_page("gradient_check/worth_checking", traces, checks)
    return reply


@cache
def what_is_worth_checking() -> dict[str, Any]:
    """By the program's name."""
    programs = TOLD_TO_AGREE | NEVER_TOLD_TO_DIFFER | LEFT_ALONE | {"wrong": WRONG}
    return dict(zip(programs, asked([quick(HEAD + source) for source in programs.values()], [])["worth"], strict=True))


def quick(source: str) -> dict[str, Any]:
    """The trace, as a machine that nobody else uses would make it."""
    recorded = kept_trace(source)
    recorded["cost"]["cpu_ms"] = 20.0
    return recorded


def told(name: str, source: str) -> str | None:
    """What the page would tell of a program."""
    worth = what_is_worth_checking()[name]
    if worth is None:
        return None
    result = check(HEAD + source, backward=worth["backward"], elements=worth["elements"])
    (judgement,) = asked([], [result])["judgements"]
    return None if judgement == "differs" and not worth["tellsDifference"] else judgement


@pytest.mark.parametrize("name", TOLD_TO_AGREE)
def test_a_gradient_that_agrees_is_reported(name: str) -> None:
    assert told(name, TOLD_TO_AGREE[name]) == "agrees"


@pytest.mark.parametrize("name", NEVER_TOLD_TO_DIFFER)
def test_an_intentionally_different_gradient_is_not_reported(name: str) -> None:
    assert told(name, NEVER_TOLD_TO_DIFFER[name]) in (None, "agrees")


def test_a_gradient_that_differs_is_reported() -> None:
    assert told("wrong", WRONG) == "differs"


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_programs_without_something_to_check_are_not_run_again(name: str) -> None:
    assert what_is_worth_checking()[name] is None


def test_the_cost_is_known_before_and_bounded() -> None:
    recorded = quick(HEAD + TOLD_TO_AGREE["index_add"])
    costs = []
    for milliseconds in (1.0, 20.0, 100.0, 400.0):
        costs.append({**recorded, "cost": {**recorded["cost"], "cpu_ms": milliseconds}})
    cheap, usual, dear, *rest = asked(costs, [])["worth"]
    assert rest == [None]
    assert [row["elements"] for row in (cheap, usual, dear)] == [24, 24, 6]
    assert [row["runs"] for row in (cheap, usual, dear)] == [99, 99, 27]
    assert all(row["seconds"] <= 3 for row in (cheap, usual, dear))
