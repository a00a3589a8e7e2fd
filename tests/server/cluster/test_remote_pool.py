"""What only the pool with workers elsewhere promises: loss, a broker that restarts, what web processes share."""

import asyncio
import gzip
import os
import signal
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradbox.wire.api import Job
from gradbox.wire.trace import Trace
from server.cluster.factories import create_pool
from server.pool.askers import Askers
from server.pool.interface import ReadTraceSoFar
from server.pool.remote import census, messages, worker
from server.pool.remote.pool import RemotePool
from server.pool.remote.remote_run import RemoteRun, decompress_bounded
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.store.database import Database
from server.visitors.clients import Client
from tests.support.brokers import SECRET, RedisServer, WorkerProcess, running_redis
from tests.support.gates import Gate
from tests.support.waiting import PATIENCE, PATIENT, eventually

pytestmark = pytest.mark.slow
pytest_plugins = ("tests.support.brokers", "tests.support.pools")

ANN, BOB = Client("ann", "192.0.2.1"), Client("bob", "192.0.2.2")


def pooled(url: str, folder: Path, work: Callable[..., Awaitable[None]], pools: int = 1, **settings: Any) -> None:
    """Do this with so many pools, of as many web processes."""

    async def main() -> None:
        databases = [Database("", folder / "data") for _ in range(pools)]
        options = Settings({}, queue_url=url, secret=SECRET, **(PATIENT | settings))
        made: list[RemotePool] = [create_pool(options, database) for database in databases]
        for pool in made:
            await pool.start()
        try:
            await work(*made)
        finally:
            for pool, database in zip(made, databases, strict=True):
                await pool.close()
                await database.close()

    asyncio.run(main())


async def run(pool: RemotePool, source: str, client: Client = ANN, **arguments: Any) -> Trace:
    return (await pool.run_job(Job(source=source, limits={}), client, **arguments)).decoded()


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis of one's own, to be ended and started again."""
    with running_redis() as server:
        yield server


@pytest.fixture
def start_worker(redis: RedisServer) -> Iterator[Callable[..., WorkerProcess]]:
    """Starts a worker for that Redis."""
    started: list[WorkerProcess] = []

    def start(**variables: str) -> WorkerProcess:
        started.append(WorkerProcess(redis.url, redis.folder, **variables))
        return started[-1]

    yield start
    for process in started:
        process.end()


def test_a_trace_says_which_worker_made_it(remote_workers: str, broker: RedisServer) -> None:
    async def work(pool: RemotePool) -> None:
        trace = await run(pool, "finish")
        assert trace.runtime.worker in [machine["name"] for machine in pool.machine_status]
        assert pool.versions == {"torch": "0", "numpy": "0", "python": "0"} and pool.worker_count == 2
        assert pool.devices == ("cpu",)
        with pytest.raises(WorkersUnavailable):
            await asyncio.wait_for(pool.run_job(Job(source="finish", device="cuda")), PATIENCE)

    pooled(remote_workers, broker.folder, work)


def test_a_run_shared_by_two_servers_survives_one_that_stops_waiting(
    remote_workers: str, broker: RedisServer, tmp_path: Path
) -> None:
    async def work(first: RemotePool, second: RemotePool) -> None:
        await eventually(lambda: first.versions and second.versions)  # before, nobody can tell which runs are the same
        gate, stop, started = Gate(tmp_path), asyncio.Event(), asyncio.Event()

        def on_position(position: int) -> None:
            if position == -1:
                started.set()

        running = asyncio.create_task(
            run(first, gate.source, on_position=on_position, stop=stop, askers=Askers.of_client(ANN))
        )
        await started.wait()
        joined = asyncio.create_task(run(second, gate.source, askers=Askers.of_client(BOB)))
        await eventually(lambda: any(run.started for run in second._census.runs.values()))
        assert set(first._census.runs) == set(second._census.runs)
        stop.set()
        assert (await running).outcome.status == "cancelled"
        gate.open()
        assert (await joined).outcome.status == "finished"

    pooled(remote_workers, broker.folder, work, pools=2)


def test_a_stopped_run_keeps_what_was_recorded(remote_workers: str, broker: RedisServer) -> None:
    async def work(pool: RemotePool) -> None:
        stop = asyncio.Event()
        running = asyncio.create_task(run(pool, "sleep 6000", stop=stop))
        await eventually(lambda: any(run.lines for run in pool._census.runs.values()))
        stop.set()
        trace = await running
        assert (trace.outcome.status, len(trace.steps)) == ("cancelled", 2)

    pooled(remote_workers, broker.folder, work)


def test_the_trace_of_a_run_that_goes_on_is_read_while_its_lines_come(
    remote_workers: str, broker: RedisServer, tmp_path: Path
) -> None:
    async def work(pool: RemotePool) -> None:
        gate, growing = Gate(tmp_path), list[ReadTraceSoFar]()
        running = asyncio.create_task(run(pool, gate.source, on_growing=growing.append))
        await eventually(lambda: any(run.lines for run in pool._census.runs.values()))
        body = await growing[0]()
        assert body is not None
        so_far = Trace.model_validate_json(gzip.decompress(body))
        assert (so_far.outcome.status, len(so_far.steps)) == ("running", 2)
        gate.open()
        assert (await running).outcome.status == "finished" and len(growing) == 1

    pooled(remote_workers, broker.folder, work)


