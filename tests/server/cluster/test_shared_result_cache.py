"""Results that two web processes keep for each other, with a real Redis: found, bounded, and believed only if they are
ours."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradbox.wire.api import Job
from server.pool.cache import ResultCache
from server.pool.executions import ExecutionResult, Executions
from server.pool.local import LocalPool
from server.pool.remote import shared_broker
from server.pool.remote.shared_broker import SharedBroker
from server.runs import shared_result_cache
from server.runs.shared_result_cache import PREFIX, SharedResultCache, is_single_gzip_stream
from server.saved.large_traces import LARGE_BYTES, unpacked_size
from server.settings import Settings
from server.visitors.clients import Client
from tests.support.brokers import SECRET, STAND_IN, RedisServer, running_redis

pytest_plugins = ("tests.support.brokers",)

ANN = Client("ann", "192.0.2.1")
TRACE = gzip.compress((Path(__file__).parents[2] / "contract/schema_1.json").read_bytes())
ROOM = 1 << 20


@pytest.fixture(autouse=True)
def max_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is slow on a busy machine is not away."""
    monkeypatch.setattr(shared_broker, "TIMEOUT", 30.0)
    monkeypatch.setattr(shared_result_cache, "MAX_WAIT", 30.0)


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis of one's own."""
    with running_redis() as server:
        yield server


def keeping(url: str, work: Callable[..., Awaitable[None]], capacity: int = 1 << 20) -> None:
    """Do this with the results of two web processes, and the Redis itself."""

    async def main() -> None:
        brokers = [SharedBroker(url) for _ in range(2)]
        try:
            await work(
                *(SharedResultCache(each, SECRET.encode(), capacity, ROOM) for each in brokers), brokers[0].redis
            )
        finally:
            for each in brokers:
                await each.close()

    asyncio.run(main())


def test_a_result_stored_by_one_process_is_found_by_another(redis: RedisServer) -> None:
    async def work(one: SharedResultCache, other: SharedResultCache, broker: Any) -> None:
        assert await other.get("a") is None
        await one.put("a", TRACE)
        assert await other.get("a") == TRACE and await other.get("b") is None
        assert 3500 < await broker.ttl(PREFIX + "a") <= 3600

    keeping(redis.url, work)


def test_an_unsigned_entry_is_ignored(redis: RedisServer) -> None:
    async def work(one: SharedResultCache, other: SharedResultCache, broker: Any) -> None:
        await one.put("a", TRACE)
        entry = await broker.get(PREFIX + "a")
        forger = SharedResultCache(one._broker, b"another secret", 1 << 20, ROOM)
        await forger.put("forged", TRACE)
        await broker.set(PREFIX + "moved", entry)
        await broker.set(PREFIX + "changed", entry[:-9] + bytes([entry[-9] ^ 1]) + entry[-8:])
        await broker.set(PREFIX + "cut", entry[:-1])
        await broker.set(PREFIX + "short", b"x")
        await broker.set(PREFIX + "long", entry + bytes(2 << 20))
        for name in ("forged", "moved", "changed", "cut", "short", "long"):
            assert await other.get(name) is None, name
        assert await other.get("a") == TRACE and one._broker.reachable and other._broker.reachable
        await broker.rpush(PREFIX + "list", entry)
        assert await other.get("list") is None

    keeping(redis.url, work)


def test_a_signed_entry_that_is_not_a_trace_is_ignored(redis: RedisServer) -> None:
    async def work(one: SharedResultCache, other: SharedResultCache, _: Any) -> None:
        for body in (b"no gzip", gzip.compress(b"{}"), gzip.compress(b'{"schema":1,"steps":[1]}'), TRACE + TRACE, b""):
            await one.put("a", body)
            assert await other.get("a") is None
        await one.put("a", TRACE)
        assert await other.get("a") == TRACE

    keeping(redis.url, work)


