"""The event loop's time, in fair turns: a newcomer is next, and a network pays for all that is done for it."""

import asyncio
import time
from functools import partial

import pytest

from server.http import fair_work_scheduler
from server.http.fair_work_scheduler import FairWorkScheduler, work_in_thread
from server.pool import fair_queue
from tests.support.waiting import PATIENCE, eventually


def played(charged: dict[str, float]) -> list[str]:
    """The order in which these works are done, each of which takes a millisecond.

    charged: seconds, before
    """
    now, done = [0.0], []
    turns = FairWorkScheduler(lambda: now[0])

    def work(name: str) -> None:
        done.append(name)
        now[0] += 0.001

    async def main() -> None:
        for network, seconds in charged.items():
            turns.charge_network(network, seconds)
        for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1"):
            turns.add_work(name[0], partial(work, name))
        await eventually(lambda: len(done) == 7)

    asyncio.run(main())
    return done


def test_the_networks_take_turns() -> None:
    assert played({}) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


def test_a_charged_client_waits() -> None:
    assert played({"b": 0.0025}) == ["a1", "c1", "a2", "a3", "b1", "a4", "b2"]


def test_a_newcomer_is_next() -> None:
    """However much waits, and however much the newcomer had long ago."""
    turns, done = FairWorkScheduler(), []

    def work(name: str) -> None:
        time.sleep(0.003)  # what the work takes
        done.append(name)

    async def main() -> None:
        for k in range(50):
            for network in "abcd":
                turns.add_work(network, partial(work, f"{network}{k}"))
        while len(done) < 20:
            await asyncio.sleep(0)
        before = len(done)
        turns.add_work("new", lambda: work("new"))
        while "new" not in done:
            await asyncio.sleep(0)
        assert done.index("new") <= before + 4

    asyncio.run(main())


def test_the_event_loop_runs_between_turns() -> None:
    turns, rounds = FairWorkScheduler(), 0

    async def main() -> None:
        nonlocal rounds
        for _ in range(40):
            turns.add_work("a", lambda: time.sleep(fair_work_scheduler.ROUND_SECONDS / 2))  # what it takes
        while turns._running:
            rounds += 1
            await asyncio.sleep(0)

    asyncio.run(main())
    assert rounds >= 10


def test_each_step_of_a_metered_task_is_charged() -> None:
    turns = FairWorkScheduler()

    def busy() -> None:
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            pass

    async def work() -> None:
        busy()
        await asyncio.sleep(0.5)  # which is not charged
        busy()

    asyncio.run(turns.run_and_charge_network("a", work()))
    assert 0.02 <= turns._scheduler.start_tag("a") < 0.4


def test_a_metered_task_can_be_cancelled_and_can_fail() -> None:
    turns, begun, ended = FairWorkScheduler(), asyncio.Event(), []

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def failing() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    async def main() -> None:
        task = asyncio.create_task(turns.run_and_charge_network("a", work()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(KeyError):
            await turns.run_and_charge_network("a", failing())

    asyncio.run(main())
    assert ended == [True]


def test_an_abandoned_turn_delays_no_other() -> None:
    turns = FairWorkScheduler()

    async def main() -> None:
        gone = asyncio.create_task(turns.wait_for_turn("a"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait_for(turns.wait_for_turn("a"), PATIENCE)

    asyncio.run(main())


def test_a_turn_that_fails_does_not_end_others() -> None:
    turns, done = FairWorkScheduler(), []

    async def main() -> None:
        turns.add_work("a", lambda: 1 // 0)  # type: ignore[arg-type, return-value]
        turns.add_work("a", lambda: done.append("second"))
        await eventually(lambda: done)

    asyncio.run(main())
    assert done == ["second"]


def test_nothing_is_remembered_once_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "MAX_FLOWS", 50)
    turns = FairWorkScheduler()

    async def main() -> None:
        for k in range(1000):
            turns.charge_network(str(k), 0.001)
        assert len(turns._scheduler._served) <= 50
        turns.add_work("a", lambda: None)
        await eventually(lambda: not (turns._scheduler._served or turns._waiting or turns._order))

    asyncio.run(main())
    assert not turns._scheduler._served and not turns._waiting and not turns._order


def test_what_a_request_does_in_a_thread_is_charged_to_its_network() -> None:
    charged: dict[str, float] = {}

    class Noting(FairWorkScheduler):
        def charge_network(self, network: str, seconds: float) -> None:
            charged[network] = charged.get(network, 0.0) + seconds

    def compute(count: int) -> int:
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            count += 1
        return count

    async def request() -> None:
        assert await work_in_thread(compute, 7) > 7

    async def failing_request() -> None:
        with pytest.raises(ZeroDivisionError):
            await work_in_thread(lambda: compute(1) // 0)

    async def main() -> None:
        turns = Noting()
        works = (turns.run_and_charge_network(name, work()) for name, work in (("a", request), ("b", failing_request)))
        await asyncio.gather(*works)
        await work_in_thread(compute, 0)  # of no request

    asyncio.run(main())
    assert charged.keys() == {"a", "b"} and min(charged.values()) >= 0.05


def test_one_thread_works_at_a_time_and_a_newcomer_is_next() -> None:
    """Two of them would have Python's lock in turn, and the event loop would wait for both."""
    turns, done, working = FairWorkScheduler(), [], 0

    def work(name: str) -> None:
        nonlocal working
        working += 1
        assert working == 1
        time.sleep(0.01)  # a thread that is in the midst of something
        working -= 1
        done.append(name)

    async def main() -> None:
        greedy = [turns.run_and_charge_network("greedy", work_in_thread(work, "greedy")) for _ in range(6)]
        tasks = [asyncio.create_task(coroutine) for coroutine in greedy]
        await eventually(lambda: bool(done))
        tasks.append(asyncio.create_task(turns.run_and_charge_network("new", work_in_thread(work, "new"))))
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert len(done) == 7 and done.index("new") < 4
