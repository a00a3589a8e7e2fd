"""Memory and disk of this machine, or of the container that limits them."""

import math
import os
import shutil
from pathlib import Path

RESERVED_MEMORY = 1_500_000_000
"""Bytes for the server, the first process and everything else on the machine."""

CGROUPS = (
    (Path("/sys/fs/cgroup"), "memory.current", "inactive_file"),
    (Path("/sys/fs/cgroup/memory"), "memory.usage_in_bytes", "total_inactive_file"),
)
"""Where a container's memory use is found: the folder, the file with the bytes in use, and the `memory.stat` entry for
cached files that could be dropped."""

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def total_memory() -> int:
    """Bytes of memory of the machine, or of the container if it is limited to less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(path).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return total


def available_memory() -> int | None:
    """Bytes that programs could still get, of the machine or of its container; None where the kernel does not say."""
    left = read_kernel_value(Path("/proc/meminfo"), "MemAvailable:")
    for folder, usage, inactive in CGROUPS:
        try:
            used = int((folder / usage).read_text()) - (read_kernel_value(folder / "memory.stat", inactive) or 0)
        except (OSError, ValueError):
            continue
        left = min(left, max(0, total_memory() - used)) if left is not None else None
    return left


def read_kernel_value(file: Path, name: str) -> int | None:
    """The bytes listed under this name in one of the kernel's files of names and numbers."""
    try:
        words = next(words for line in file.read_text().splitlines() if (words := line.split())[:1] == [name])
        return int(words[1]) * (1024 if words[2:] == ["kB"] else 1)
    except (OSError, ValueError, StopIteration):
        return None


def resident_memory(pid: int | str = "self") -> int | None:
    """Bytes that a process has in memory, including those shared with others."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def disk_space(folder: Path) -> tuple[int, int]:
    """Free and total bytes of the disk that a folder is on, or will be on once it is created."""
    for path in (folder.absolute(), *folder.absolute().parents):
        try:
            usage = shutil.disk_usage(path)
        except OSError:
            continue
        return usage.free, usage.total
    return 0, 0


def max_workers_for_memory(memory: int) -> int:
    """How many programs that may use this many bytes each can run at once; at least one."""
    return max(1, (total_memory() - RESERVED_MEMORY) // memory)


def seconds_waited_for_processor(pid: int) -> float:
    """Seconds that the main thread of a process was ready to run while others had the processor.

    0 where the kernel does not count them.
    """
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def processor_seconds(pid: int) -> float:
    """Seconds of processor time that a process has had; infinity where that can't be read."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS
