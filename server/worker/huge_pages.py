"""Lays the zygote's memory in huge pages: a fork then copies hundreds of page table entries, not a hundred thousand."""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

HUGE_PAGE = 2 << 20
"""Bytes of a huge page, on x86-64 and on arm64 with pages of 4 KiB."""

MAX_BLOCK, BLOCK_STEP = 160, 16
"""CPython keeps small objects in pools of blocks, a pool for each step of sizes; most need at most MAX_BLOCK bytes."""

FREE_BLOCKS = 8000
"""Blocks of one size that are filled: more than are ever free after the preload."""

_MADV_COLLAPSE = 25

_libc = ctypes.CDLL(None, use_errno=True)


def fill_free_blocks() -> list[bytes]:
    """Allocate objects into the free blocks between the objects that live, and return them; the caller keeps them.

    A child's own objects then lie together on few pages; each would otherwise cost a copy of a page that is shared.
    """
    overhead = sys.getsizeof(b"")
    sizes = range(overhead + 1, MAX_BLOCK + 1, BLOCK_STEP)
    return [bytes(size - overhead) for size in sizes for _ in range(FREE_BLOCKS)]


def collapse_memory() -> int:
    """Collapse all anonymous writable memory into huge pages; returns how many bytes were collapsed.

    Needs Linux 6.1. Where the kernel can't, or has no huge page free, the memory stays as it is and works as well: a
    child that writes to a huge page gets a small one of its own.
    """
    collapsed = 0
    for begin, end in anonymous_mappings():
        for address in range(-(-begin // HUGE_PAGE) * HUGE_PAGE, end - HUGE_PAGE + 1, HUGE_PAGE):
            collapsed += _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(HUGE_PAGE), _MADV_COLLAPSE) == 0
    return collapsed * HUGE_PAGE


def anonymous_mappings() -> Iterator[tuple[int, int]]:
    """Begin and end address of each writable mapping that belongs to no file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights == "rw-p" and (not name or name[0] == "[heap]"):
            begin, end = addresses.split("-")
            yield int(begin, 16), int(end, 16)
