"""Whether samples stay apart: programs whose mixing operation is known, and those whose samples do not meet before the
loss."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.forks.forked_server import run_command
from tests.support.tracing import record

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
NET = "net, out = nn.Linear(4, 8), nn.Linear(8, 3)\nx, y = torch.randn(6, 4), torch.arange(6) % 3\n"
LOSS = "F.cross_entropy(out(h), y).backward()\n"

APART: dict[str, tuple[str, int]] = {
    "a perceptron": (NET + "h = torch.relu(net(x))\n" + LOSS, 0),
    "dropout and layer norm": (NET + "h = nn.LayerNorm(8)(F.dropout(net(x)))\n" + LOSS, 0),
    "batch norm in eval": (NET + "h = nn.BatchNorm1d(8).eval()(net(x))\n" + LOSS, 0),
    "convolutions": (
        "net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4, 3))\n"
        "F.cross_entropy(net(torch.randn(6, 2, 4, 4)), torch.arange(6) % 3).backward()\n",
        0,
    ),
    "a sequence first": (
        "rnn, out = nn.GRU(4, 5), nn.Linear(5, 1)\nh, _ = rnn(torch.randn(7, 3, "
        "4))\nout(h[-1]).pow(2).mean().backward()\n",
        1,
    ),
    "attention within a sample": (
        "e, a, out = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)\n"
        "h = e(torch.randint(0, 9, (4, 5)))\nh, _ = a(h, h, h)\nout(h.mean(1)).pow(2).mean().backward()\n",
        0,
    ),
    "flattened and back": (
        "net = nn.Linear(4, 4)\nx = torch.randn(3, 5, 4)\nh = net(x.reshape(15, 4)).reshape(3, 5, 4)\n"
        "h.mean(1).pow(2).mean().backward()\n",
        0,
    ),
    "the last of three rounds": (
        NET + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor k in range(3):\n    h = net(x)\n"
        "    loss = F.cross_entropy(out(h), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
        0,
    ),
}

MIXED: dict[str, tuple[str, str, int]] = {
    "batch norm in training": (NET + "h = nn.BatchNorm1d(8)(net(x))\n" + LOSS, "batch_norm", 7),
    "a softmax over the batch": (NET + "h = torch.softmax(net(x), 0)\n" + LOSS, "softmax", 7),
    "a mean of the batch taken off": (NET + "h = net(x)\nmean = h.mean(0)\nh = h - mean\n" + LOSS, "mean", 8),
    "a reshape that is no transpose": (
        "net = nn.Linear(4, 4)\nh = net(torch.randn(3, 5, 4))\nh = h.permute(1, 0, 2).reshape(3, 5, 4)\n"
        "h.mean(1).pow(2).mean().backward()\n",
        "reshape", 7,
    ),
    "repeat where repeat_interleave belongs": (
        "net = nn.Linear(4, 4)\nh = net(torch.randn(3, 4)).repeat(2, 1)\nh = h.view(3, 2, "
        "4)\nh.mean(1).pow(2).sum().backward()\n",
        "view", 7,
    ),
    "a loss over pairs": (
        "net = nn.Linear(4, 3)\na, b = net(torch.randn(5, 4)), net(torch.randn(5, 4))\nscores = a @ b.t()\n"
        "F.cross_entropy(scores, torch.arange(5)).backward()\n",
        "mm", 7,
    ),
    "attention over the batch": (
        "e, a = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2)\nh = e(torch.randint(0, 9, (4, 5)))\n"
        "h, _ = a(h, h, h)\nh.mean(1).pow(2).mean().backward()\n",
        "bmm", 7,
    ),
}  # fmt: skip


def sample_check(source: str) -> dict[str, Any]:
    """What a check of a program's samples says, as JSON."""
    *_, last = record(HEAD + source, check={"elements": 1, "samples": True})
    result: dict[str, Any] = last["gradient_check"]["samples"]
    return result


@pytest.mark.parametrize("name", APART)
def test_samples_that_meet_only_in_the_loss_stay_apart(name: str) -> None:
    source, axis = APART[name]
    check = sample_check(source)
    assert check.get("problem") is None and check["mixing"] is None, check
    assert check["axis"] == axis and 3 <= check["runs"] <= 4


@pytest.mark.parametrize("name", MIXED)
def test_the_first_operation_that_mixes_them_is_named_with_its_line(name: str) -> None:
    source, op, line = MIXED[name]
    mixing = sample_check(source)["mixing"]
    assert (mixing["op"], mixing["line"]) == (op, line)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("w = torch.ones(2, requires_grad=True)\nw.sum().backward()\n", "no_batch"),
        ("print(undefined)\n", "raised"),
        (
            NET
            + "h = net(x)\nif h[0, 0] > 0:\n    h = h * 2\nelse:\n    h = h.exp()\nif x[0, 0] > 0.2:\n    h = h + 1\n"
            + LOSS,
            None,
        ),
    ],
)
def test_why_samples_cannot_be_followed(source: str, problem: str | None) -> None:
    assert sample_check(source).get("problem") == problem


def test_a_program_that_goes_another_way_for_the_changed_sample_is_not_judged() -> None:
    source = NET + "h = net(x)\nif x[0].sum() > -3.5:\n    h = h.exp()\n" + LOSS
    values = "x[0] = -1.0\n"
    assert sample_check(source.replace("h = net", values + "h = net")).get("problem") == "not_repeatable"


def test_the_terminal_says_where_samples_mix(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(HEAD + MIXED["a mean of the batch taken off"][0])
    check = json.loads(run_command("explain", "--check-samples", "--json", str(file)).stdout)["samples"]["check"]
    assert check["samples"]["mixing"] == {"op": "mean", "line": 8, "changed": 6}
    text = run_command("explain", "--check-samples", "--language", "zh", str(file)).stdout
    assert "样本在第 8 行相混" in text and "6 个的结果变了" in text
