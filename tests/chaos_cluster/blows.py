"""What is done to the cluster, one after the other, each until all of it is back."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.chaos_cluster.cluster import Cluster, Worker

CUT = 12.0
"""Seconds for which a network is cut: a run is lost after five."""

BROKER_AWAY = 2.0
"""Seconds between the end of Redis and its start."""

DRAIN = 60.0
"""Seconds for a worker that is asked to end."""


@dataclass
class Blow:
    """One that was dealt. at, over: when it began, and when all workers were there again, as `time.monotonic`.

    mended: when what was broken was whole again, or a new worker started. wrong: what should not have been.
    """

    name: str
    at: float
    mended: float = 0.0
    over: float = 0.0
    wrong: str = ""


def kill(cluster: Cluster) -> Blow:
    """SIGKILL to a worker; its children end by themselves, and a new one is started in its place."""
    worker = cluster.workers[0]
    blow = Blow(f"kill -9 {worker.name}", time.monotonic())
    assert worker.process is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait_until_ended(10)
    until = time.monotonic() + 15
    while worker.workers() and time.monotonic() < until:
        time.sleep(0.05)
    if worker.workers():
        blow.wrong = f"{len(worker.workers())} processes of a killed worker live on"
    replace(cluster, worker, blow)
    return blow


def cut(cluster: Cluster) -> Blow:
    """A worker's link goes down, and up again."""
    worker = cluster.workers[1]
    blow = Blow(f"network of {worker.name} cut for {CUT:.0f} s", time.monotonic())
    worker.host.cut()
    time.sleep(CUT)
    worker.host.heal()
    blow.mended = time.monotonic()
    cluster.wait_until_complete()
    return blow


def restart_redis(cluster: Cluster) -> Blow:
    """Redis ends, and starts again with what it had written."""
    blow = Blow(f"Redis away for {BROKER_AWAY:.0f} s", time.monotonic())
    cluster.redis.end()
    time.sleep(BROKER_AWAY)
    cluster.redis.start()
    blow.mended = time.monotonic()
    time.sleep(1.5)  # what the web processes count is a second old
    cluster.wait_until_complete()
    return blow


def drain(cluster: Cluster) -> Blow:
    """SIGTERM to a worker: it ends what runs, and then itself; a new one is started."""
    worker = cluster.workers[2]
    blow = Blow(f"drain {worker.name}", time.monotonic())
    os.kill(worker.pid, signal.SIGTERM)
    try:
        status = worker.wait_until_ended(DRAIN)
        if status:
            blow.wrong = f"a drained worker ended with {status}"
    except subprocess.TimeoutExpired:
        blow.wrong = f"a worker does not end within {DRAIN:.0f} s of SIGTERM"
    replace(cluster, worker, blow)
    return blow


def replace(cluster: Cluster, worker: Worker, blow: Blow) -> None:
    """Start another in its place, and wait until it works."""
    cluster.workers[cluster.workers.index(worker)] = cluster.start_worker(worker.host)
    blow.mended = time.monotonic()
    cluster.wait_until_complete()


ALL: tuple[Callable[[Cluster], Blow], ...] = (kill, cut, restart_redis, drain)


def deal_all(cluster: Cluster, seconds: float, say: Callable[[str], None]) -> list[Blow]:
    """Deal all of them within so many seconds, where they need no longer. say: takes what happens, a line each."""
    began, blows = time.monotonic(), []
    for number, deal in enumerate(ALL):
        time.sleep(max(seconds / 20, began + seconds * (0.1 + 0.22 * number) - time.monotonic()))
        blow = deal(cluster)
        blow.over = time.monotonic()
        blows.append(blow)
        say(
            f"{blow.at - began:5.1f} s  {blow.name}; all workers there {blow.over - blow.mended:.1f} s after that was mended"
        )
    time.sleep(max(seconds / 20, began + seconds - time.monotonic()))
    return blows
