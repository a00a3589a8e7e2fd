"""Gradients beside finite differences: verdicts against derivatives that were worked out by hand, and what can't be
compared."""

from functools import cache
from typing import Any

import pytest

from gradbox.wire.trace import OutcomeLine
from tests.support.tracing import record, trace

HEAD = "import torch\nfrom torch import nn\n"

WRONG_BACKWARD = """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x
x = torch.tensor([1., 2.], requires_grad=True)
Square.apply(x).sum().backward()
"""

LEAF = "x = torch.tensor([1., 2.], requires_grad=True)\n"

Elements = list[tuple[float | None, float]]
"""What torch gives for each element, and the slope."""

TRUTH: dict[str, tuple[str, dict[str, tuple[str, Elements]]]] = {
    "a square": (LEAF + "(x * x).sum().backward()\n", {"x": ("agrees", [(2, 2), (4, 4)])}),
    "a backward that forgets a factor": (WRONG_BACKWARD, {"x": ("differs", [(1, 2), (2, 4)])}),
    "a detach in the middle": (  # loss = x² w + x, of which torch sees + x
        LEAF + "w = torch.tensor([3., 4.], requires_grad=True)\n((x * x).detach() * w + x).sum().backward()\n",
        {"x": ("differs", [(1, 7), (1, 17)]), "w": ("agrees", [(1, 1), (4, 4)])},
    ),
    "a leaf that was cut off": (
        LEAF + "w = torch.tensor([3., 4.], requires_grad=True)\n(x.detach() * 3 * w).sum().backward()\n",
        {"x": ("cut", [(None, 9), (None, 12)]), "w": ("agrees", [(3, 3), (6, 6)])},
    ),
    "a saved leaf changed through .data": (
        LEAF + "y = x * x\nx.data.zero_()\nprint(x)\ny.sum().backward()\n",
        {"x": ("differs", [(0, 2), (0, 4)])},
    ),
    "a saved result changed through .data": (
        LEAF + "y = x.exp()\nz = y * 1\ny.data.mul_(3)\nz.sum().backward()\n",
        {"x": ("differs", [(3 * 2.718281828, 2.718281828), (3 * 7.389056099, 7.389056099)])},
    ),
    "digits lost in float32": (  # 99999999 becomes 1e8
        LEAF + "loss = (x * 1e8).sum() - (x * (1e8 - 1)).sum()\nloss.backward()\n",
        {"x": ("rounding", [(0, 1), (0, 1)])},
    ),
    "a hook that doubles": (
        LEAF + "x.register_hook(lambda g: g * 2)\n(x * 3).sum().backward()\n",
        {"x": ("differs", [(6, 3), (6, 3)])},
    ),
    "relu at 0": (
        "x = torch.tensor([0., 2.], requires_grad=True)\ntorch.relu(x * 3).sum().backward()\n",
        {"x": ("kink", [(0, 1.5), (3, 3)])},
    ),
    "abs at 0": (
        "x = torch.tensor([0., 2.], requires_grad=True)\nx.abs().sum().backward()\n",
        {"x": ("kink", [(0, 0), (1, 1)])},
    ),
    "two largest": (
        "x = torch.tensor([2., 2., 1.], requires_grad=True)\nx.max().backward()\n",
        {"x": ("kink", [(0.5, 0.5), (0.5, 0.5), (0, 0)])},
    ),
    "a gradient given to backward": (
        LEAF + "(x ** 3).backward(torch.tensor([1., 10.]))\n",
        {"x": ("agrees", [(3, 3), (120, 120)])},
    ),
    "the second of two backwards": (
        LEAF + "(x * 5).sum().backward()\n(x * x).sum().backward()\n",
        {"x": ("agrees", [(2, 2), (4, 4)])},
    ),
    "after an optimizer's step": (  # x becomes x - 0.1 * 2
        LEAF + "opt = torch.optim.SGD([x], lr=.1)\nfor i in range(2):\n    opt.zero_grad()\n"
        "    (x * x if i else x * 2).sum().backward()\n    opt.step()\n",
        {"x": ("agrees", [(1.6, 1.6), (3.6, 3.6)])},
    ),
    "from numpy": (
        "import numpy as np\nx = torch.from_numpy(np.array([1, 2], dtype=np.float32)).requires_grad_()\n"
        "(x * x).sum().backward()\n",
        {"x": ("agrees", [(2, 2), (4, 4)])},
    ),
    "one weight, two names": (
        "a = nn.Linear(1, 1, bias=False)\nb = nn.Linear(1, 1, bias=False)\nb.weight = a.weight\n"
        "with torch.no_grad():\n    a.weight.fill_(3.)\nb(a(torch.tensor([2.]))).sum().backward()\n",
        {"a.weight": ("agrees", [(12, 12)])},
    ),
    "autograd.grad": (LEAF + "torch.autograd.grad((x * x).sum(), x)\n", {"x": ("agrees", [(2, 2), (4, 4)])}),
    "autograd.grad of several inputs, weighted": (
        LEAF + "w = torch.tensor([3., 4.], requires_grad=True)\n"
        "gx, gw = torch.autograd.grad([x * w, x], (x, w), grad_outputs=[torch.tensor([1., 10.]), torch.ones(2)])\n",
        {"x": ("agrees", [(4, 4), (41, 41)]), "w": ("agrees", [(1, 1), (20, 20)])},
    ),
    "autograd.grad of a result": (  # x² changes alone: + x counts for nothing
        LEAF + "h = x * x\nh.mul_(2)\ny = (h * h + x).sum()\ng, = torch.autograd.grad(y, h)\n",
        {"h": ("agrees", [(4, 4), (16, 16)])},
    ),
    "autograd.grad of what a custom function made": (
        WRONG_BACKWARD.split("x = torch.tensor")[0]
        + LEAF
        + "h = Square.apply(x)\ntorch.autograd.grad(h.exp().sum(), [h, x])\n",
        {
            "h": ("agrees", [(2.718281828, 2.718281828), (54.59815, 54.59815)]),
            "x": ("differs", [(2.718281828, 5.436563657), (109.1963, 218.3926)]),
        },
    ),
    "autograd.grad that does not find an input": (
        LEAF + "w = torch.tensor([3., 4.], requires_grad=True)\n"
        "torch.autograd.grad((x.detach() * w).sum(), (x, w), allow_unused=True)\n",
        {"x": ("cut", [(None, 3), (None, 4)]), "w": ("agrees", [(1, 1), (2, 2)])},
    ),
    "a penalty on a gradient": (  # (3x²)²
        LEAF + "g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\n(g ** 2).sum().backward()\n",
        {"x": ("agrees", [(36, 36), (288, 288)])},
    ),
    "the gradient of a gradient": (
        LEAF + "g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\ntorch.autograd.grad(g.sum(), x)\n",
        {"x": ("agrees", [(6, 6), (12, 12)])},
    ),
    "steps by autograd.grad": (  # x becomes x - 0.1 * 2
        LEAF + "for i in range(2):\n    g, = torch.autograd.grad((x * x if i else x * 2).sum(), x)\n"
        "    with torch.no_grad():\n        x -= 0.1 * g\n",
        {"x": ("agrees", [(1.6, 1.6), (3.6, 3.6)])},
    ),
    "backward into one of two leaves": (
        LEAF + "w = torch.tensor([3., 4.], requires_grad=True)\n(x * w).sum().backward(inputs=[x])\n",
        {"x": ("agrees", [(3, 3), (4, 4)])},
    ),
    "backward into a result": (
        LEAF + "h = x * x\n(h * 3).sum().backward(inputs=[h])\n",
        {"h": ("agrees", [(3, 3), (3, 3)])},
    ),
    "a clamp of what goes backwards": (
        "class Clip(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 4\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return (g * 4).clamp(max=1.)\n"
        + LEAF
        + "Clip.apply(x).sum().backward()\n",
        {"x": ("differs", [(1, 4), (1, 4)])},
    ),
}


