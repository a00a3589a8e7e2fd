"""What this machine, or the container that is all of it we see, has for programs."""

import os
from pathlib import Path

BASE = 1_500_000_000
"""Bytes for the server, the first process and everything else on the machine."""


def memory() -> int:
    """Bytes of the machine, or of the container where that has fewer."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            whole = min(whole, int(Path(place).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return whole


def room(each: int) -> int:
    """How many programs that take so many bytes can run at once; at least one."""
    return max(1, (memory() - BASE) // each)
