"""Lays the memory of the first process in huge pages: a fork then copies hundreds of entries, not a hundred thousand."""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

HUGE = 2 << 20
"""Bytes of a huge page, on x86-64 and on arm64 with pages of 4 KiB."""

SMALL, STEP = 160, 16
"""CPython keeps small objects in pools, a pool for each step of sizes; most are of these."""

FREE = 8000
"""Places of one size that are filled: more than are ever free after `warm`."""

_MADV_COLLAPSE = 25

_libc = ctypes.CDLL(None, use_errno=True)


def fill() -> list[bytes]:
    """What takes the free places between the objects that live; to be kept. A child's own then lie together on few pages,
    where each else would cost it a copy of one that it shares."""
    least = sys.getsizeof(b"")
    return [bytes(size - least) for size in range(least + 1, SMALL + 1, STEP) for _ in range(FREE)]


def gather() -> int:
    """Collapse what is nobody's file and can be written; how many bytes were.

    Linux can from version 6.1 on. Where it can't, or has no huge page free, all stays as it is and works as well: a child
    that writes to a huge page gets a small one of its own.
    """
    done = 0
    for begin, end in writable():
        for place in range(-(-begin // HUGE) * HUGE, end - HUGE + 1, HUGE):
            done += _libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(HUGE), _MADV_COLLAPSE) == 0
    return done * HUGE


def writable() -> Iterator[tuple[int, int]]:
    """Where memory that belongs to no file begins and ends."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights == "rw-p" and (not name or name[0] == "[heap]"):
            begin, end = place.split("-")
            yield int(begin, 16), int(end, 16)
