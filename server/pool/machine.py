"""What this machine, or the container that is all of it we see, has for programs."""

import os
import shutil
from pathlib import Path

BASE = 1_500_000_000
"""Bytes for the server, the first process and everything else on the machine."""


CGROUPS = (
    (Path("/sys/fs/cgroup"), "memory.current", "inactive_file"),
    (Path("/sys/fs/cgroup/memory"), "memory.usage_in_bytes", "total_inactive_file"),
)
"""Where a container's memory is told: what is used of it, and what of that are files that could be let go."""


def memory() -> int:
    """Bytes of the machine, or of the container where that has fewer."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            whole = min(whole, int(Path(place).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return whole


def available() -> int | None:
    """Bytes that programs could still have, of the machine or of its container; None where nobody says."""
    left = told(Path("/proc/meminfo"), "MemAvailable:")
    for folder, used, idle in CGROUPS:
        try:
            held = int((folder / used).read_text()) - (told(folder / "memory.stat", idle) or 0)
        except (OSError, ValueError):
            continue
        left = min(left, max(0, memory() - held)) if left is not None else None
    return left


def told(file: Path, name: str) -> int | None:
    """A line's bytes, in one of the kernel's files of names and numbers."""
    try:
        words = next(line.split() for line in file.read_text().splitlines() if line.startswith(f"{name} "))
        return int(words[1]) * (1024 if words[2:] == ["kB"] else 1)
    except (OSError, ValueError, StopIteration):
        return None


def taken(pid: int | str = "self") -> int | None:
    """Bytes that a process has in memory, what it shares with others included."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def disk(folder: Path) -> tuple[int, int]:
    """Bytes that are free where a folder lies, or will lie once it is made; and all there are."""
    for place in (folder.absolute(), *folder.absolute().parents):
        try:
            usage = shutil.disk_usage(place)
        except OSError:
            continue
        return usage.free, usage.total
    return 0, 0


def room(each: int) -> int:
    """How many programs that take so many bytes can run at once; at least one."""
    return max(1, (memory() - BASE) // each)
