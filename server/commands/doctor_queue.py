"""The part of `doctor` about the queue that web processes and workers share. Importing it needs `gradbox[cluster]`."""

from collections.abc import Iterator, Mapping
from typing import Any

from server.commands.doctor_verdict import CheckResult
from server.pool.remote.broker import BrokerError, create_broker_connections
from server.pool.remote.census import read_worker_records
from server.pool.remote.messages import WorkerRecord
from server.quantity_formats import format_bytes
from server.settings import Settings

MIN_REDIS_VERSION = 7
"""The oldest major version of Redis that the queue can use."""


async def check_queue(settings: Settings) -> list[CheckResult]:
    """Check that the broker answers, keeps its data, and has workers."""
    broker = create_broker_connections(settings.queue_url)
    try:
        facts: dict[str, Any] = await broker.info()
        workers, _ = await read_worker_records(broker)
    except BrokerError as error:
        return [("queue", "none", f"the Redis of GRADBOX_QUEUE_URL does not answer ({type(error).__name__})")]
    finally:
        await broker.aclose()
    return [*check_redis_info(facts), *check_worker_records(workers)]


def check_redis_info(facts: Mapping[str, Any]) -> Iterator[CheckResult]:
    """Return rows about a Redis server.

    facts: its reply to INFO
    """
    version = str(facts.get("redis_version", "?"))
    major = version.partition(".")[0]
    old = (
        f"it needs Redis {MIN_REDIS_VERSION} or newer" if not major.isdigit() or int(major) < MIN_REDIS_VERSION else ""
    )
    yield "queue", f"Redis {version}", old
    persistence = "log on disk" if facts.get("aof_enabled") else "memory only"
    lost = "" if facts.get("aof_enabled") else "a restart of Redis forgets the programs that wait: appendonly yes"
    yield "broker, persistence", persistence, lost
    policy = str(facts.get("maxmemory_policy", "?"))
    bound = int(facts.get("maxmemory", 0))
    forgets = "" if policy == "noeviction" or not bound else "it drops what waits when memory is full: noeviction"
    used = format_bytes(int(facts.get("used_memory", 0)))
    yield "broker, memory", f"{used} of {format_bytes(bound) if bound else 'any size'}, {policy}", forgets


def check_worker_records(workers: list[WorkerRecord]) -> Iterator[CheckResult]:
    """Return rows about the workers that are alive. Each sends a heartbeat every second."""
    taking = [worker for worker in workers if not worker.draining]
    capacity = sum(worker.capacity for worker in taking if worker.queue == "cpu")
    problem = "" if capacity else "no worker takes programs: python -m server worker --queue cpu"
    yield "queue, workers", f"{len(taking)}, for {capacity} programs at once", problem
    versions = {worker.versions.get("torch", "?") for worker in taking}
    if len(versions) > 1:
        yield "workers' torch", ", ".join(sorted(versions)), "a program's trace depends on the worker that it comes to"
    for worker in taking:
        missing = sorted(name for name, why in worker.layers.items() if why and name != "uid")
        if missing:
            yield f"layers of {worker.name}", "missing", ", ".join(missing)
