"""Answers to "where does this gradient come from" and "why is it None", against plain torch with hooks on every
node."""

from functools import cache
from typing import Any

import pytest

from tests.findings.gradient_truth import accounts
from tests.forks.plain_python import call_in_plain
from tests.recordings.store import kept_trace
from tests.support.explaining import call_page

pytestmark = pytest.mark.slow

HEAD = "import torch\nfrom torch import nn\n"

SOURCES: dict[str, tuple[str, list[str]]] = {
    "one way": (
        "w = torch.tensor([1., 2.], requires_grad=True)\nloss = (w * 3).sum()\nloss.backward()\n",
        ["w"],
    ),
    "shared weight": (
        "w = torch.tensor([1., 2.], requires_grad=True)\nx = torch.tensor([3., 4.])\ny = w * x\nz = y * w\n"
        "loss = z.sum()\nloss.backward()\n",
        ["w", "y", "z"],
    ),
    "residual": (
        "lin = nn.Linear(3, 3)\nx = torch.randn(2, 3, requires_grad=True)\ny = torch.relu(lin(x)) + x\n"
        "loss = (y ** 2).mean()\nloss.backward()\n",
        ["x", "y", "lin.weight", "lin.bias"],
    ),
    "broadcasting": (
        "b = torch.tensor([1., 2.], requires_grad=True)\nm = torch.ones(3, 2) * b\nn = m + b\nloss = (m * n).sum()\n"
        "loss.backward()\n",
        ["b", "m", "n"],
    ),
    "two backwards": (
        "w = torch.tensor([1., 2.], requires_grad=True)\n(w * 3).sum().backward()\nloss = (w * w).sum()\n"
        "loss.backward()\n",
        ["w"],
    ),
    "custom Function": (
        "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n"
        "        return a * 2 + b\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, g\n"
        "a = torch.tensor([1., 2.], requires_grad=True)\ny = Twice.apply(a, a * a)\nloss = y.sum()\nloss.backward()\n",
        ["a", "y"],
    ),
    "hook on a leaf": (
        "w = torch.tensor([1., 2.], requires_grad=True)\nw.register_hook(lambda g: g * 10)\n"
        "loss = (w * 2 + w).sum()\nloss.backward()\n",
        ["w"],
    ),
    "hook on the way": (
        "w = torch.tensor([1., 2.], requires_grad=True)\ny = w * 2\ny.register_hook(lambda g: g.clamp(max=0.5))\n"
        "loss = (y * y).sum()\nloss.backward()\n",
        ["w", "y"],
    ),
    "retain_grad": (
        "w = torch.tensor([1., 2.], requires_grad=True)\ny = w * 2\ny.retain_grad()\nloss = (y * y + y).sum()\n"
        "loss.backward()\n",
        ["w", "y"],
    ),
    "rnn over time": (
        "W = torch.tensor([[.5, -.2], [.1, .3]], requires_grad=True)\nh = torch.ones(2)\nfor t in range(3):\n"
        "    h = torch.tanh(W @ h)\nloss = h.sum()\nloss.backward()\n",
        ["W", "h"],
    ),
    "several outputs": (
        "x = torch.arange(4., requires_grad=True)\na, b = (x * x).chunk(2)\nloss = (a * b + "
        "a).sum()\nloss.backward()\n",
        ["x", "a", "b"],
    ),
    "views": (
        "m = torch.arange(4.).reshape(2, 2).requires_grad_()\nrow = m[0]\nloss = (row * m[1]).sum() + m.t().sum()\n"
        "loss.backward()\n",
        ["m", "row"],
    ),
    "in place": (
        "w = torch.tensor([1., 2.], requires_grad=True)\ny = w * 2\ny += w\ny[0] = 5.\nloss = (y * 3).sum()\n"
        "loss.backward()\n",
        ["w", "y"],
    ),
    "losses added": (
        "w = torch.tensor([1., 2.], requires_grad=True)\nh = w.exp()\na = h.sum()\nb = (h * h).mean()\n"
        "loss = a + 0.5 * b\nloss.backward()\n",
        ["w", "h", "a", "b"],
    ),
    "weights tied": (
        "emb = nn.Embedding(4, 3)\nout = nn.Linear(3, 4, bias=False)\nout.weight = emb.weight\n"
        "loss = out(emb(torch.tensor([1, 2]))).logsumexp(-1).sum()\nloss.backward()\n",
        ["emb.weight"],
    ),
    "batch norm": (
        "bn = nn.BatchNorm1d(2)\nx = torch.randn(4, 2, requires_grad=True)\ny = bn(x)\nloss = (y * y * y).sum()\n"
        "loss.backward()\n",
        ["x", "bn.weight", "bn.bias", "y"],
    ),
    "a gradient kept and scaled": (
        "w = torch.tensor([1., 2.], requires_grad=True)\n(w * w).sum().backward()\nw.grad *= 0.5\n"
        "loss = (w * 4).sum()\nloss.backward()\n",
        ["w"],
    ),
}


