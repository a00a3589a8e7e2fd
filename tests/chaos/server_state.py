"""What can be seen of a server from outside: its workers, what it holds, what it wrote to its log."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from benchmarks.measured_server import MeasuredServer, ResourceUsage, proc_bytes, proc_stat


def wait_until(what: str, holds: Callable[[], object], max_wait: float) -> float:
    """Wait for it; the seconds that took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < max_wait, f"not within {max_wait:.0f} s: {what}"
        time.sleep(0.01)
    return time.monotonic() - began


def wait_until_gone(server: MeasuredServer, pids: set[int], max_wait: float) -> float:
    """Wait until these workers of it are gone; the seconds that took."""
    return wait_until(f"the workers {sorted(pids)} are gone", lambda: not pids & set(server.workers()), max_wait)


def wait_until_running(server: MeasuredServer, running: int, waiting: int = 0) -> None:
    """Wait until so many run, each with a child, and so many wait."""
    names = ('gradbox_running{queue="cpu"}', 'gradbox_waiting{queue="cpu"}', "gradbox_spare_children")

    def holds() -> bool:
        metrics = server.metrics()
        facts = *(metrics[name] for name in names), len(server.children())
        return facts == (running, waiting, 2, running + 2)

    wait_until(f"{running} run and {waiting} wait", holds, 30)


def busy_workers(server: MeasuredServer) -> list[int]:
    """The children that have used half a second of their processor."""
    workers = []
    for pid in server.children():
        with suppress(OSError):
            if int(proc_stat(pid)[11]) >= 50:
                workers.append(pid)
    return workers


def large_workers(server: MeasuredServer, size: int) -> list[int]:
    """The children that have so many bytes of memory, but for files."""
    workers = []
    for pid in server.children():
        with suppress(OSError):
            if proc_bytes(pid, "status", "RssAnon:") >= size:
                workers.append(pid)
    return workers


def assert_same_usage(before: ResourceUsage, after: ResourceUsage) -> None:
    """The server has as many processes and descriptors as before, but for the helpers that it may have started."""
    counts = [(usage.processes, usage.descriptors_besides_helpers) for usage in (before, after)]
    assert counts[0] == counts[1], f"processes and descriptors before and after: {counts}"


def log_errors(log: str) -> list[str]:
    """What a server wrote that it should not have to: failures that nobody caught, how often each."""
    counts: Counter[str] = Counter()
    lines = log.splitlines()
    for k, line in enumerate(lines):
        if line.startswith("Traceback"):
            last = next((after for after in lines[k + 1 :] if after and not after.startswith(" ")), "")
            counts[last[:150]] += 1
        elif "never retrieved" in line or "was destroyed" in line:
            counts[line[:150]] += 1
    return [f"{count} x in its log: {what}" for what, count in counts.most_common(5)]
