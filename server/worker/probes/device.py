"""A GPU's memory as torch's caching allocator has it: what tensors hold, what it keeps, the most it ever held, its blocks.

Asked of the allocator's own books; nothing is launched on the device and nothing waits for it.
"""

from collections.abc import Callable
from typing import Any

import torch

from server.worker.trace_delta import TraceDelta
from server.worker.uids import UidAllocator

_snapshot: Any = torch.cuda.memory_snapshot

MAX_BLOCKS = 1000
"""Blocks that are told; a run that has more is told by its sums alone."""


class Devices:
    """The devices of a run; none where it runs on the CPU. on: the storages of a kind of device, by address."""

    def __init__(
        self, uids: UidAllocator, picture: TraceDelta, storages_by_address: Callable[[str], dict[int, str]]
    ) -> None:
        self._uids, self._picture, self._storages_by_address = uids, picture, storages_by_address
        self._names: dict[int, str] = {}

    def reset_peaks(self) -> None:
        """The program begins: its peak counts from here."""
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            for index in range(torch.cuda.device_count()):
                torch.cuda.reset_peak_memory_stats(index)
                self._names[index] = self._uids.allocate("d")

    def observe(self) -> None:
        for index, uid in self._names.items():
            self._picture.update(uid, self._facts(index))

    def _facts(self, index: int) -> dict[str, Any]:
        return {
            "kind": "device",
            "name": torch.cuda.get_device_name(index),
            "allocated": torch.cuda.memory_allocated(index),
            "reserved": torch.cuda.memory_reserved(index),
            "peak": torch.cuda.max_memory_allocated(index),
            "blocks": self._blocks(index),
        }

    def _blocks(self, index: int) -> list[dict[str, Any]] | None:
        """In order of their addresses; on the wire the segments lie one after the other from 0 on."""
        blocks: list[dict[str, Any]] = []
        offset, storages = 0, self._storages_by_address("cuda")
        segments = [segment for segment in _snapshot() if segment["device"] == index]
        for segment in sorted(segments, key=lambda segment_row: int(segment_row["address"])):
            pointer = segment["address"]
            for block in segment["blocks"]:
                described = {"address": offset, "size": block["size"], "state": block["state"]}
                storage = storages.get(pointer) if block["state"] == "active_allocated" else None
                blocks.append(described if storage is None else {**described, "storage": storage})
                pointer, offset = pointer + block["size"], offset + block["size"]
        return blocks if len(blocks) <= MAX_BLOCKS else None
