"""The server's executions: joined, cached, stopped, abandoned; with children that really are forked."""

import asyncio
import gc
import gzip
import json
import weakref
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradbox.wire.api import Job
from server.pool import executions as module
from server.pool.cache import ResultCache
from server.pool.executions import ExecutionResult, Executions, Subscription
from server.pool.local import LocalPool
from server.settings import Settings
from server.visitors.clients import Client
from server.wire.problems import WorkerQueueFull
from tests.support.gates import Gate
from tests.support.waiting import PATIENCE, PATIENT, eventually

pytestmark = pytest.mark.slow

ANN, BOB = Client("ann", "1"), Client("bob", "2")
Work = Callable[[Executions, list[ExecutionResult]], Awaitable[None]]


def served(work: Work, **settings: Any) -> None:
    async def main() -> None:
        pool = LocalPool(Settings({}, sandbox="off", **(PATIENT | settings)), "tests.support.stand_in_recorder:prepare")
        results: list[ExecutionResult] = []
        executions = Executions(pool, ResultCache(10_000_000), 10_000_000, lambda _, result: results.append(result))
        await pool.start()
        await pool.zygote.wait_until_booted()
        try:
            await work(executions, results)
        finally:
            await executions.close()
            await pool.close()

    asyncio.run(main())


def job(source: str) -> Job:
    return Job(source=source, limits={})


def trace(result: ExecutionResult) -> Any:
    return json.loads(gzip.decompress(result.body))


async def states(executions: Executions, subscription: Subscription) -> list[str]:
    return [state["state"] async for state in executions.iterate_states(subscription)]


def test_identical_runs_run_once_and_a_cached_result_runs_nothing(tmp_path: Path) -> None:
    async def work(executions: Executions, ended: list[ExecutionResult]) -> None:
        gate = Gate(tmp_path)
        subscriptions = [await executions.subscribe(job(gate.source), who) for who in (ANN, BOB, ANN)]
        gate.open()
        results = await asyncio.gather(*map(executions.wait_for_result, subscriptions))
        assert len({subscription.id for subscription in subscriptions}) == 3 and len(ended) == 1
        assert results[0].body is results[1].body and trace(results[0])["outcome"] == {"status": "finished"}
        cached = await executions.find_cached_result(job(gate.source))
        assert cached is not None and cached.body == results[0].body and len(ended) == 1
        assert (
            await executions.find_cached_result(job(f"{gate.source} ")) is None
            and await executions.find_cached_result(Job(source=gate.source, limits={}, seed=1)) is None
        )

    served(work)


def test_a_run_that_a_time_limit_ended_is_not_cached() -> None:
    async def work(executions: Executions, ended: list[ExecutionResult]) -> None:
        for _ in range(2):
            result = await executions.wait_for_result(await executions.subscribe(job("sleep 6000"), ANN))
            assert result.limit == "wall" and await executions.find_cached_result(job("sleep 6000")) is None
        assert len(ended) == 2

    served(work, wall=0.5)


def test_a_stopped_run_keeps_what_was_recorded(tmp_path: Path) -> None:
    async def work(executions: Executions, ended: list[ExecutionResult]) -> None:
        gate = Gate(tmp_path)
        subscription = await executions.subscribe(job(gate.source), ANN)
        await eventually(lambda: gate.has_begun)
        assert subscription.state == "running"
        executions.stop_subscription(subscription)
        cancelled = trace(await executions.wait_for_result(subscription))
        assert cancelled["outcome"]["status"] == "cancelled" and len(cancelled["steps"]) == 2
        assert subscription.state == "done" and ended[0].status == "cancelled"

    served(work)


def test_a_run_stopped_while_waiting_takes_no_turn() -> None:
    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        first = await executions.subscribe(job("sleep 6000"), ANN)
        second = await executions.subscribe(job("sleep 6100"), BOB)
        assert second.state_fields() == {"id": second.id, "state": "queued", "ahead": 0}
        executions.stop_subscription(second)
        cancelled = trace(await executions.wait_for_result(second))
        assert cancelled["outcome"]["status"] == "cancelled" and cancelled["steps"] == []
        assert first.state == "running"
        executions.stop_subscription(first)
        await executions.wait_for_result(first)
        third = await executions.subscribe(job("finish"), BOB)
        assert (await asyncio.wait_for(executions.wait_for_result(third), PATIENCE)).status == "finished"

    served(work, workers=1)


def test_stopping_one_subscription_does_not_stop_the_others(tmp_path: Path) -> None:
    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        gate = Gate(tmp_path)
        first, second = [await executions.subscribe(job(gate.source), who) for who in (ANN, BOB)]
        executions.stop_subscription(first)
        gate.open()
        assert (await executions.wait_for_result(second)).status == "finished"

    served(work)


def test_a_run_is_ended_when_its_last_reader_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.3)

    async def work(executions: Executions, ended: list[ExecutionResult]) -> None:
        subscription = await executions.subscribe(job("sleep 6000"), ANN)
        reading = [asyncio.create_task(states(executions, subscription)) for _ in range(2)]
        await asyncio.sleep(0.5)  # this loop has seen to the end of the grace before
        assert subscription.state == "running"
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        again = asyncio.create_task(states(executions, subscription))  # a connection that broke and came back
        await asyncio.sleep(0.5)  # as above
        assert subscription.state == "running"
        again.cancel()
        await eventually(lambda: ended)
        assert ended[0].status == "cancelled" and executions.find_subscription(subscription.id) is None

    served(work)


