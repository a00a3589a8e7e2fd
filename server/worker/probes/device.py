"""A GPU's memory as torch's caching allocator has it: what tensors hold, what it keeps, the most it ever held, its segments
and their blocks.

Asked of the allocator's own books; nothing is launched on the device and nothing waits for it.
"""

from typing import Any

import torch

from server.wire import entities
from server.wire.entities import MAX_BLOCKS
from server.worker.observation import Observation
from server.worker.probes.probe import Probe, ProbeContext
from server.worker.probes.storages import Storages

_snapshot: Any = torch.cuda.memory_snapshot


class Devices(Probe):
    """The devices of a run; none where it runs on the CPU."""

    def __init__(self, context: ProbeContext, storages: Storages) -> None:
        super().__init__(context)
        self._uids, self._storages = context.uids, storages
        self._by_index: dict[int, str] = {}

    def reset_peaks(self) -> None:
        """The program begins: its peak counts from here."""
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            for index in range(torch.cuda.device_count()):
                torch.cuda.reset_peak_memory_stats(index)
                self._by_index[index] = self._uids.allocate("d")

    def update(self, observation: Observation) -> None:  # noqa: ARG002
        for index, uid in self._by_index.items():
            self._update_or_splice(uid, self._facts(index))

    def _update_or_splice(self, uid: str, facts: entities.Device) -> None:
        """Report what changed; where few blocks did, those alone."""
        old, new = self._delta.state.get(uid, {}).get("blocks"), facts["blocks"]
        if not old or not new or old == new:
            self._delta.update(uid, facts)
            return
        start, end = common_prefix_and_suffix(old, new)
        if 2 * (len(new) - start - end) > len(new):
            self._delta.update(uid, facts)
        else:
            self._delta.splice_blocks(uid, facts, (start, len(old) - start - end, new[start : len(new) - end]))

    def _facts(self, index: int) -> entities.Device:
        segments, blocks = self._segments_and_blocks(index)
        return {
            "kind": "device",
            "name": torch.cuda.get_device_name(index),
            "allocated": torch.cuda.memory_allocated(index),
            "reserved": torch.cuda.memory_reserved(index),
            "peak": torch.cuda.max_memory_allocated(index),
            "segments": segments,
            "blocks": blocks,
        }

    def _segments_and_blocks(self, index: int) -> tuple[list[entities.Segment] | None, list[entities.Block] | None]:
        """In order of their addresses; on the wire the segments lie one after the other from 0 on. None where there are many."""
        ordered_segments: list[entities.Segment] = []
        blocks: list[entities.Block] = []
        offset, storages = 0, self._storages.uids_by_address("cuda")
        segments = [segment for segment in _snapshot() if segment["device"] == index]
        for segment in sorted(segments, key=lambda segment_row: int(segment_row["address"])):
            pointer = segment["address"]
            for block in segment["blocks"]:
                facts: entities.Block = {"address": offset, "size": block["size"], "state": block["state"]}
                if block["state"] != "inactive" and 0 < block.get("requested_size", 0) < block["size"]:
                    facts["requested"] = block["requested_size"]
                storage = storages.get(pointer) if block["state"] == "active_allocated" else None
                if storage is not None:
                    facts["storage"] = storage
                blocks.append(facts)
                pointer, offset = pointer + block["size"], offset + block["size"]
            size = sum(block["size"] for block in segment["blocks"])
            ordered_segments.append({"size": size, "pool": segment["segment_type"]})
        return (ordered_segments, blocks) if len(blocks) <= MAX_BLOCKS else (None, None)


def common_prefix_and_suffix(old: list[entities.Block], new: list[entities.Block]) -> tuple[int, int]:
    """How many blocks are the same at the beginning of both lists, and how many of the others at the end."""
    most = min(len(old), len(new))
    start = next((k for k in range(most) if old[k] != new[k]), most)
    end = next((k for k in range(most - start) if old[-1 - k] != new[-1 - k]), most - start)
    return start, end
