"""A GPU's memory as torch's caching allocator has it: what tensors hold, what it keeps, the most it ever held, its blocks.

Asked of the allocator's own books; nothing is launched on the device and nothing waits for it.
"""

from typing import Any

import torch

from server.wire import entities
from server.worker.observation import Observation
from server.worker.probes.probe import Probe, ProbeContext
from server.worker.probes.storages import Storages

_snapshot: Any = torch.cuda.memory_snapshot

MAX_BLOCKS = 1000
"""Blocks that are listed; of a run that has more only the sums are reported."""


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
            self._delta.update(uid, self._facts(index))

    def _facts(self, index: int) -> entities.Device:
        return {
            "kind": "device",
            "name": torch.cuda.get_device_name(index),
            "allocated": torch.cuda.memory_allocated(index),
            "reserved": torch.cuda.memory_reserved(index),
            "peak": torch.cuda.max_memory_allocated(index),
            "blocks": self._blocks(index),
        }

    def _blocks(self, index: int) -> list[entities.Block] | None:
        """In order of their addresses; on the wire the segments lie one after the other from 0 on."""
        blocks: list[entities.Block] = []
        offset, storages = 0, self._storages.by_address("cuda")
        segments = [segment for segment in _snapshot() if segment["device"] == index]
        for segment in sorted(segments, key=lambda segment_row: int(segment_row["address"])):
            pointer = segment["address"]
            for block in segment["blocks"]:
                facts: entities.Block = {"address": offset, "size": block["size"], "state": block["state"]}
                storage = storages.get(pointer) if block["state"] == "active_allocated" else None
                if storage is not None:
                    facts["storage"] = storage
                blocks.append(facts)
                pointer, offset = pointer + block["size"], offset + block["size"]
        return blocks if len(blocks) <= MAX_BLOCKS else None