def test_sizes_are_bounded_and_the_oldest_go_first(redis: RedisServer) -> None:
    async def work(one: SharedResultCache, other: SharedResultCache, broker: Any) -> None:
        await one.put("large", bytes(1002))
        assert not await broker.exists(PREFIX + "large")
        for k in range(30):
            await (one, other)[k % 2].put(f"{k:02}", bytes(900))
            await broker.zadd(PREFIX + "index", {f"{k:02}": 1e12 + k})  # all are of one second
        names = [key.decode() for key in await broker.keys(PREFIX + "[0-9]*")]
        assert sorted(names) == [f"{PREFIX}{k}" for k in (26, 27, 28, 29)]
        assert (
            int(await broker.hget(PREFIX + "sizes", "")) == 4 * 932 == sum([await broker.strlen(key) for key in names])
        )
        await one.put("29", bytes(10))
        assert int(await broker.hget(PREFIX + "sizes", "")) == 3 * 932 + 42
        await broker.zadd(PREFIX + "index", {"26": 1, "27": 1})  # their time is over
        await one.put("30", bytes(10))
        assert sorted(await broker.zrange(PREFIX + "index", 0, -1)) == [b"28", b"29", b"30"]
        assert int(await broker.hget(PREFIX + "sizes", "")) == 932 + 2 * 42

    keeping(redis.url, work, capacity=4004)


def test_without_redis_nothing_is_kept_and_nothing_fails(redis: RedisServer) -> None:
    async def work(one: SharedResultCache, other: SharedResultCache, _: Any) -> None:
        await one.put("a", TRACE)
        await asyncio.to_thread(redis.end)
        await one.put("b", TRACE)
        assert await other.get("a") is None and not one._broker.reachable

    keeping(redis.url, work)


def test_a_compression_bomb_is_not_unpacked() -> None:
    assert is_single_gzip_stream(gzip.compress(bytes(1000)), 1000)
    assert not is_single_gzip_stream(gzip.compress(bytes(1001)), 1000)
    assert not is_single_gzip_stream(TRACE[:-4] + bytes(4), ROOM), "its size is another"


@pytest.mark.slow
def test_a_large_result_is_read_in_a_separate_process(redis: RedisServer) -> None:
    async def work(one: SharedResultCache, other: SharedResultCache, _: Any) -> None:
        trace = json.loads(gzip.decompress(TRACE))
        trace["program"]["source"] = "x = 1\n" * 100_000
        for steps, valid in ((trace["steps"], True), ([{"i": "no number"}], False)):
            body = gzip.compress(json.dumps({**trace, "steps": steps}).encode())
            assert unpacked_size(body) > LARGE_BYTES
            await one.put("a", body)
            assert await other.get("a") == (body if valid else None)

    keeping(redis.url, work)


@pytest.mark.slow
def test_a_run_of_one_process_does_not_count_in_another(redis: RedisServer) -> None:
    async def work(one: SharedResultCache, other: SharedResultCache, _: Any) -> None:
        pool = LocalPool(Settings({}, sandbox="off"), STAND_IN)
        ended: list[ExecutionResult] = []
        first, second = (
            Executions(pool, ResultCache(10_000_000), 10_000_000, lambda _, result: ended.append(result), results)
            for results in (one, other)
        )
        await pool.start()
        await pool.zygote.wait_until_booted()
        try:
            for source, kept in (("finish", True), ("chance 0", False)):
                job = Job(source=source, limits={})
                assert await second.find_cached_result(job) is None
                result = await first.wait_for_result(await first.subscribe(job, ANN))
                await asyncio.gather(*first._sharing_tasks)
                found = await second.find_cached_result(job)
                assert (found.body if found is not None else None) == (result.body if kept else None), source
            assert len(ended) == 2
            await asyncio.to_thread(redis.end)
            assert await second.find_cached_result(Job(source="finish", limits={})) is not None, (
                "it is in its own memory now"
            )
            assert await second.find_cached_result(Job(source="finish", limits={}, seed=3)) is None
        finally:
            await first.close()
            await second.close()
            await pool.close()

    keeping(redis.url, work)
