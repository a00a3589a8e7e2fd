"""Names stay where they are while one steps, and what a step touched is in sight: ten nets and all scenarios, two
windows."""

from pathlib import Path
from typing import Any

import pytest

from tests.recordings.store import kept_trace, kept_traces
from tests.support.explaining import ROOT, call_page

NETS = ["attention", "cnn_batch_norm", "dropout_clip_scheduler", "ema", "gan_step", "lstm", "mlp_by_hand", "transformer_block", "two_optimizers", "vae"]  # fmt: skip  # noqa: E501
MOST_MOVES = 10
"""Names that move, in a hundred steps: a name that is bound anew goes to the row of what it now means."""

MANY_NAMES = "import torch\n" + "".join(f"y{k} = torch.full((2,), {k}.0)\n" for k in range(120))
DEEP = """\
import torch
import torch.nn as nn
net = nn.Sequential(*[nn.Linear(3, 3) for _ in range(40)])
opt = torch.optim.Adam(net.parameters())
loss = net(torch.ones(2, 3)).sum()
loss.backward()
opt.step()
"""
OLD_LEAF = """\
import torch
w = torch.ones(3, requires_grad=True)
parts = [w * k for k in range(12)]
loss = sum(part.sum() for part in parts)
w = torch.zeros(3, requires_grad=True)
loss.backward()
"""


def findings(traces: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Of each trace, for each window."""
    return [call_page("pictures/still_names", trace) for trace in traces]


MARK_HEIGHT = 14
"""Units that a name may move where a mark of its own row comes or goes, like a version above its cells. Such moves
count."""


def check(names: list[str], found: list[list[dict[str, Any]]]) -> None:
    """Everything is in sight in every step; lists never move; a name in a row moves for a reason: it is bound anew, or
    a name or the memory of its row came or ended."""
    steps = moves = 0
    for name, windows in zip(names, found, strict=True):
        for window in windows:
            assert window["unseen"] == [], name
            assert window["overflow"] == [], name
            sudden = [
                move for move in window["moves"] if not move["why"] and abs(move["to"] - move["from"]) > MARK_HEIGHT
            ]
            assert sudden == [], name
            assert window["density"] in (["large"], ["list"]), name
            if window["density"] == ["list"]:
                assert window["moves"] == [], name
            steps += window["steps"]
            moves += len(window["moves"])
    assert moves <= steps * MOST_MOVES / 100


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).glob("*.py"))


def test_names_of_nets_stay_and_what_a_step_touched_is_in_sight() -> None:
    check(NETS, findings(kept_traces([(ROOT / f"benchmarks/nets/{name}.py").read_text() for name in NETS])))


@pytest.mark.parametrize("part", range(4))
def test_names_of_scenarios_stay_and_what_a_step_touched_is_in_sight(part: int) -> None:
    paths = files("scenarios")[part::4]
    check([path.stem for path in paths], findings(kept_traces([path.read_text() for path in paths])))


def test_a_run_with_more_names_than_lines_keeps_them_in_groups() -> None:
    check(["many names", "deep"], findings([kept_trace(MANY_NAMES), kept_trace(DEEP)]))


def test_a_leaf_that_lost_its_name_has_a_line_below_that_of_its_name() -> None:
    [windows] = findings([kept_trace(OLD_LEAF)])
    for window in windows:
        lines = window["lines_of_run"]
        assert lines.index("old w") == lines.index("w") + 1
        assert window["unseen"] == []