@cache
def answers() -> dict[tuple[str, str], dict[str, Any]]:
    """The page's answers for each program and name."""
    asked = [(name, tensor) for name, (_, tensors) in SOURCES.items() for tensor in tensors]
    traces = {name: kept_trace(HEAD + source) for name, (source, _) in SOURCES.items()}
    replies = ask([{"trace": traces[name], "name": tensor, "step": None} for name, tensor in asked])
    return dict(zip(asked, replies, strict=True))


def ask(questions: list[dict[str, Any]], language: str = "en") -> list[dict[str, Any]]:
    return [call_page("findings/answers", question, language) for question in questions]


@cache
def truth() -> dict[tuple[str, str], dict[str, Any]]:
    """Plain torch's account, from a process that has nothing of ours."""
    requests = [{"source": HEAD + source, "names": names} for source, names in SOURCES.values()]
    out = {}
    for (program, (_, names)), replies in zip(SOURCES.items(), call_in_plain(accounts, requests), strict=True):
        out.update({(program, name): reply for name, reply in zip(names, replies, strict=True)})
    return out


def values(cells: list[Any]) -> list[float]:
    return [float(cell) for cell in cells]


@pytest.mark.parametrize(("program", "name"), [(p, n) for p, (_, names) in SOURCES.items() for n in names])
def test_the_parts_of_a_gradient_are_those_that_torch_accumulated(program: str, name: str) -> None:
    answer, real = answers()[program, name], truth()[program, name]
    assert answer["question"] == ("gradient" if real["grad"] is not None else "passed")
    expected = real["grad"] if real["grad"] is not None else real["arrived"]
    assert values(answer["value"]) == pytest.approx(expected)
    said = first_level(answer)
    assert sorted(said) == [pytest.approx(part) for part in sorted(real["parts"])]


def first_level(answer: dict[str, Any]) -> list[list[float]]:
    """The rows of the last backward that say what came to the tensor's own node."""
    rows = answer["rows"]
    heads = [k for k, row in enumerate(rows) if row["key"] in ("answer.stored", "answer.added")]
    rows = rows[heads[-1] + 1 :] if heads else rows
    return [values(row["cells"]) for row in rows if row["own"]]


WHY_NONE: dict[str, tuple[str, str, str, int]] = {
    # program, name, variant, line of the cause, in the source with its two lines of imports before
    "not a leaf": ("a = torch.ones(2, requires_grad=True)\nb = a * 2\n", "b", "not_leaf", 4),
    "no backward yet": ("a = torch.ones(2, requires_grad=True)\nb = a * 2\n", "a", "no_backward", 4),
    "does not require grad": ("a = torch.ones(2)\nw = torch.ones(2, requires_grad=True)\n(a * w).sum().backward()\n", "a", "not_required", 3),  # noqa: E501
    "cut by detach": (
        "a = torch.ones(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\nb = a.detach() * 3\n"
        "(b * w).sum().backward()\n", "a", "cut_detach", 5,
    ),
    "cut by no_grad": (
        "a = torch.ones(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    b = "
        "a * 3\n"
        "(b * w).sum().backward()\n", "a", "cut_no_grad", 6,
    ),
    "never reached": (
        "a = torch.ones(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\n(w * 2).sum().backward()\n",
        "a", "unused", 5,
    ),
    "frozen": (
        "lin = nn.Linear(2, 1)\nlin.bias.requires_grad_(False)\nlin(torch.ones(2)).sum().backward()\n",
        "lin.bias", "frozen", 4,
    ),
    "reset": (
        "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=.1)\n(w * "
        "2).sum().backward()\nopt.step()\n"
        "opt.zero_grad()\n", "w", "reset", 7,
    ),
    "a name that moved": (
        "w = torch.ones(2, requires_grad=True)\n(w * 2).sum().backward()\nwith torch.no_grad():\n    w = w - 0.1 * "
        "w.grad\n",
        "w", "name_moved", 6,
    ),
    "a list holds the old one": (
        "w = torch.ones(2, requires_grad=True)\nparams = [w]\nw = torch.zeros(2, requires_grad=True)\n(w * "
        "2).sum().backward()\n",
        "params[0]", "replaced", 5,
    ),
    "an optimizer holds the old one": (
        "lin = nn.Linear(2, 1)\nold = lin.weight\nopt = torch.optim.SGD(lin.parameters(), lr=.1)\n"
        "lin.weight = nn.Parameter(torch.ones(1, 2))\nlin(torch.ones(2)).sum().backward()\nopt.step()\n",
        "old", "replaced", 6,
    ),
    "returned, not stored": (
        "w = torch.ones(2, requires_grad=True)\ny = w * 2\ng, = torch.autograd.grad(y.sum(), [y])\n",
        "w", "autograd_grad", 5,
    ),
    "asked of others only": (
        "a = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\n"
        "(a * b).sum().backward(inputs=[a])\n", "b", "inputs", 5,
    ),
}  # fmt: skip


