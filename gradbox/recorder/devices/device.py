"""A GPU's memory according to torch's caching allocator: what tensors hold, what the allocator caches, the peak, and
its segments with their blocks.

All numbers come from the allocator's own records; nothing is launched on the device and nothing waits for it.
"""

from typing import Any

import torch

from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.storages import Storages
from gradbox.wire import entities
from gradbox.wire.entities import MAX_BLOCKS

DEFAULT_POOL_ID = (0, 0)
"""The pool of segments that belongs to no graph and to no `torch.cuda.MemPool`."""

memory_snapshot: Any = torch.cuda.memory_snapshot
memory_statistics: Any = torch.cuda.memory_stats_as_nested_dict


class DeviceMemory(Probe):
    """The devices of a run; empty if it runs on the CPU."""

    def __init__(self, context: ProbeContext, storages: Storages) -> None:
        super().__init__(context)
        self._uids, self._storages = context.uids, storages
        self._allocators: dict[int, CachingAllocator] = {}

    def start_tracking_memory(self) -> None:
        """Start counting the peak, as the program begins."""
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            for index in range(torch.cuda.device_count()):
                torch.cuda.reset_peak_memory_stats(index)
                self._allocators[index] = CachingAllocator(self._uids.allocate_uid("d"), index)

    def update_delta(self, observation: Observation) -> None:  # noqa: ARG002
        if not self._allocators:
            return
        storages = self._storages.uids_by_address("cuda")
        for allocator in self._allocators.values():
            if allocator.has_changed_since_last_call(storages):
                self._report_device_facts(allocator.uid, allocator.device_record(storages))

    def _report_device_facts(self, uid: str, facts: entities.Device) -> None:
        """Report what has changed; if few blocks have, report those alone."""
        old, new = self._delta.state.get(uid, {}).get("blocks"), facts["blocks"]
        if not old or not new or old == new:
            self._delta.update_entity(uid, facts)
            return
        start, end = common_prefix_and_suffix_lengths(old, new)
        if 2 * (len(new) - start - end) > len(new):
            self._delta.update_entity(uid, facts)
        else:
            self._delta.splice_blocks(uid, facts, (start, len(old) - start - end, new[start : len(new) - end]))


class CachingAllocator:
    """The caching allocator of one device, with its segments in order of allocation.

    index: the number of the device
    """

    def __init__(self, uid: str, index: int) -> None:
        self.uid, self._index = uid, index
        self._name: str = torch.cuda.get_device_name(index)
        self._statistics: dict[str, Any] = {}
        self._reported: Any = None
        self._places: dict[int, int] = {}  # of segments, by their addresses
        self._streams: dict[int, int] = {0: 0}  # numbers of streams, by their handles

    def has_changed_since_last_call(self, storages: dict[int, str]) -> bool:
        """Whether anything has to be reported since the last call.

        storages: uids by address
        """
        self._statistics = memory_statistics(self._index)
        reported = self._statistics, storages
        has_changed = bool(reported != self._reported)
        self._reported = reported
        return has_changed

    def device_record(self, storages: dict[int, str]) -> entities.Device:
        """All facts of the device.

        storages: uids by address
        """
        allocated, reserved = self._statistics["allocated_bytes"]["all"], self._statistics["reserved_bytes"]["all"]
        segments, blocks = self._segments_and_blocks(storages)
        return {
            "kind": "device",
            "name": self._name,
            "allocated": allocated["current"],
            "reserved": reserved["current"],
            "peak": allocated["peak"],
            "segments": segments,
            "blocks": blocks,
        }

    def _segments_and_blocks(
        self, storages: dict[int, str]
    ) -> tuple[list[entities.Segment] | None, list[entities.Block] | None]:
        """The segments and blocks for the wire, where the segments follow each other from address 0. None if there are
        too many blocks."""
        segments: list[entities.Segment] = []
        blocks: list[entities.Block] = []
        offset = 0
        for segment in self._segments_by_age():
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
            segments.append(self._segment_facts(segment))
        return (segments, blocks) if len(blocks) <= MAX_BLOCKS else (None, None)

    def _segments_by_age(self) -> list[dict[str, Any]]:
        """The segments of the device in order of allocation, which their addresses do not show."""
        segments = sorted(
            (segment for segment in memory_snapshot() if segment["device"] == self._index),
            key=lambda segment: int(segment["address"]),
        )
        last = max(self._places.values(), default=0)
        places = {
            segment["address"]: self._places.get(segment["address"], last + k) for k, segment in enumerate(segments, 1)
        }
        self._places = places
        return sorted(segments, key=lambda segment: places[segment["address"]])

    def _segment_facts(self, segment: dict[str, Any]) -> entities.Segment:
        size = sum(block["size"] for block in segment["blocks"])
        facts: entities.Segment = {"size": size, "pool": segment["segment_type"]}
        stream = self._streams.setdefault(segment.get("stream", 0), len(self._streams))
        if stream:
            facts["stream"] = stream
        if tuple(segment.get("segment_pool_id", DEFAULT_POOL_ID)) != DEFAULT_POOL_ID:
            facts["private"] = True
        return facts


def common_prefix_and_suffix_lengths(old: list[entities.Block], new: list[entities.Block]) -> tuple[int, int]:
    """How many blocks are the same at the beginning of both lists, and how many of the rest at the end."""
    most = min(len(old), len(new))
    start = next((k for k in range(most) if old[k] != new[k]), most)
    end = next((k for k in range(most - start) if old[-1 - k] != new[-1 - k]), most - start)
    return start, end
