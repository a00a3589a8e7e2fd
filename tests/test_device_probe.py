"""A GPU's memory in the trace: segments, blocks, and which storage lies in which, by an allocator that stands in."""

from typing import Any

import pytest

from tests import fake_cuda
from tests.tracing import Replay, trace

PROGRAM = """\
import torch
a = torch.ones(3, requires_grad=True)
b = torch.zeros(200)
c = torch.ones(1 << 19)
(a * 2).sum().backward()
del b
d = torch.ones(5)
"""


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return trace(PROGRAM, fake_cuda.install)


def states(recorded: dict[str, Any]) -> list[Replay]:
    return [Replay(recorded, i) for i in range(len(recorded["steps"]))]


def test_blocks_fill_segments_and_add_up_at_every_step(recorded: dict[str, Any]) -> None:
    with_blocks = [state["d1"] for state in states(recorded) if state["d1"].get("blocks")]
    assert len(with_blocks) > 5
    for facts in with_blocks:
        blocks = facts["blocks"]
        ends: list[int] = []
        assert [block["address"] for block in blocks] == [
            sum(block["size"] for block in blocks[:k]) for k in range(len(blocks))
        ]
        assert sum(segment["size"] for segment in facts["segments"]) == facts["reserved"]
        for segment in facts["segments"]:
            ends.append((ends[-1] if ends else 0) + segment["size"])
        assert set(ends) <= {block["address"] + block["size"] for block in blocks}
        assert facts["allocated"] == sum(block["size"] for block in blocks if block["state"] == "active_allocated")


def test_a_block_says_what_lies_in_it_and_how_much_was_asked_for(recorded: dict[str, Any]) -> None:
    last = Replay(recorded)
    blocks = {block.get("storage"): block for block in last["d1"]["blocks"]}
    assert last["d1"]["segments"] == [{"size": 2 << 20, "pool": "small"}, {"size": 20 << 20, "pool": "large"}]
    for name, size, requested in (("a", 512, 12), ("c", 2 << 20, None), ("d", 512, 20)):
        block = blocks[last[name]["storage"]]
        assert (block["size"], block.get("requested"), block["state"]) == (size, requested, "active_allocated")
    assert last[last["a"]["grad"]]["storage"] in blocks


def test_what_a_step_leaves_alone_is_not_told_again(recorded: dict[str, Any]) -> None:
    changes = [step["set"]["d1"] for step in recorded["steps"] if "d1" in step["set"]]
    assert any("splice" in facts and "blocks" not in facts for facts in changes)
    assert Replay(recorded)["d1"]["name"] == fake_cuda.NAME
    assert sum("segments" in facts for facts in changes) == 3  # none, one, two


def test_of_very_many_blocks_the_sums_are_told() -> None:
    last = Replay(trace(PROGRAM, fake_cuda.install_with_few_blocks))["d1"]
    assert last.get("blocks") is None and last.get("segments") is None
    assert last["reserved"] == 22 << 20 and last["allocated"] > 2 << 20
