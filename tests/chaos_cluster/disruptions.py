"""What is done to the cluster, one after the other, each until all of it is back."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.chaos_cluster.cluster import Cluster, Worker

CUT_SECONDS = 12.0
"""Seconds for which a network is cut: a run is lost after five."""

REDIS_DOWN_SECONDS = 2.0
"""Seconds between the end of Redis and its start."""

DRAIN_SECONDS = 60.0
"""Seconds for a worker that is asked to end."""


@dataclass
class Disruption:
    """One that was dealt.

    at, recovered: when it began, and when all workers were there again, as `time.monotonic` repaired: when what was
        broken was whole again, or a new worker started problem: what should not have been
    """

    name: str
    at: float
    repaired: float = 0.0
    recovered: float = 0.0
    problem: str = ""


def kill(cluster: Cluster) -> Disruption:
    """SIGKILL to a worker; its children end by themselves, and a new one is started in its place."""
    worker = cluster.workers[0]
    disruption = Disruption(f"kill -9 {worker.name}", time.monotonic())
    assert worker.process is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait_until_ended(10)
    until = time.monotonic() + 15
    while worker.workers() and time.monotonic() < until:
        time.sleep(0.05)
    if worker.workers():
        disruption.problem = f"{len(worker.workers())} processes of a killed worker live on"
    replace(cluster, worker, disruption)
    return disruption


def cut(cluster: Cluster) -> Disruption:
    """A worker's link goes down, and up again."""
    worker = cluster.workers[1]
    disruption = Disruption(f"network of {worker.name} cut for {CUT_SECONDS:.0f} s", time.monotonic())
    worker.host.cut()
    time.sleep(CUT_SECONDS)
    worker.host.heal()
    disruption.repaired = time.monotonic()
    cluster.wait_until_complete()
    return disruption


def restart_redis(cluster: Cluster) -> Disruption:
    """Redis ends, and starts again with what it had written."""
    disruption = Disruption(f"Redis away for {REDIS_DOWN_SECONDS:.0f} s", time.monotonic())
    cluster.redis.end()
    time.sleep(REDIS_DOWN_SECONDS)
    cluster.redis.start()
    disruption.repaired = time.monotonic()
    time.sleep(1.5)  # what the web processes count is a second old
    cluster.wait_until_complete()
    return disruption


def drain(cluster: Cluster) -> Disruption:
    """SIGTERM to a worker: it ends what runs, and then itself; a new one is started."""
    worker = cluster.workers[2]
    disruption = Disruption(f"drain {worker.name}", time.monotonic())
    os.kill(worker.pid, signal.SIGTERM)
    try:
        status = worker.wait_until_ended(DRAIN_SECONDS)
        if status:
            disruption.problem = f"a drained worker ended with {status}"
    except subprocess.TimeoutExpired:
        disruption.problem = f"a worker does not end within {DRAIN_SECONDS:.0f} s of SIGTERM"
    replace(cluster, worker, disruption)
    return disruption


def replace(cluster: Cluster, worker: Worker, disruption: Disruption) -> None:
    """Start another in its place, and wait until it works."""
    cluster.workers[cluster.workers.index(worker)] = cluster.start_worker(worker.host)
    disruption.repaired = time.monotonic()
    cluster.wait_until_complete()


ALL: tuple[Callable[[Cluster], Disruption], ...] = (kill, cut, restart_redis, drain)


def disrupt_all(cluster: Cluster, seconds: float, say: Callable[[str], None]) -> list[Disruption]:
    """Deal all of them within so many seconds, where they need no longer.

    say: takes what happens, a line each
    """
    began, disruptions = time.monotonic(), []
    for number, deal in enumerate(ALL):
        time.sleep(max(seconds / 20, began + seconds * (0.1 + 0.22 * number) - time.monotonic()))
        disruption = deal(cluster)
        disruption.recovered = time.monotonic()
        disruptions.append(disruption)
        say(
            f"{disruption.at - began:5.1f} s  {disruption.name}; all workers there {disruption.recovered - disruption.repaired:.1f} s after that was mended"  # noqa: E501
        )
    time.sleep(max(seconds / 20, began + seconds - time.monotonic()))
    return disruptions
