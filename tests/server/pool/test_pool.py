"""The pools, with children that really are forked: every one of them ends in a trace, and the next notices nothing.

What both pools promise is asked of both: of the one of this machine, and of the one whose workers are elsewhere, with a
real Redis and a worker of its own. What is asked of one alone says so by how it is called: `local`.
"""

import asyncio
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gradbox.wire.api import Job
from gradbox.wire.trace import Trace
from server.pool import zygote
from server.pool.interface import PoolInterface
from server.pool.local import LocalPool
from server.pool.zygote import WorkersUnavailable
from server.wire.problems import WorkerQueueFull
from tests.support.gates import Gate
from tests.support.pools import BOUNDS, Pooled, local
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.slow
pytest_plugins = ("tests.support.brokers", "tests.support.pools")


async def run(pool: PoolInterface, source: str) -> Trace:
    return (await pool.run_job(Job(source=source, limits=dict(BOUNDS)))).decoded()


def test_every_ending_is_a_trace_and_the_next_run_is_served(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        ends = {
            "finish": ("finished", 1),
            "signal SIGSEGV": ("crashed", 1),
            "signal SIGKILL": ("crashed", 1),
            "leave": ("crashed", 1),
            "silent": ("crashed", 0),
            "garbage what": ("crashed", 1),
            'garbage {"step":{"i":5,"kind":"statement","line":1}}': ("crashed", 1),
            'garbage {"step":{"i":1,"kind":"statement","line":1,"set":{"z1":{}}}}': ("crashed", 1),
            "million": ("crashed", 1),
            "nested": ("crashed", 1),
            "pretend": ("crashed", 1),
        }
        for source, (status, steps) in ends.items():
            trace = await run(pool, source)
            assert (trace.outcome.status, len(trace.steps)) == (status, steps), source
            assert trace.program.source in (source, "x = 1\n")
        assert (await run(pool, "signal SIGSEGV")).outcome.signal == signal.SIGSEGV
        assert (await run(pool, "silent")).cost.peak_bytes > 1_000_000

    pooled(work)


def test_a_wall_limit_keeps_what_came(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        trace = await asyncio.wait_for(run(pool, "sleep 6000"), PATIENCE)
        assert trace.outcome.stopped is not None
        assert (trace.outcome.stopped.limit, trace.outcome.stopped.line, len(trace.steps)) == ("wall", 1, 2)
        assert (await run(pool, "finish")).outcome.status == "finished"

    pooled(work, wall=2.0)


def test_a_flood_is_cut_off(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        trace = await run(pool, "flood")
        assert trace.outcome.stopped is not None and trace.outcome.stopped.limit == "trace"
        assert len(trace.steps) == 1

    pooled(work, trace=1_000_000)


def test_processes_that_a_program_forked_die_with_it(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        assert (await run(pool, "parent 987654")).outcome.status == "finished"
        await eventually(lambda: not sleeping("987654"))

    pooled(work)


def test_a_process_that_keeps_the_pipe_open_does_not_delay_the_answer(pooled: Pooled, tmp_path: Path) -> None:
    gate = Gate(tmp_path)

    async def work(pool: PoolInterface) -> None:
        trace = await asyncio.wait_for(run(pool, f"orphan {gate.path}"), PATIENCE)
        assert (trace.outcome.status, len(trace.steps)) == ("finished", 1)

    try:
        pooled(work)
    finally:
        gate.open()


def test_a_program_that_leaves_its_group_is_killed_all_the_same(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        trace = await run(pool, "elsewhere")
        assert trace.outcome.stopped is not None and trace.outcome.stopped.limit == "wall"
        with pytest.raises(ProcessLookupError):
            os.kill(int(trace.steps[1].value), 0)  # type: ignore[arg-type]

    pooled(work, wall=2.0)


def sleeping(argument: str) -> bool:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read() == f"sleep\0{argument}\0".encode():
                    return True
        except OSError:
            continue
    return False


def test_no_more_than_two_at_once_and_the_rest_wait(pooled: Pooled, tmp_path: Path) -> None:
    async def work(pool: PoolInterface) -> None:
        gates = [Gate(tmp_path) for _ in range(4)]
        running = [asyncio.create_task(run(pool, gate.source)) for gate in gates]
        await eventually(lambda: (sum(gate.has_begun for gate in gates), pool.queue.waiting_count) == (2, 2))
        first = [gate for gate in gates if gate.has_begun]
        for gate in first:
            gate.open()
        await eventually(lambda: all(gate.has_begun for gate in gates))
        for gate in gates:
            gate.open()
        assert [(await task).outcome.status for task in running] == ["finished"] * 4

    pooled(work, queue=4)


def test_a_worker_is_free_while_a_trace_is_assembled(pooled: Pooled, tmp_path: Path) -> None:
    async def work(pool: Any) -> None:
        goes_on, assemble = asyncio.Event(), pool._assembler.assemble_trace

        async def stand_still(*arguments: Any) -> Any:
            await goes_on.wait()
            return await assemble(*arguments)

        pool._assembler.assemble_trace = stand_still
        ended = [asyncio.create_task(run(pool, "finish")) for _ in range(2)]
        gate = Gate(tmp_path)
        running = asyncio.create_task(run(pool, gate.source))
        await eventually(lambda: gate.has_begun)
        assert not any(task.done() for task in ended)
        goes_on.set()
        gate.open()
        assert [(await task).outcome.status for task in (*ended, running)] == ["finished"] * 3

    pooled(work)


def test_a_run_beyond_the_queue_is_refused(pooled: Pooled, tmp_path: Path) -> None:
    async def work(pool: PoolInterface) -> None:
        gate = Gate(tmp_path)
        running = [asyncio.create_task(run(pool, gate.source)) for _ in range(5)]
        await eventually(lambda: gate.runs == 2 and any(task.done() for task in running))
        gate.open()
        results = await asyncio.gather(*running, return_exceptions=True)
        assert [type(result).__name__ for result in results].count("WorkerQueueFull") == 1
        with pytest.raises(WorkerQueueFull) as busy:
            raise next(result for result in results if isinstance(result, WorkerQueueFull))
        assert busy.value.retry_after >= 1

    pooled(work, queue=2)


def test_a_cancelled_run_is_killed_and_its_turn_is_free(pooled: Pooled, tmp_path: Path) -> None:
    async def work(pool: PoolInterface) -> None:
        await run(pool, "finish")
        gate = Gate(tmp_path)
        running = [asyncio.create_task(run(pool, gate.source)) for _ in range(2)]
        await eventually(lambda: gate.runs == 2)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        assert (await asyncio.wait_for(run(pool, "finish"), PATIENCE)).outcome.status == "finished"

    pooled(work)


def test_a_run_cancelled_at_any_moment_leaves_nothing_behind() -> None:
    async def work(pool: LocalPool) -> None:
        await run(pool, "finish")
        for yields in range(30):
            task = asyncio.create_task(run(pool, "sleep 6000"))
            for _ in range(yields):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(pool.zygote._children) <= 2 + pool.zygote.spare_count, yields
        await wait_until_idle(pool)

    local(work)


async def wait_until_idle(pool: LocalPool, spares: int = 2) -> None:
    """Only the spare children live."""
    await eventually(
        lambda: pool.zygote.spare_count == spares == len(children(pool)) == len(pool.zygote._children),
        lambda: f"{children(pool)} live, {pool.zygote.spare_count} of them spare",
    )


def children(pool: LocalPool) -> list[str]:
    with open(f"/proc/{pool.zygote.pid}/task/{pool.zygote.pid}/children") as file:
        return file.read().split()


def test_runs_cancelled_at_any_moment_free_their_turns(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        await run(pool, "finish")
        for yields in range(0, 60, 6):
            task = asyncio.create_task(run(pool, "sleep 6000"))
            for _ in range(yields):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await eventually(lambda: pool.queue.running_count == pool.queue.waiting_count == 0)
        assert (await asyncio.wait_for(run(pool, "finish"), PATIENCE)).outcome.status == "finished"

    pooled(work)


def test_closing_ends_what_runs_and_what_waits(create: Callable[..., PoolInterface], tmp_path: Path) -> None:
    async def main() -> None:
        pool = create(workers=2)
        await pool.start()
        try:
            await pool.wait_until_booted()
            gate = Gate(tmp_path)
            running = [asyncio.create_task(run(pool, gate.source)) for _ in range(4)]
            await eventually(
                lambda: (gate.runs, pool.queue.waiting_count) == (2, 2),
                lambda: (pool.queue, pool.machine_status),
            )
        finally:  # what it left running would have the next test wait
            await asyncio.wait_for(pool.close(), PATIENCE)
        results = await asyncio.wait_for(asyncio.gather(*running, return_exceptions=True), PATIENCE)
        lost = [result for result in results if isinstance(result, Trace) and result.outcome.status == "lost"]
        refused = [result for result in results if isinstance(result, WorkersUnavailable)]
        assert len(lost) == len(refused) == 2, results
        if isinstance(pool, LocalPool):
            assert pool.zygote._process is not None and pool.zygote._process.poll() is not None and not pool.is_ready

    asyncio.run(main())


def test_a_dead_zygote_loses_its_runs_and_is_replaced(tmp_path: Path) -> None:
    async def work(pool: LocalPool) -> None:
        gate = Gate(tmp_path)
        running = asyncio.create_task(run(pool, gate.source))
        await eventually(lambda: gate.has_begun)
        assert pool.zygote.pid is not None
        os.kill(pool.zygote.pid, signal.SIGKILL)
        assert (await asyncio.wait_for(running, PATIENCE)).outcome.status == "lost"
        assert not pool.is_ready
        await eventually(lambda: pool.is_ready)  # nobody has to ask for it
        assert (await run(pool, "finish")).outcome.status == "finished"

    local(work)


def test_a_run_survives_a_spare_that_was_just_killed() -> None:
    async def work(pool: LocalPool) -> None:
        await run(pool, "finish")
        await wait_until_idle(pool)
        for pid in children(pool)[:1]:  # the server does not know of it yet
            os.kill(int(pid), signal.SIGKILL)
        assert (await run(pool, "finish")).outcome.status == "finished"
        await wait_until_idle(pool)
        for pid in children(pool):
            os.kill(int(pid), signal.SIGKILL)
        trace = await run(pool, "finish")
        assert trace.outcome.status in ("finished", "lost")
        assert (await run(pool, "finish")).outcome.status == "finished"

    local(work)


@contextmanager
def descriptors_left(number: int) -> Iterator[None]:
    """Within, this process can open so many more descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    with ExitStack() as opened:
        last = -1
        while last <= highest:  # holes below the limit would count, too
            last = opened.enter_context(open(os.devnull, "rb")).fileno()
        resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1 + number, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_room_for_descriptors_no_worker_is_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(zygote, "SPARE_RETRY_SECONDS", 0.1)
    monkeypatch.setattr(zygote, "SPARE_TIMEOUT", 0.1)
    gate = Gate(tmp_path)

    async def work(pool: LocalPool) -> None:
        await run(pool, "finish")
        await wait_until_idle(pool, spares=1)
        open_before = len(os.listdir("/proc/self/fd"))
        with descriptors_left(0):  # the one of its job is closed once that is written; a spare comes with two
            running = asyncio.create_task(run(pool, gate.source))
            await eventually(lambda: caplog.text.count("no room for another descriptor") > 2 and not pool.is_ready)
            assert pool.zygote.spare_count == 0
            gate.open()
            assert (await running).outcome.status == "finished"
        await wait_until_idle(pool, spares=1)
        assert pool.is_ready and len(os.listdir("/proc/self/fd")) == open_before and pool.zygote.boots == 1
        assert (await run(pool, "finish")).outcome.status == "finished"

    local(work, workers=1)


def test_a_full_queue_is_not_ready(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        await run(pool, "finish")
        await eventually(lambda: pool.is_ready)
        running = [asyncio.create_task(run(pool, "sleep 6000")) for _ in range(4)]
        await eventually(lambda: not pool.is_ready)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await eventually(lambda: pool.is_ready)

    pooled(work, queue=2)


def test_a_child_has_no_environment(pooled: Pooled) -> None:
    async def work(pool: PoolInterface) -> None:
        trace = await run(pool, "environment")
        assert (trace.outcome.status, trace.steps[0].value) == ("finished", "")

    pooled(work)


def test_a_local_child_gets_nothing_of_the_servers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")

    async def work(pool: LocalPool) -> None:
        assert (await run(pool, "environment")).steps[0].value == ""
        with open(f"/proc/{pool.zygote.pid}/environ") as file:
            environment = file.read()
        assert "PYTHONHASHSEED=0" in environment and "SECRET_TOKEN" not in environment

    local(work)
