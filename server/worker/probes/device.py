"""A GPU's memory as torch's caching allocator has it: what tensors hold, what it keeps, the most it ever held, its blocks.

Asked of the allocator's own books; nothing is launched on the device and nothing waits for it.
"""

from collections.abc import Callable
from typing import Any

import torch

from server.worker.names import Uids
from server.worker.picture import Picture

_snapshot: Any = torch.cuda.memory_snapshot

BLOCKS = 1000
"""Blocks that are told; a run that has more is told by its sums alone."""


class Devices:
    """The devices of a run; none where it runs on the CPU. on: the storages of a kind of device, by address."""

    def __init__(self, uids: Uids, picture: Picture, on: Callable[[str], dict[int, str]]) -> None:
        self._uids, self._picture, self._on = uids, picture, on
        self._names: dict[int, str] = {}

    def open(self) -> None:
        """The program begins: its peak counts from here."""
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            for index in range(torch.cuda.device_count()):
                torch.cuda.reset_peak_memory_stats(index)
                self._names[index] = self._uids.fresh("d")

    def look(self) -> None:
        for index, uid in self._names.items():
            self._picture.put(uid, self._facts(index))

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
        found: list[dict[str, Any]] = []
        place, storages = 0, self._on("cuda")
        segments = [segment for segment in _snapshot() if segment["device"] == index]
        for segment in sorted(segments, key=lambda one: int(one["address"])):
            pointer = segment["address"]
            for block in segment["blocks"]:
                told = {"address": place, "size": block["size"], "state": block["state"]}
                storage = storages.get(pointer) if block["state"] == "active_allocated" else None
                found.append(told if storage is None else {**told, "storage": storage})
                pointer, place = pointer + block["size"], place + block["size"]
        return found if len(found) <= BLOCKS else None