@cache
def check(source: str, backward: int | None = None, elements: int = 200, seed: int = 0) -> dict[str, Any]:
    """The check of a program, as its child writes it and the server reads it."""
    options = {"elements": elements} | ({} if backward is None else {"backward": backward})
    last = record(HEAD + source, check=options, seed=seed)[-1]
    line = OutcomeLine.model_validate(last)
    assert line.gradient_check is not None, last
    return line.gradient_check.model_dump()


@pytest.mark.parametrize("program", TRUTH)
def test_torch_and_the_slope_stand_beside_each_other(program: str) -> None:
    source, leaves = TRUTH[program]
    found = check(source)
    assert found["problem"] is None and found["complete"]
    assert {leaf["name"]: leaf["verdict"] for leaf in found["leaves"]} == {
        name: verdict for name, (verdict, _) in leaves.items()
    }
    for leaf in found["leaves"]:
        elements = leaves[leaf["name"]][1]
        assert leaf["elements"] == len(leaf["rows"]) == len(elements)
        for row, (torch, slope) in zip(leaf["rows"], elements, strict=True):
            assert row["torch"] == (None if torch is None else pytest.approx(torch, rel=1e-5, abs=1e-6))
            assert row["numeric"] == pytest.approx(slope, rel=1e-6, abs=1e-6)


HEALTHY = {
    "mlp": "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\n"
    "loss = nn.functional.mse_loss(net(torch.randn(5, 3)), torch.randn(5, 1))\nloss.backward()\n",
    "relu, dropout and norm": "net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.ReLU(), nn.Dropout(.5), nn.Linear(4, 2))\n"  # noqa: E501
    "nn.functional.cross_entropy(net(torch.randn(5, 3)), torch.tensor([0, 1, 1, 0, 1])).backward()\n",
    "gru": "emb, rnn = nn.Embedding(4, 3), nn.GRU(3, 2)\nh, _ = rnn(emb(torch.tensor([1, 2, 1])).unsqueeze(1))\n"
    "(h ** 2).sum().backward()\n",
    "attention": "att = nn.MultiheadAttention(4, 2)\nx = torch.randn(3, 1, 4)\nout, _ = att(x, x, x)\n(out ** 2).sum().backward()\n",  # noqa: E501
}


@pytest.mark.parametrize("program", HEALTHY)
def test_a_healthy_net_agrees(program: str) -> None:
    found = check(HEALTHY[program], elements=60)
    assert found["problem"] is None and len(found["leaves"]) >= 4
    rows = [row for leaf in found["leaves"] for row in leaf["rows"]]
    assert {row["verdict"] for row in rows} <= {"agrees", "rounding"}
    lost = [row for row in rows if row["verdict"] == "rounding"]  # a gradient of 0 that float32 does not hit
    assert all(abs(row["double"]) < 1e-9 and abs(row["torch"]) < 1e-6 for row in lost)
    assert found["double"] == pytest.approx(found["loss"], rel=1e-5)


