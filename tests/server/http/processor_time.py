"""How much of the processor's time something takes, as a machine of a known speed would: the bounds of tests hold on a
slow one."""

import time
from collections.abc import Callable

REFERENCE_SECONDS = 0.0008
"""Seconds that `reference_work` takes where the bounds were chosen."""


def reference_work() -> int:
    """Work that is always the same."""
    total = 0
    for k in range(8000):
        total += k * k % 7
    return total


def seconds_of_thread(work: Callable[[], object]) -> float:
    """Seconds of the processor that this thread takes for it."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def slowness() -> float:
    """How many times as long this machine takes for the same work now: it may be slow, or share its caches with others;
    1 for a faster one."""
    return max(1.0, min(seconds_of_thread(reference_work) for _ in range(3)) / REFERENCE_SECONDS)


def compared_seconds(work: Callable[[], object]) -> float:
    """Seconds of the processor that this thread would take for it where the bounds were chosen."""
    before = slowness()
    return seconds_of_thread(work) / max(before, slowness())
