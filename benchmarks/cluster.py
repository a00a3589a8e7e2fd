"""What workers elsewhere cost and bring, with a Redis and worker processes on this machine: `python -m benchmarks.cluster`.

Prints the milliseconds of a small program in the local pool and in the remote one, which take turns run by run, so that both
meet the same machine, and the difference of the medians; the runs a second of the remote pool with 1, 2 and 4 workers of one
program each; and how long twenty visitors with one run each wait beside one who has asked for as many as he may.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

from gradbox.wire.api import Job
from server.cluster.parts import create_pool
from server.pool.interface import PoolInterface
from server.pool.local import Pool
from server.pool.zygote import PREPARE
from server.settings import Settings
from server.store.database import Database
from server.visitors.clients import Client
from server.wire.problems import Busy
from tests.support.brokers import SECRET, RedisServer, WorkerProcess, running_redis

PROGRAM = "import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad, {token})\n"
VISITORS = 20
PARTS = ("latency", "throughput", "fairness")
PERCENTILES = (("p10", 0.1), ("p50", 0.5), ("p99", 0.99))
"""What is printed of latencies; other work on the machine is felt least in the fastest tenth."""

REST_SECONDS = 0.02
"""Seconds before each run of `latencies`, in which the other pool has its next child ready."""


async def run_timed(pool: PoolInterface, token: int, client: Client) -> float:
    """Seconds of a run, whose program is like no other. Raises Busy."""
    began = time.perf_counter()
    trace = await pool.run_job(Job(source=PROGRAM.format(token=token), limits=Settings({}).run_limits()), client)
    assert trace.status == "finished", trace.status
    assert str(token) in trace.decoded().model_dump_json(), "the trace of another program"
    return time.perf_counter() - began


async def latencies(
    local_pool: PoolInterface, remote_pool: PoolInterface, runs: int
) -> tuple[list[float], list[float]]:
    """Seconds of runs in two pools, one after the other, each first in every other pair."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for k in range(runs):
        for which in (k % 2, 1 - k % 2):
            pool, client = (local_pool, remote_pool)[which], Client("a", "a")
            await asyncio.sleep(REST_SECONDS)
            seconds[which].append(await run_timed(pool, 1_000_000 + k, client))
    return seconds


async def throughput(pool: PoolInterface, runs: int) -> float:
    """Runs a second, while as many are asked for as workers have, and two more."""
    slots = asyncio.Semaphore(pool.worker_count + 2)

    async def one(k: int) -> None:
        async with slots:
            await run_timed(pool, 2_000_000 + k, Client(str(k), str(k)))

    began = time.perf_counter()
    await asyncio.gather(*(one(k) for k in range(runs)))
    return runs / (time.perf_counter() - began)


async def fairness(pool: PoolInterface) -> tuple[list[float], list[float], int]:
    """Seconds of the runs of twenty visitors, those of the greedy one before them, and how many he was refused."""
    greedy = [asyncio.create_task(run_timed(pool, 3_000_000 + k, Client("greedy", "greedy"))) for k in range(40)]
    await asyncio.sleep(0.05)
    others = await asyncio.gather(*(run_timed(pool, 4_000_000 + k, Client(f"v{k}", f"v{k}")) for k in range(VISITORS)))
    results = await asyncio.gather(*greedy, return_exceptions=True)
    served = [result for result in results if isinstance(result, float)]
    return list(others), served, sum(isinstance(result, Busy) for result in results)


async def with_pool(pool: PoolInterface, work: Callable[[PoolInterface], Awaitable[Any]]) -> Any:
    await pool.start()
    try:
        await pool.wait_until_booted()
        await asyncio.sleep(1.5)  # the census has seen all workers
        await run_timed(pool, 0, Client("", ""))
        return await work(pool)
    finally:
        await pool.close()


def run_on_cluster(
    redis: RedisServer, workers: int, at_once: int, work: Callable[[PoolInterface], Awaitable[Any]]
) -> Any:
    """Do this with so many workers, each of so many programs at once."""

    async def main() -> Any:
        database = Database("", redis.folder / "data")
        settings = Settings({}, queue_url=redis.url, secret=SECRET)
        try:
            return await with_pool(create_pool(settings, database), work)
        finally:
            await database.close()

    with ExitStack() as ending:
        started = [
            WorkerProcess(redis.url, redis.folder, PREPARE, WORKERS=str(at_once), SANDBOX="best")
            for _ in range(workers)
        ]
        for worker in started:
            ending.callback(worker.end)
        for worker in started:
            worker.wait_until_ready()
        return asyncio.run(main())


async def latencies_beside_local(remote: PoolInterface, runs: int) -> tuple[list[float], list[float]]:
    """`latencies` of a local pool and this one."""

    async def measure(local: PoolInterface) -> tuple[list[float], list[float]]:
        return await latencies(local, remote, runs)

    seconds: tuple[list[float], list[float]] = await with_pool(Pool(Settings({}, gpu=False)), measure)
    return seconds


def time_of_share(seconds: list[float], share: float) -> float:
    """The time within which this share of the runs was done."""
    return sorted(seconds)[int(share * (len(seconds) - 1))]


def print_latency(redis: RedisServer, runs: int) -> None:
    here, there = run_on_cluster(redis, 1, 2, lambda pool: latencies_beside_local(pool, runs))
    for name, seconds in (("local", here), ("remote", there)):
        print(
            f"{name:7} "
            + "   ".join(f"{label} {time_of_share(seconds, share) * 1000:6.1f} ms" for label, share in PERCENTILES),
            flush=True,
        )
    added = ((label, time_of_share(there, share) - time_of_share(here, share)) for label, share in PERCENTILES)
    print("added   " + "   ".join(f"{label} {seconds * 1000:6.1f} ms" for label, seconds in added), flush=True)


def print_throughput(redis: RedisServer, runs: int) -> None:
    for workers in (1, 2, 4):
        rate = run_on_cluster(redis, workers, 1, lambda pool: throughput(pool, runs))
        print(f"{workers} workers: {rate:.1f} runs a second", flush=True)


def print_fairness(redis: RedisServer) -> None:
    others, greedy, refused = run_on_cluster(redis, 1, 2, fairness)
    print(f"twenty visitors: median {statistics.median(others):.2f} s, longest {max(others):.2f} s", flush=True)
    print(f"the greedy one:  median {statistics.median(greedy):.2f} s of {len(greedy)} runs, {refused} refused")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="of each measurement")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure; by default all")
    arguments = parser.parse_args()
    with running_redis() as redis:
        if "latency" in arguments.parts:
            print_latency(redis, arguments.runs)
        if "throughput" in arguments.parts:
            print_throughput(redis, arguments.runs)
        if "fairness" in arguments.parts:
            print_fairness(redis)


if __name__ == "__main__":
    main()