AUTOCAST = """net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
x, y = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.ones(2, 1)
{outer}
    {inner}
        loss = (net(x).float() - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
CAST, LOOP = "with torch.autocast('cpu', dtype=torch.bfloat16):", "for step in range(3):"


def test_a_copy_of_autocast_that_is_older_than_the_weight_is_named() -> None:
    found = check(AUTOCAST.format(outer=CAST, inner=LOOP))
    (leaf,) = (leaf for leaf in found["leaves"] if leaf["name"] == "net.weight")
    assert (leaf["verdict"], leaf["copy_used"]) == ("stale", {"dtype": "bfloat16", "line": 8})
    assert abs(leaf["rows"][0]["torch"] - leaf["rows"][0]["numeric"]) > 1


def test_a_copy_of_autocast_that_is_made_anew_only_rounds() -> None:
    found = check(AUTOCAST.format(outer=LOOP, inner=CAST))
    assert {leaf["verdict"] for leaf in found["leaves"]} <= {"agrees", "rounding"}
    assert not any(leaf["copy_used"] for leaf in found["leaves"])


def test_the_first_round_under_autocast_only_rounds() -> None:
    found = check(AUTOCAST.format(outer=CAST, inner=LOOP), backward=0)
    assert {leaf["verdict"] for leaf in found["leaves"]} <= {"agrees", "rounding"}


def test_a_copy_of_the_programs_own_that_float64_has_too_agrees() -> None:
    source = "w = torch.tensor([1.0, 2.0], requires_grad=True)\nh = w.half()\nwith torch.no_grad():\n    w *= 4\n"
    found = check(source + "(h * h).sum().backward()\n")
    (leaf,) = found["leaves"]
    assert (leaf["verdict"], leaf["copy_used"]) == ("agrees", None)


def test_more_than_a_few_roundings_are_not_called_rounding() -> None:
    """In float32 1 is lost beside 1e8, so that the square has no slope."""
    found = check("x = torch.tensor([1.0, 2.0], requires_grad=True)\n(((x + 1e8) - 1e8) ** 2).sum().backward()\n")
    (leaf,) = found["leaves"]
    assert leaf["verdict"] == "imprecise" and [row["torch"] for row in leaf["rows"]] == [0, 0]
    assert [row["numeric"] for row in leaf["rows"]] == pytest.approx([2, 4], rel=1e-4)


PROBLEMS = {
    "no_backward": "x = torch.ones(2)\n",
    "raised": LEAF + "y = x.exp()\ny.add_(1)\ny.sum().backward()\n",
    "not_one_loss": LEAF + "torch.autograd.grad(x * 2, x, torch.eye(2), is_grads_batched=True)\n",
    "not_repeatable": "import time\n" + LEAF + "(x * time.time()).sum().backward()\n",
    "not_real": "z = torch.ones(2, dtype=torch.complex64, requires_grad=True)\n(z * z).sum().backward(torch.tensor(1j))\n",  # noqa: E501
    "not_in_double": LEAF + "assert x.dtype == torch.float32\nx.sum().backward()\n",
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_check_says_why_nothing_can_be_compared(problem: str) -> None:
    assert check(PROBLEMS[problem])["problem"] == problem


def leaf_problem(source: str) -> tuple[str, int | None]:
    (leaf,) = check(source)["leaves"]
    assert leaf["verdict"] == "unknown" and leaf["rows"] == []
    return leaf["problem"], leaf["problem_line"]


def test_a_leaf_written_between_its_uses_cannot_be_compared() -> None:
    source = LEAF + "y = x * 3\nwith torch.no_grad():\n    x.mul_(2)\n(y + x * 4).sum().backward()\n"
    assert leaf_problem(source) == ("written_between", 6)


def test_a_write_that_torch_does_not_see_is_noticed() -> None:
    source = LEAF + "n = x.detach().numpy()\nn[0] = 7.\n(x * x).sum().backward()\n"
    assert leaf_problem(source) == ("changed_unseen", None)


def test_a_leaf_whose_data_was_replaced_cannot_be_compared() -> None:
    source = LEAF + "y = x * x\nx.data = torch.zeros(2)\n(y + x).sum().backward()\n"
    assert leaf_problem(source) == ("not_followed", None)


def test_a_view_cannot_be_changed_alone() -> None:
    source = LEAF + "h = (x * 2).view(2, 1)\ntorch.autograd.grad(h.sum(), h)\n"
    assert leaf_problem(source) == ("view", None)


def test_a_program_of_torch_func_alone_has_no_loss_to_compare() -> None:
    source = LEAF + "torch.func.grad(lambda x: (x * x).sum())(x)\n"
    assert check(source)["problem"] == "not_one_loss"
    assert check(source + "(x * 3).sum().backward()\n")["leaves"][0]["verdict"] == "agrees"


def test_a_gradient_of_a_backward_within_is_not_called_cut_off() -> None:
    source = (
        "from torch.utils.checkpoint import checkpoint\nlin = nn.Linear(2, 2)\n"
        + LEAF
        + "checkpoint(lambda x: torch.tanh(lin(x)), x, use_reentrant=True).sum().backward()\n"
    )
    leaves = {leaf["name"]: leaf for leaf in check(source)["leaves"]}
    assert leaves["x"]["verdict"] == "agrees"
    assert {leaves[name]["problem"] for name in ("lin.weight", "lin.bias")} == {"nested"}


CUSTOM = """\
class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return b * 2 + a
    @staticmethod
    def backward(ctx, g):
        return g, g * 2
