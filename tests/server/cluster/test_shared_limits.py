"""Rate limits that two web processes count together, with a real Redis: shared, and alone while it is away."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from server.cluster.factories import SharedState, create_shared_state
from server.pool.remote import shared_broker
from server.settings import Settings
from server.store.database import Database
from server.visitors.clients import Client
from server.visitors.rate_limits import (
    RateLimited,
    RateLimiter,
    SavedBytesLimiter,
    SharedRateLimiter,
    SharedSavedBytesLimiter,
)
from tests.support.brokers import SECRET, RedisServer, running_redis

pytest_plugins = ("tests.support.brokers",)

numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def max_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that answers slowly on a busy machine is not away."""
    monkeypatch.setattr(shared_broker, "TIMEOUT", 30.0)


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis of one's own, to be ended and started again."""
    with running_redis() as server:
        yield server


def new_client() -> Client:
    """A visitor whom the Redis of the session has not seen."""
    number = next(numbers)
    return Client(f"visitor {number}", f"198.51.100.{number}")


def sharing(url: str, work: Callable[[SharedState, SharedState], Awaitable[None]], secret: str = SECRET) -> None:
    """Do this with what two web processes share."""

    async def main() -> None:
        database = Database("", Path("none is opened"))
        states = [create_shared_state(Settings({}, queue_url=url, secret=each), database) for each in (SECRET, secret)]
        try:
            await work(*states)
        finally:
            for state in states:
                await state.close()

    asyncio.run(main())


def limiter(state: SharedState, client: str = "2/hour", address: str = "100/hour") -> SharedRateLimiter:
    return SharedRateLimiter(RateLimiter(client, address), state.counts)


async def refused(limits: SharedRateLimiter, client: Client) -> RateLimited | None:
    try:
        await limits.count_request(client)
    except RateLimited as limited:
        return limited
    return None


def test_two_processes_share_a_limit(broker: RedisServer) -> None:
    async def work(one: SharedState, other: SharedState) -> None:
        ann, first, second = new_client(), limiter(one), limiter(other)
        await first.count_request(ann)
        await second.count_request(ann)
        for limits in (first, second):
            limited = await refused(limits, ann)
            assert limited is not None and limited.limit == "2 runs per hour"
            assert 3000 < limited.retry_after <= 3600 and str(limited).startswith("a visitor may ask for")
        await second.count_request(new_client())
        await SharedRateLimiter(RateLimiter("2/hour", "2/hour", action="save"), other.counts).count_request(ann)

    sharing(broker.url, work)


def test_a_refused_request_does_not_count(broker: RedisServer) -> None:
    async def work(one: SharedState, other: SharedState) -> None:
        ann = new_client()
        bob = Client("bob", ann.address)
        first, second = limiter(one, "1/hour", "2/hour"), limiter(other, "1/hour", "2/hour")
        await first.count_request(ann)
        assert [await refused(second, ann) is None for _ in range(3)] == [False] * 3
        await second.count_request(bob)
        limited = await refused(first, Client("cleo", ann.address))
        assert limited is not None and str(limited).startswith("an address may ask for 2 runs per hour")

    sharing(broker.url, work)


def test_simultaneous_requests_do_not_exceed_the_limit(broker: RedisServer) -> None:
    async def work(one: SharedState, other: SharedState) -> None:
        ann, both = new_client(), (limiter(one, "9/hour"), limiter(other, "9/hour"))
        answers = await asyncio.gather(*(refused(both[k % 2], ann) for k in range(30)))
        assert sum(answer is None for answer in answers) == 9

    sharing(broker.url, work)


def test_saved_bytes_are_counted_together(broker: RedisServer) -> None:
    async def work(one: SharedState, other: SharedState) -> None:
        ann, spaces = (
            new_client(),
            [SharedSavedBytesLimiter(SavedBytesLimiter(1000, 86400.0), state.counts) for state in (one, other)],
        )
        await spaces[0].count_saved_bytes(ann, 600)
        with pytest.raises(RateLimited, match="saving 1 kB of programs per day") as caught:
            await spaces[1].count_saved_bytes(ann, 600)
        assert 17_000 < caught.value.retry_after <= 17_280
        await spaces[1].count_saved_bytes(ann, 400)
        await spaces[1].count_saved_bytes(new_client(), 5000)

    sharing(broker.url, work)


def test_redis_never_sees_an_address(broker: RedisServer) -> None:
    async def work(one: SharedState, stranger: SharedState) -> None:
        ann = new_client()
        await limiter(one).count_request(ann)
        await SharedSavedBytesLimiter(SavedBytesLimiter(1000, 86400.0), one.counts).count_saved_bytes(ann, 1)
        keys = {key async for key in one._broker.redis.scan_iter("gradbox:limits:*")}
        assert keys and not any(ann.id.encode() in key or ann.address.encode() in key for key in keys)
        assert all([await one._broker.redis.ttl(key) > 0 for key in keys])
        await limiter(stranger).count_request(ann)
        assert len([key async for key in one._broker.redis.scan_iter("gradbox:limits:*")]) == len(keys) + 2, "digests"

    sharing(broker.url, work, secret="another secret")


def test_without_redis_each_process_counts_alone_until_it_returns(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_broker, "RECONNECT_INTERVAL", 0.0)

    async def work(one: SharedState, other: SharedState) -> None:
        ann, first, second = new_client(), limiter(one), limiter(other)
        space = SharedSavedBytesLimiter(SavedBytesLimiter(1000, 86400.0), one.counts)
        await first.count_request(ann)
        await asyncio.to_thread(redis.end)
        await first.count_request(ann)
        assert not one.reachable and other.reachable
        limited = await refused(first, ann)
        assert limited is not None and limited.limit == "2 runs per hour", "what it has counted before is not forgotten"
        assert [await refused(second, ann) is None for _ in range(3)] == [True, True, False]
        await space.count_saved_bytes(ann, 900)
        with pytest.raises(RateLimited):
            await space.count_saved_bytes(ann, 900)
        await asyncio.to_thread(redis.start)
        bob = new_client()
        await first.count_request(bob)
        await second.count_request(bob)
        assert one.reachable and other.reachable
        assert await refused(first, bob) is not None and await refused(second, bob) is not None

    sharing(redis.url, work)


def test_a_redis_that_hangs_is_waited_for_by_one_and_once(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_broker, "TIMEOUT", 0.2)
    monkeypatch.setattr(shared_broker, "RECONNECT_INTERVAL", 3600.0)

    async def work(one: SharedState, _: SharedState) -> None:
        asked = 0

        async def hang() -> None:
            nonlocal asked
            asked += 1
            await asyncio.Event().wait()

        assert [await one._broker.run_command(hang) for _ in range(20)] == [None] * 20
        assert asked == 1 and not one.reachable
        await limiter(one).count_request(new_client())

    sharing(redis.url, work)


def test_a_foreign_value_in_redis_refuses_nobody(redis: RedisServer) -> None:
    async def work(one: SharedState, _: SharedState) -> None:
        ann, limits = new_client(), limiter(one, "9/hour")
        await limits.count_request(ann)
        for key in [key async for key in one._broker.redis.scan_iter("gradbox:limits:*")]:
            await one._broker.redis.set(key, "garbled")
        await limits.count_request(ann)
        assert not one.reachable

    sharing(redis.url, work)