def test_each_reason_is_found_for_the_tensor_that_is_asked_about() -> None:
    traces = [kept_trace(HEAD + source) for source, *_ in WHY_NONE.values()]
    names = [name for _, name, *_ in WHY_NONE.values()]
    replies = ask([{"trace": t, "name": name, "step": None} for t, name in zip(traces, names, strict=True)])
    said = {
        reason: (reply["question"], reply["variant"], reply["cause"] and reply["cause"]["line"])
        for reason, reply in zip(WHY_NONE, replies, strict=True)
    }
    assert said == {reason: ("none", variant, line) for reason, (_, _, variant, line) in WHY_NONE.items()}


def test_an_answer_says_how_a_hook_changed_the_sum() -> None:
    text = answers()["hook on a leaf", "w"]["text"]
    assert "`[30, 30]`, which a hook made from the sum" in text["what"]
    assert any("a hook of `w` made `[30, 30]`" in row for row in text["rows"])


def test_an_answer_says_what_the_gradient_held_before_each_backward() -> None:
    answer = answers()["a gradient kept and scaled", "w"]
    keys = [row["key"] for row in answer["rows"] if not row["key"].startswith("answer.way")]
    assert keys == ["answer.stored", "answer.start", "answer.written", "answer.added", "answer.start"]
    assert "the sum of `[1, 2]` that it held before + `[4, 4]` from line 6 through `mul`" in answer["text"]["what"]


def test_paths_lead_to_the_loss_and_a_shared_path_is_listed_once() -> None:
    rows = answers()["rnn over time", "W"]["rows"]
    assert sum(row["own"] for row in rows) == 3 and rows[-1]["key"] in ("answer.way_again", "answer.start")
    assert [row["key"] for row in rows].count("answer.start") == 1
    assert {row["line"] for row in rows} == {6, 7, 8}


def test_an_answer_depends_on_the_step_at_which_it_is_asked() -> None:
    source = HEAD + "w = torch.tensor([1., 2.], requires_grad=True)\ny = w * 3\ny.sum().backward()\n"
    recorded = kept_trace(source)
    first = next(i for i, step in enumerate(recorded["steps"]) if step.get("visit"))
    early, late = ask([{"trace": recorded, "name": "w", "step": step} for step in (first, None)])
    assert early["variant"] == "not_yet" and early["question"] == "none"
    assert late["question"] == "gradient" and values(late["value"]) == [3.0, 3.0]


def test_an_answer_says_what_the_trace_does_not_contain() -> None:
    source = HEAD + "w = torch.ones(2000, requires_grad=True)\n(w * 2).sum().backward()\n"
    long = (
        HEAD
        + "w = torch.ones(2, requires_grad=True)\ny = w\nfor i in range(700):\n    y = y * 1.001\ny.sum().backward()\n"
    )
    many, thinned = ask([{"trace": kept_trace(text), "name": "w", "step": None} for text in (source, long)])
    assert "`(2000,)` between `2` and `2`" in many["text"]["what"]
    assert thinned["question"] == "gradient" and len(thinned["rows"]) <= 61


def test_every_sentence_is_there_in_both_languages() -> None:
    questions = [
        {"trace": kept_trace(HEAD + source), "name": names[0], "step": None} for source, names in SOURCES.values()
    ]
    for language in ("en", "zh"):
        for reply in ask(questions, language):
            texts = [reply["text"]["title"], reply["text"]["what"], *reply["text"]["rows"]]
            assert all(text and "answer." not in text and "{" not in text for text in texts), texts