def test_many_lines_go_through_the_database(
    remote_workers: str, broker: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is the worker's: here one runs in this process."""
    monkeypatch.setattr(worker, "MAX_STREAMED_BYTES", 10)

    async def work(pool: RemotePool) -> None:
        settings = Settings({}, queue_url=remote_workers, secret=SECRET, sandbox="off", gpu=False)
        one = worker.RemoteWorker(settings, "cpu", pool._blobs, "tests.support.stand_in_recorder:prepare")
        await one.start()
        try:
            run = RemoteRun(messages.new_run_name(), 1 << 20)
            await one._run_message(
                run.id, messages.encode_wire_model(messages.TraceMessage(job=Job(source="finish"))), asyncio.Event()
            )
            pool._inbox.add_run(run.id, run.handle_entry)
            await pool._inbox.read_rest_of_run(run.id)
            assert run.blob == run.id and run.data == b""
            assert b'"outcome"' in (await pool._read_recording(run)).data
        finally:
            await one.close()

    pooled(remote_workers, broker.folder, work)


def test_a_killed_worker_loses_what_gives_another_result_and_the_rest_is_run_again(
    redis: RedisServer, start_worker: Callable[..., WorkerProcess], tmp_path: Path
) -> None:
    first, gate, chance = start_worker(), Gate(tmp_path), Gate(tmp_path, chance=True)
    name = first.wait_until_ready()

    async def work(pool: RemotePool) -> None:
        repeatable = asyncio.create_task(run(pool, gate.source))
        other = asyncio.create_task(run(pool, chance.source, BOB))
        await eventually(lambda: [bool(run.lines) for run in pool._census.runs.values()] == [True, True])
        second = start_worker()
        first.kill()
        second_name = await asyncio.to_thread(second.wait_until_ready)
        lost = await asyncio.wait_for(other, PATIENCE)
        assert (lost.outcome.status, lost.runtime.worker, len(lost.steps)) == ("lost", name, 2)
        gate.open()
        again = await asyncio.wait_for(repeatable, PATIENCE)
        assert (again.outcome.status, again.runtime.worker) == ("finished", second_name)
        assert (await run(pool, "finish")).runtime.worker == second_name

    pooled(redis.url, redis.folder, work)


def test_a_broker_that_restarts_loses_no_run(
    redis: RedisServer, start_worker: Callable[..., WorkerProcess], tmp_path: Path
) -> None:
    """One ends while it is away, one when it is there again, one waits for its turn meanwhile."""
    start_worker().wait_until_ready()
    first, second = Gate(tmp_path), Gate(tmp_path)

    async def work(pool: RemotePool) -> None:
        running = [asyncio.create_task(run(pool, gate.source)) for gate in (first, second)]
        await eventually(lambda: sum(run.started for run in pool._census.runs.values()) == 2)
        running.append(asyncio.create_task(run(pool, "finish later")))
        await eventually(lambda: pool.queue.waiting_count == 1)
        await asyncio.to_thread(redis.end, signal.SIGKILL)
        await eventually(lambda: not pool.is_ready)
        first.open()
        asked = asyncio.create_task(run(pool, "finish"))
        await asyncio.to_thread(redis.start)
        second.open()
        traces = await asyncio.wait_for(asyncio.gather(*running, asked), PATIENCE)
        assert [trace.outcome.status for trace in traces] == ["finished"] * 4
        await eventually(lambda: pool.is_ready)

    pooled(redis.url, redis.folder, work)


def test_a_worker_that_is_asked_to_end_finishes_what_runs(
    redis: RedisServer, start_worker: Callable[..., WorkerProcess], tmp_path: Path
) -> None:
    process, gate = start_worker(), Gate(tmp_path)
    process.wait_until_ready()

    async def work(pool: RemotePool) -> None:
        running = asyncio.create_task(run(pool, gate.source))
        await eventually(lambda: any(run.started for run in pool._census.runs.values()))
        os.kill(process.process.pid, signal.SIGTERM)
        gate.open()
        assert (await running).outcome.status == "finished"
        await eventually(lambda: process.process.poll() is not None)
        assert process.process.returncode == 0
        await eventually(lambda: not pool.machine_status)

    pooled(redis.url, redis.folder, work)


def test_without_a_worker_a_program_is_refused(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.pool.remote.pool.MAX_WAIT", 0.2)

    async def work(pool: RemotePool) -> None:
        await eventually(lambda: pool._inbox.connected_since is not None)
        with pytest.raises(WorkersUnavailable, match="no cpu worker"):
            await run(pool, "finish")
        assert not pool.is_ready
        await asyncio.to_thread(redis.end)
        with pytest.raises(WorkersUnavailable, match="no broker"):
            await eventually(lambda: pool._inbox.connected_since is None)
            await run(pool, "finish")

    pooled(redis.url, redis.folder, work)


def test_invalid_lines_from_a_worker_are_rejected() -> None:
    entries = {
        "no kind": {b"a": b"b"},
        "a name with a slash": {b"kind": b"start", b"worker": b"../x", b"versions": b"{}"},
        "no versions": {b"kind": b"start", b"worker": b"cpu-1", b"versions": b"[1]"},
        "no zlib": {b"kind": b"lines", b"data": b"x"},
        "an end of another shape": {b"kind": b"end", b"seen": b'{"outcome":{"status":"fine"}}', b"data": b""},
    }
    for name, entry in entries.items():
        one = RemoteRun(messages.new_run_name(), 1000)
        one.handle_entry(entry)
        assert one.lost and one.ended.is_set(), name
    with pytest.raises(ValueError, match="more than a run may write"):
        decompress_bounded(zlib.compress(b"x" * 10_000), 1000)
    assert messages.parse_worker_records([b"x", b"{}", b'{"name":"a","queue":"cpu","capacity":-1,"running":0}']) == []


def test_the_state_of_the_queue_estimates_the_wait() -> None:
    state = census.QueueState(limit=8, network_limit=6, capacity=2, waiting_count=8, running_count=2)
    assert state.is_full and state.client_limit == 2 and state.estimate_wait_seconds(8) == 4.0
