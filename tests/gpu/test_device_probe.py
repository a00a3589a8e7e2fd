"""A GPU's memory in the trace: segments, blocks, and which storage lies in which, by an allocator that stands in, and
by snapshots of a real one (NVIDIA H100, torch 2.11)."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from gradbox.recorder.devices import device
from gradbox.wire import entities
from tests.gpu import fake_cuda
from tests.support.tracing import Replay, trace

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


def test_unchanged_blocks_are_not_recorded_again(recorded: dict[str, Any]) -> None:
    changes = [step["set"]["d1"] for step in recorded["steps"] if "d1" in step["set"]]
    assert any("splice" in facts and "blocks" not in facts for facts in changes)
    assert Replay(recorded)["d1"]["name"] == fake_cuda.NAME
    assert sum("segments" in facts for facts in changes) == 3  # none, one, two


def test_only_totals_are_recorded_for_very_many_blocks() -> None:
    last = Replay(trace(PROGRAM, fake_cuda.install_with_few_blocks))["d1"]
    assert last.get("blocks") is None and last.get("segments") is None
    assert last["reserved"] == 22 << 20 and last["allocated"] > 2 << 20


SNAPSHOTS: dict[str, list[dict[str, Any]]] = json.loads((Path(__file__).parent / "cuda_snapshots.json").read_text())


def facts_of(monkeypatch: pytest.MonkeyPatch, snapshots: list[list[dict[str, Any]]]) -> list[entities.Device]:
    """What the probe makes of one snapshot after the other."""
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA H100")
    allocator, facts = device.CachingAllocator("d1", 0), []
    for snapshot in snapshots:
        blocks = [block for segment in snapshot for block in segment["blocks"]]
        current = sum(block["size"] for block in blocks if block["state"] == "active_allocated")
        monkeypatch.setattr(device, "memory_snapshot", lambda snapshot=snapshot: snapshot)
        statistics = {
            "allocated_bytes": {"all": {"current": current, "peak": current}},
            "reserved_bytes": {"all": {"current": sum(segment["total_size"] for segment in snapshot)}},
        }
        monkeypatch.setattr(device, "memory_statistics", lambda _, statistics=statistics: statistics)
        assert allocator.has_changed_since_last_call({}) and not allocator.has_changed_since_last_call({})
        facts.append(allocator.device_record({}))
    return facts


def test_a_real_allocator_fills_its_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    for facts in facts_of(monkeypatch, list(SNAPSHOTS.values())):
        segments, blocks = facts["segments"] or [], facts["blocks"] or []
        assert (
            sum(segment["size"] for segment in segments) == facts["reserved"] == sum(block["size"] for block in blocks)
        )
        assert [block["address"] for block in blocks] == [
            sum(block["size"] for block in blocks[:k]) for k in range(len(blocks))
        ]


def test_a_segment_names_its_stream_by_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    (facts,) = facts_of(monkeypatch, [SNAPSHOTS["two streams"]])
    assert [(segment["pool"], segment.get("stream")) for segment in facts["segments"] or []] == [
        ("large", None), ("small", None), ("small", 1), ("large", 1),
    ]  # fmt: skip


def test_a_block_that_a_stream_may_still_use_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, after = facts_of(monkeypatch, [SNAPSHOTS["freed with record_stream"], SNAPSHOTS["after"]])
    assert [block["size"] for block in waiting["blocks"] or [] if block["state"] == "active_pending_free"] == [8192]
    assert "active_pending_free" not in {block["state"] for block in after["blocks"] or []}


def test_a_freed_block_keeps_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    (facts,) = facts_of(monkeypatch, [SNAPSHOTS["small and large, one freed"]])
    assert all("requested" not in block for block in facts["blocks"] or [] if block["state"] == "inactive")


def test_segments_stay_in_the_order_in_which_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    before = SNAPSHOTS["small and large, one freed"]
    lower = {**before[1], "address": before[0]["address"] - (2 << 20), "stream": 5, "segment_pool_id": [0, 1]}
    first, second, third = facts_of(monkeypatch, [before, [lower, *before], [lower, before[1]]])
    pools = [[(segment["pool"], segment.get("stream"), segment.get("private")) for segment in facts["segments"] or []]
             for facts in (first, second, third)]  # fmt: skip
    old, new = [("large", None, None), ("small", None, None)], ("small", 1, True)
    assert pools == [old, [*old, new], [old[1], new]]