def test_a_slow_listener_still_hears_the_end(tmp_path: Path) -> None:
    """The run ends while its listener is being told that it runs."""

    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        gate = Gate(tmp_path)
        subscription = await executions.subscribe(job(gate.source), ANN)
        events = executions.iterate_states(subscription)
        assert (await anext(events))["state"] == "running"
        gate.open()
        await executions.wait_for_result(subscription)
        assert [state["state"] async for state in events] == ["done"]

    served(work)


def test_subscribers_hear_the_states_of_a_run(tmp_path: Path) -> None:
    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        gate = Gate(tmp_path)
        first = await executions.subscribe(job(gate.source), ANN)
        second = await executions.subscribe(job("finish"), BOB)
        hearing = [asyncio.create_task(states(executions, run)) for run in (first, second)]
        await eventually(lambda: gate.has_begun)
        gate.open()
        assert await asyncio.gather(*hearing) == [
            ["running", "done"],
            ["queued", "running", "done"],
        ]
        assert await states(executions, first) == ["done"] and first.state_fields()["status"] == "finished"

    served(work, workers=1)


def test_a_full_queue_refuses_at_once() -> None:
    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        subscriptions = [await executions.subscribe(job(f"sleep {6000 + k}"), Client(str(k), str(k))) for k in range(3)]
        with pytest.raises(WorkerQueueFull):
            await executions.subscribe(job("finish"), BOB)
        for subscription in subscriptions:
            executions.unsubscribe(subscription)

    served(work, workers=1, queue=2)


def test_a_joined_run_waits_in_the_best_place_of_all_who_ask_for_it() -> None:
    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        busy = await executions.subscribe(job("sleep 6000"), Client("x", "x"))
        attacks = [await executions.subscribe(job(f"sleep {5000 + k}"), ANN) for k in range(3)]
        lesson = await executions.subscribe(job("finish"), ANN)
        assert lesson.state_fields()["ahead"] == 3
        joined = await executions.subscribe(job("finish"), BOB)
        assert joined.execution is lesson.execution and joined.state_fields()["ahead"] == 1
        executions.stop_subscription(busy)
        await executions.wait_for_result(busy)
        executions.stop_subscription(attacks[0])
        assert (await asyncio.wait_for(executions.wait_for_result(joined), PATIENCE)).status == "finished"
        assert [attack.state for attack in attacks] == ["done", "running", "queued"]
        assert (await executions.wait_for_result(lesson)).status == "finished"
        for attack in attacks:
            executions.unsubscribe(attack)

    served(work, workers=1, queue=16)


def test_an_asker_that_loses_its_place_is_refused_without_ending_the_run() -> None:
    async def work(executions: Executions, ended: list[ExecutionResult]) -> None:
        busy = await executions.subscribe(job("sleep 6000"), Client("x", "x"))
        programs = ["sleep 5000", "finish"]
        attacks = [await executions.subscribe(job(program), ANN) for program in programs]
        heard = asyncio.create_task(states(executions, attacks[1]))
        visitor = await executions.subscribe(job("finish"), BOB)
        others = [await executions.subscribe(job(f"sleep {4000 + k}"), Client("c", "c")) for k in range(2)]
        newcomers = [await executions.subscribe(job("sleep 3000"), Client("n", "n"))]
        assert visitor.state == "queued" and not visitor.execution.is_done
        refused = [attack for attack in attacks if attack.execution.error is not None]
        for attack in refused:
            with pytest.raises(WorkerQueueFull):
                await executions.wait_for_result(attack)
            assert executions.find_subscription(attack.id) is attack
        assert refused == [attacks[0]], "the joined one is the last to be taken"
        executions._pool.queue._take_place(  # type: ignore[attr-defined]
            next(place for place in executions._pool.queue._places if place.asker is attacks[1].asker)  # type: ignore[attr-defined]
        )
        assert (await asyncio.wait_for(heard, PATIENCE))[-1] == "done"
        with pytest.raises(WorkerQueueFull):
            await executions.wait_for_result(attacks[1])
        for subscription in (busy, *others, *newcomers):
            executions.unsubscribe(subscription)
        assert (await asyncio.wait_for(executions.wait_for_result(visitor), PATIENCE)).status == "finished"
        assert executions.find_subscription(attacks[1].id) is attacks[1] and ended

    served(work, workers=1, queue=4)


def test_finished_runs_take_bounded_memory() -> None:
    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        executions._capacity = 50_000
        for k in range(40):
            await executions.wait_for_result(await executions.subscribe(job(f"finish {k}"), ANN))
        assert (
            executions._finished_size == sum(size for size, _ in executions._finished.values()) <= 50_000
            and len(executions._subscriptions) == len(executions._finished) < 20
        )
        assert not executions._executions

    served(work)


def is_collected(reference: weakref.ref[Job]) -> bool:
    gc.collect()
    return reference() is None


def test_a_finished_run_keeps_its_result_and_not_its_job() -> None:
    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        source = "finish " + "x" * 60_000
        for k in range(3):
            asked = job(f"{source} {k}")
            subscription = await executions.subscribe(asked, ANN)
            await executions.wait_for_result(subscription)
            held = weakref.ref(asked)
            del asked
            await eventually(partial(is_collected, held))
            assert executions.find_subscription(subscription.id) is subscription

    served(work)


def test_finished_runs_are_forgotten_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETENTION_SECONDS", 1.0)

    async def work(executions: Executions, _: list[ExecutionResult]) -> None:
        for k in range(3):
            subscription = await executions.subscribe(job(f"finish {k}"), ANN)
            await executions.wait_for_result(subscription)
            assert executions.find_subscription(subscription.id) is subscription
        await eventually(lambda: not executions._subscriptions)
        assert not executions._finished and executions._finished_size == 0

    served(work)
