"""Names stay where they are while one steps, and what a step touched is in sight: three nets and all scenarios, two
windows."""

from pathlib import Path
from typing import Any

import pytest

from tests.recordings.store import kept_trace, kept_traces
from tests.support.explaining import ROOT, call_page

NETS = ["custom_function", "ema", "weight_tying"]
MOST_MOVES = 10
"""Names that move, in a hundred steps: a name that is bound anew goes to the row of what it now means."""

MANY_NAMES = "import torch\n" + "".join(f"y{k} = torch.full((2,), {k}.0)\n" for k in range(120))


def findings(traces: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Of each trace, for each window."""
    return [call_page("pictures/still_names", trace) for trace in traces]


MARK_HEIGHT = 14
"""Units that a name may move where a mark of its own row comes or goes, like a version above its cells. Such moves
count."""


def check(names: list[str], found: list[list[dict[str, Any]]]) -> int:
    """On the stage all that a step touched is open and in sight at once; a name moves for a reason: it is bound anew,
    or a name or the memory of its row came or ended. Returns how many programs have the stage."""
    steps = moves = stages = 0
    for name, windows in zip(names, found, strict=True):
        for window in windows:
            assert window["unseen"] == window["apart"] == [], name
            sudden = [
                move for move in window["moves"] if not move["why"] and abs(move["to"] - move["from"]) > MARK_HEIGHT
            ]
            assert sudden == [], name
            if window["picture"] == "stage":
                steps += window["steps"]
                moves += len(window["moves"])
        stages += windows[0]["picture"] == "stage"
    assert moves <= steps * MOST_MOVES / 100
    return stages


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).glob("*.py"))


def test_names_of_nets_stay_and_what_a_step_touched_is_in_sight() -> None:
    found = findings(kept_traces([(ROOT / f"benchmarks/nets/{name}.py").read_text() for name in NETS]))
    assert check(NETS, found) == len(NETS)


@pytest.mark.parametrize("part", range(4))
def test_names_of_scenarios_stay_and_what_a_step_touched_is_in_sight(part: int) -> None:
    paths = files("scenarios")[part::4]
    assert check([path.stem for path in paths], findings(kept_traces([path.read_text() for path in paths]))) > 30


def test_names_stay_where_there_are_many_more_than_in_sight() -> None:
    found = findings([kept_trace(MANY_NAMES)])
    assert all(window["scrolls"] for window in found[0])
    assert check(["many names"], found) == 1
