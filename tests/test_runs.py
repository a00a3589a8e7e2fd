"""Runs of the server: joined, kept, stopped, left; with children that really are forked."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from server.pool import runs as module
from server.pool.cache import Cache
from server.pool.local import Pool
from server.pool.runs import Result, Run, Runs
from server.pool.turns import Busy, Who
from server.settings import Settings
from server.wire.api import Job

ANN, BOB = Who("ann", "1"), Who("bob", "2")
Work = Callable[[Runs, list[Result]], Awaitable[None]]


def served(work: Work, **settings: Any) -> None:
    async def whole() -> None:
        pool = Pool(Settings({}, sandbox="off", **settings), "tests.stand_in_recorder:run")
        ended: list[Result] = []
        runs = Runs(pool, Cache(10_000_000), 10_000_000, lambda _, result: ended.append(result))
        await pool.start()
        await pool.zygote.booted()
        try:
            await work(runs, ended)
        finally:
            await runs.close()
            await pool.close()

    asyncio.run(whole())


def job(source: str) -> Job:
    return Job(source=source, limits={})


def trace(result: Result) -> Any:
    return json.loads(gzip.decompress(result.body))


async def heard(runs: Runs, run: Run) -> list[str]:
    return [facts["state"] async for facts in runs.events(run)]


def test_identical_runs_are_one_run_and_a_kept_result_is_none() -> None:
    async def work(runs: Runs, ended: list[Result]) -> None:
        begun = [await runs.begin(job("sleep 0.3"), who) for who in (ANN, BOB, ANN)]
        results = await asyncio.gather(*map(runs.result, begun))
        assert len({run.id for run in begun}) == 3 and len(ended) == 1
        assert results[0].body is results[1].body and trace(results[0])["outcome"] == {"status": "finished"}
        kept = runs.kept(job("sleep 0.3"))
        assert kept is not None and kept.body == results[0].body and len(ended) == 1
        assert runs.kept(job("sleep 0.30")) is None and runs.kept(Job(source="sleep 0.3", limits={}, seed=1)) is None

    served(work)


def test_what_time_ended_is_run_again() -> None:
    async def work(runs: Runs, ended: list[Result]) -> None:
        for _ in range(2):
            result = await runs.result(await runs.begin(job("sleep 60"), ANN))
            assert result.limit == "wall" and runs.kept(job("sleep 60")) is None
        assert len(ended) == 2

    served(work, wall=0.5)


def test_a_stopped_run_keeps_what_was_recorded() -> None:
    async def work(runs: Runs, ended: list[Result]) -> None:
        run = await runs.begin(job("sleep 60"), ANN)
        await asyncio.sleep(0.2)
        assert run.state == "running"
        runs.stop(run)
        told = trace(await runs.result(run))
        assert told["outcome"]["status"] == "cancelled" and len(told["steps"]) == 2
        assert run.state == "done" and ended[0].status == "cancelled"

    served(work)


def test_a_stopped_run_that_waits_takes_no_turn() -> None:
    async def work(runs: Runs, _: list[Result]) -> None:
        first = await runs.begin(job("sleep 60"), ANN)
        second = await runs.begin(job("sleep 61"), BOB)
        assert second.facts() == {"id": second.id, "state": "queued", "ahead": 0}
        runs.stop(second)
        told = trace(await runs.result(second))
        assert told["outcome"]["status"] == "cancelled" and told["steps"] == []
        assert first.state == "running"
        runs.stop(first)
        await runs.result(first)
        third = await runs.begin(job("finish"), BOB)
        assert (await asyncio.wait_for(runs.result(third), 10)).status == "finished"

    served(work, workers=1)


def test_one_who_stops_does_not_stop_the_others() -> None:
    async def work(runs: Runs, _: list[Result]) -> None:
        one, other = [await runs.begin(job("sleep 0.6"), who) for who in (ANN, BOB)]
        runs.stop(one)
        assert (await runs.result(other)).status == "finished"

    served(work)


def test_a_run_is_ended_when_its_last_reader_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.3)

    async def work(runs: Runs, ended: list[Result]) -> None:
        run = await runs.begin(job("sleep 60"), ANN)
        reading = [asyncio.create_task(heard(runs, run)) for _ in range(2)]
        await asyncio.sleep(0.5)
        assert run.state == "running"
        for task in reading:
            task.cancel()
        await asyncio.sleep(0.1)
        again = asyncio.create_task(heard(runs, run))  # a connection that broke and came back
        await asyncio.sleep(0.5)
        assert run.state == "running"
        again.cancel()
        for _ in range(100):
            await asyncio.sleep(0.05)
            if ended:
                break
        assert ended[0].status == "cancelled" and runs.find(run.id) is None

    served(work)


def test_what_is_heard_of_a_run() -> None:
    async def work(runs: Runs, _: list[Result]) -> None:
        first = await runs.begin(job("sleep 0.4"), ANN)
        second = await runs.begin(job("finish"), BOB)
        assert await asyncio.gather(heard(runs, first), heard(runs, second)) == [
            ["running", "done"],
            ["queued", "running", "done"],
        ]
        assert await heard(runs, first) == ["done"] and first.facts()["status"] == "finished"

    served(work, workers=1)


def test_a_full_queue_is_told_at_once() -> None:
    async def work(runs: Runs, _: list[Result]) -> None:
        begun = [await runs.begin(job(f"sleep {60 + k}"), Who(str(k), str(k))) for k in range(3)]
        with pytest.raises(Busy):
            await runs.begin(job("finish"), BOB)
        for run in begun:
            runs.leave(run)

    served(work, workers=1, queue=2)


def test_finished_runs_do_not_pile_up() -> None:
    async def work(runs: Runs, _: list[Result]) -> None:
        runs._room = 2000
        for k in range(40):
            await runs.result(await runs.begin(job(f"finish {k}"), ANN))
        assert sum(runs._finished.values()) <= 2000 and len(runs._runs) == len(runs._finished) < 20
        assert not runs._works

    served(work)