"""


def test_what_a_custom_function_reads_later_is_a_use() -> None:
    source = CUSTOM + LEAF + "b = torch.ones(2, requires_grad=True)\nBoth.apply(x, b).sum().backward()\n"
    assert {leaf["name"]: leaf["verdict"] for leaf in check(source)["leaves"]} == {"x": "agrees", "b": "agrees"}
    written = source.replace(
        "Both.apply(x, b).sum()", "y = Both.apply(x, b)\nwith torch.no_grad():\n    x.mul_(2)\n(y + x).sum()"
    )
    assert {leaf["name"]: leaf["problem"] for leaf in check(written)["leaves"]}["x"] == "written_between"


def test_seeds_and_generators_give_the_numbers_of_the_run() -> None:
    source = (
        "x = torch.randn(3, requires_grad=True)\ndrop = nn.Dropout(.5)\n(drop(x) * torch.rand(3)).sum().backward()\n"
    )
    for seed in (0, 7):
        found = check(source, seed=seed)
        assert found["loss"] == pytest.approx(found["double"], rel=1e-6)
        assert found["leaves"][0]["verdict"] == "agrees"
    assert check(source, seed=0)["loss"] != check(source, seed=7)["loss"]


def test_a_call_can_be_chosen() -> None:
    source = LEAF + "torch.autograd.grad((x * 5).sum(), x)\n(x * x).sum().backward()\n"
    first, second = check(source, backward=0), check(source, backward=1)
    assert [row["torch"] for row in first["leaves"][0]["rows"]] == [5, 5]
    assert [row["torch"] for row in second["leaves"][0]["rows"]] == [2, 4]
    assert (first["line"], second["line"]) == (4, 5)
    assert check(source, backward=2)["problem"] == "no_backward"


def test_calls_are_counted_as_the_trace_has_them() -> None:
    """The page asks for a call by its place among those of the trace."""
    source = (
        LEAF + "from torch.utils.checkpoint import checkpoint\n"
        "torch.autograd.grad((x * 5).sum(), x)\n"
        "torch.func.grad(lambda x: (x * x).sum())(x)\n"
        "checkpoint(lambda x: x * x, x, use_reentrant=True).sum().backward()\n"
        "torch.autograd.functional.jacobian(lambda x: x * x, x, vectorize=True)\n"
        "(x * x).sum().backward()\n"
    )
    steps = trace(HEAD + source)["steps"]
    lines = [
        step["line"]
        for step in steps
        for fields in step["set"].values()
        if fields.get("kind") == "backward" and fields.get("parent") is None
    ]
    assert sorted(set(lines)) == [5, 6, 7, 8, 9]
    for number, line in enumerate(lines):
        assert check(source, backward=number)["line"] == (line if line in (5, 7, 9) else None)


def test_only_a_sample_of_a_large_leaf_is_varied() -> None:
    found = check("w = torch.randn(50, 40, requires_grad=True)\n(w * w).sum().backward()\n")
    (leaf,) = found["leaves"]
    assert leaf["elements"] == 2000 and len(leaf["rows"]) == 24 and leaf["verdict"] == "agrees"
    few = check("w = torch.randn(50, 40, requires_grad=True)\n(w * w).sum().backward()\n", elements=3)
    assert len(few["leaves"][0]["rows"]) == 3


def test_the_time_is_bounded() -> None:
    source = "w = torch.randn(400, 400, requires_grad=True)\nfor i in range(40):\n    y = w @ w\ny.sum().backward()\n"
    found = check(source, elements=1000)
    assert found["problem"] == "no_time" or not found["complete"] or len(found["leaves"][0]["rows"]) == 24


def test_an_operation_evaluated_at_a_corner_is_named() -> None:
    found = check("x = torch.tensor([0., 2.], requires_grad=True)\ny = torch.relu(x)\ny.abs().sum().backward()\n")
    assert [(corner["op"], corner["line"]) for corner in found["corners"]] == [("relu", 4), ("abs", 5)]
    row = found["leaves"][0]["rows"][0]
    assert (row["left"], row["right"]) == (pytest.approx(0), pytest.approx(1))


def test_every_run_reads_the_same_input() -> None:
    source = HEAD + LEAF + "(x * float(input())).sum().backward()\n"
    last = record(source, check={"elements": 5}, input="4\n")[-1]
    line = OutcomeLine.model_validate(last)
    assert line.gradient_check is not None
    assert [row.torch for row in line.gradient_check.leaves[0].rows] == [4, 4]
