"""What the doctor says of a queue: of brokers and workers as they are described, and of a real Redis."""

import asyncio
from typing import Any

import pytest

from server.commands import doctor
from server.commands.doctor_queue import check_queue, check_redis_info, check_worker_records
from server.pool.remote.messages import WorkerRecord
from server.settings import Settings
from tests.support.brokers import SECRET, RedisServer

pytest_plugins = ["tests.support.brokers"]

GOOD: dict[str, Any] = {
    "redis_version": "7.4.1", "aof_enabled": 1, "maxmemory": 512_000_000, "maxmemory_policy": "noeviction", "used_memory": 2_000_000,  # noqa: E501
}  # fmt: skip


def worker(name: str, **fields: Any) -> WorkerRecord:
    return WorkerRecord(
        **{"name": name, "queue": "cpu", "capacity": 2, "running": 0, "versions": {"torch": "2.13.0"}, **fields}
    )


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, ""),
        ({"redis_version": "6.2.7"}, "it needs Redis 7 or newer"),
        ({"aof_enabled": 0}, "a restart of Redis forgets the programs that wait"),
        ({"maxmemory_policy": "allkeys-lru"}, "it drops what waits when memory is full"),
        ({"maxmemory_policy": "allkeys-lru", "maxmemory": 0}, ""),
    ],
)
def test_a_broker_without_persistence_is_reported(changed: dict[str, Any], problem: str) -> None:
    problems = [problem for _, _, problem in check_redis_info({**GOOD, **changed}) if problem]
    assert len(problems) == bool(problem) and all(found.startswith(problem) for found in problems)


def test_workers_are_counted_and_unlike_or_unconfined_ones_reported() -> None:
    rows = {subject: (value, problem) for subject, value, problem in check_worker_records([])}
    assert rows["queue, workers"] == (
        "0, for 0 programs at once",
        "no worker takes programs: python -m server worker --queue cpu",
    )
    open_layers = {"landlock": "the kernel has no Landlock", "uid": "the server does not run as root", "seccomp": ""}
    records = [
        worker("cpu-a"),
        worker("cpu-b", versions={"torch": "2.12.1"}, layers=open_layers),
        worker("gpu-c", queue="gpu", capacity=1),
        worker("cpu-d", draining=True, versions={"torch": "2.1.0"}),
    ]
    rows = {subject: (value, problem) for subject, value, problem in check_worker_records(records)}
    assert rows["queue, workers"] == ("3, for 4 programs at once", "")
    assert rows["workers' torch"][0] == "2.12.1, 2.13.0" and rows["workers' torch"][1]
    assert rows["layers of cpu-b"] == ("missing", "landlock") and len(rows) == 3


def test_a_server_without_a_queue_has_no_report_of_it() -> None:
    assert doctor.check_cluster(Settings({})) == []


def test_an_absent_broker_is_reported_without_its_password() -> None:
    settings = Settings({}, queue_url="redis://:hush@127.0.0.1:9/0", secret=SECRET)
    (row,) = doctor.check_cluster(settings)
    assert row[:2] == ("queue", "none") and "does not answer" in row[2] and "hush" not in "".join(row)


def test_a_real_broker_is_described(broker: RedisServer) -> None:
    rows = {row[0]: row for row in asyncio.run(check_queue(Settings({}, queue_url=broker.url, secret=SECRET)))}
    assert rows["queue"][1].startswith("Redis ") and rows["broker, persistence"] == (
        "broker, persistence",
        "log on disk",
        "",
    )
    assert "queue, workers" in rows
