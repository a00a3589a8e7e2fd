"""A GPU for the recorder where there is none: the few functions of `torch.cuda` that it asks, over an allocator that
keeps books as torch's caching one does for the program's storages, and writes them in the form of
`torch.cuda.memory_snapshot`.

`install` is to be called in the process that records, before it does.
"""

from types import SimpleNamespace
from typing import Any

from gradbox.recorder.devices import device
from gradbox.recorder.probes.storages import Storages
from server.worker import gpu

NAME = "NVIDIA H200"
ROUNDED_TO = 512
SMALL, SMALL_SEGMENT, LARGE_SEGMENT = 1 << 20, 2 << 20, 20 << 20
FIRST_ADDRESS = 0x7F0000000000

Block = dict[str, Any]


class Allocator:
    """Segments with their blocks. Small requests share segments of 2 MiB, large ones of 20; a freed block joins its
    neighbours."""

    def __init__(self) -> None:
        self.segments: list[dict[str, Any]] = []
        self.blocks: dict[str, Block] = {}  # by the uid of the storage that each holds
        self.peak = 0

    @property
    def allocated(self) -> int:
        return sum(block["size"] for block in self.blocks.values())

    @property
    def reserved(self) -> int:
        return sum(segment["total_size"] for segment in self.segments)

    def allocate(self, uid: str, nbytes: int) -> None:
        size = max(ROUNDED_TO, -(-nbytes // ROUNDED_TO) * ROUNDED_TO)
        pool = "small" if size <= SMALL else "large"
        segment, at = self._free_block(pool, size) or self._new_segment(pool, size)
        block = segment["blocks"][at]
        rest = block["size"] - size
        block.update(size=size, requested_size=nbytes, state="active_allocated")
        if rest:
            free = {"address": block["address"] + size, "size": rest, "requested_size": 0, "state": "inactive"}
            segment["blocks"].insert(at + 1, free)
        self.blocks[uid] = block
        self.peak = max(self.peak, self.allocated)

    def _free_block(self, pool: str, size: int) -> tuple[dict[str, Any], int] | None:
        """The smallest that is large enough."""
        fitting = [
            (block["size"], k, at)
            for k, segment in enumerate(self.segments)
            for at, block in enumerate(segment["blocks"])
            if segment["segment_type"] == pool and block["state"] == "inactive" and block["size"] >= size
        ]
        return (self.segments[min(fitting)[1]], min(fitting)[2]) if fitting else None

    def _new_segment(self, pool: str, size: int) -> tuple[dict[str, Any], int]:
        total = SMALL_SEGMENT if pool == "small" else max(LARGE_SEGMENT, -(-size // SMALL_SEGMENT) * SMALL_SEGMENT)
        address = FIRST_ADDRESS + self.reserved
        whole = {"address": address, "size": total, "requested_size": 0, "state": "inactive"}
        segment = {"device": 0, "address": address, "total_size": total, "segment_type": pool, "blocks": [whole]}
        self.segments.append(segment)
        return segment, 0

    def free(self, uid: str) -> None:
        block = self.blocks.pop(uid)
        block.update(state="inactive", requested_size=0)
        for segment in self.segments:
            joined: list[Block] = []
            for other in segment["blocks"]:
                if joined and joined[-1]["state"] == other["state"] == "inactive":
                    joined[-1]["size"] += other["size"]
                else:
                    joined.append(other)
            segment["blocks"] = joined


def install() -> None:
    """The recorder finds a GPU on which all storages of the program lie, whatever they say of themselves.

    A real one is hidden from this process.
    """
    gpu.hide_gpu()
    allocator = Allocator()

    def by_address(storages: Storages, _: str) -> dict[int, str]:
        sizes = {uid: record.nbytes for uid, record in storages.records.items() if record.nbytes > 0}
        for uid in [uid for uid in allocator.blocks if uid not in sizes]:
            allocator.free(uid)
        for uid, nbytes in sizes.items():
            if uid not in allocator.blocks:
                allocator.allocate(uid, nbytes)
        return {block["address"]: uid for uid, block in allocator.blocks.items()}

    cuda = SimpleNamespace(
        is_initialized=lambda: True,
        device_count=lambda: 1,
        reset_peak_memory_stats=lambda _: None,
        get_device_name=lambda _: NAME,
    )
    Storages.uids_by_address = by_address  # type: ignore[assignment]
    vars(device).update(torch=SimpleNamespace(cuda=cuda))
    device.memory_snapshot = lambda: [dict(segment) for segment in allocator.segments]
    device.memory_statistics = lambda _: {
        "allocated_bytes": {"all": {"current": allocator.allocated, "peak": allocator.peak}},
        "reserved_bytes": {"all": {"current": allocator.reserved}},
    }


def install_with_few_blocks() -> None:
    """The same, where no more than three blocks are listed."""
    install()
    vars(device).update(MAX_BLOCKS=3)
