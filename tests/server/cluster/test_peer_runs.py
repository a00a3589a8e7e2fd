"""Two web processes with a real Redis: a run that one accepted is followed, read and stopped through the other."""

import asyncio
import gzip
import json
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gradbox.wire.api import Job
from server.pool.cache import ResultCache
from server.pool.executions import ExecutionResult, Executions, Subscription
from server.pool.local import LocalPool
from server.pool.remote import shared_broker
from server.pool.remote.shared_broker import SharedBroker
from server.runs import peer_runs
from server.runs.peer_runs import BrokerPeerRuns, PeerReply, process_alive_key, process_messages_key
from server.settings import Settings
from server.visitors.clients import Client
from tests.support.brokers import SECRET, STAND_IN, RedisServer
from tests.support.gates import Gate
from tests.support.running_server import running_server
from tests.support.waiting import PATIENCE, PATIENT, PAUSE, eventually, wait_until

pytestmark = pytest.mark.slow
pytest_plugins = ("tests.support.brokers", "tests.support.pools")

ANN, BOB = Client("ann", "192.0.2.1"), Client("bob", "192.0.2.2")


class Blobs:
    """Traces in memory, where a server has its database."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}

    async def put(self, name: str, body: bytes) -> None:
        self.stored[name] = body

    async def get(self, name: str) -> bytes | None:
        return self.stored.get(name)


class Web:
    """What a web process has of runs."""

    def __init__(self, url: str, pool: LocalPool, blobs: Blobs, secret: str = SECRET) -> None:
        self.broker = SharedBroker(url)
        self.peer_runs = BrokerPeerRuns(self.broker, url, secret.encode(), blobs)
        self.executions = Executions(
            pool, ResultCache(1), 10_000_000, lambda *_: None, None, self.peer_runs.process_name
        )

    async def states(self, subscription: Subscription) -> list[str]:
        return [state["state"] async for state in self.executions.iterate_states(subscription)]

    async def close(self) -> None:
        await self.executions.close()
        await self.peer_runs.close()
        await self.broker.close()


@pytest.fixture(autouse=True)
def max_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is slow on a busy machine is not away."""
    monkeypatch.setattr(shared_broker, "TIMEOUT", PATIENCE)
    monkeypatch.setattr(peer_runs, "ANSWER_SECONDS", PATIENCE)


def related(url: str, work: Callable[[Web, Web, Blobs], Awaitable[None]], secret: str = SECRET) -> None:
    """Do this with two web processes, the second of which may have another secret."""

    async def main() -> None:
        pool, blobs = LocalPool(Settings({}, sandbox="off", workers=2, **PATIENT), STAND_IN), Blobs()
        one, other = Web(url, pool, blobs), Web(url, pool, blobs, secret)
        await pool.start()
        await pool.wait_until_booted()
        for web in (one, other):
            web.peer_runs.start_answering(web.executions)
            while not await web.broker.redis.exists(process_alive_key(web.peer_runs.process_name)):
                await asyncio.sleep(PAUSE)  # until it is
        try:
            await work(one, other, blobs)
        finally:
            for web in (one, other):
                await web.close()
            await pool.close()

    asyncio.run(main())


def job(source: str) -> Job:
    return Job(source=source, limits={})


def outcome(result: ExecutionResult | None) -> Any:
    assert result is not None
    return json.loads(gzip.decompress(result.body))["outcome"]["status"]


async def found(web: Web, run: str) -> Subscription:
    subscription = await web.peer_runs.find_run(run)
    assert subscription is not None
    return subscription


def test_a_run_is_followed_read_and_stopped_elsewhere(broker: RedisServer) -> None:
    async def work(one: Web, other: Web, _: Blobs) -> None:
        running = await one.executions.subscribe(job("sleep 6000"), ANN)
        beside = await one.executions.subscribe(job("sleep 6001"), BOB)
        waiting = await one.executions.subscribe(job("sleep 6002"), BOB)
        mirror = await found(other, waiting.id)
        assert mirror.state_fields() == {"id": waiting.id, "state": "queued", "ahead": 0}
        states = asyncio.create_task(other.states(mirror))
        assert (await found(other, running.id)).state == "running"
        assert await found(other, waiting.id) is mirror, "it is followed once"
        for run in (running, beside):
            assert await other.peer_runs.stop_run(run.id)
        assert outcome(await other.executions.wait_for_result(await found(other, running.id))) == "cancelled"
        await eventually(lambda: mirror.state == "running")
        assert await other.peer_runs.stop_run(waiting.id)
        assert (await states)[-2:] == ["running", "done"]
        await eventually(lambda: other.executions.find_subscription(waiting.id) is not None)
        here = other.executions.find_subscription(waiting.id)
        assert here is not None and outcome(here.execution.result) == "cancelled", "the result is kept here too"

    related(broker.url, work)


def test_a_finished_run_is_read_elsewhere_and_a_large_trace_goes_through_the_database(
    broker: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(one: Web, other: Web, blobs: Blobs) -> None:
        run = await one.executions.subscribe(job("finish"), ANN)
        result = await one.executions.wait_for_result(run)
        for bound, stored in ((1 << 20, 0), (10, 1)):
            monkeypatch.setattr(peer_runs, "MAX_STREAMED_BYTES", bound)
            mirror = await found(other, run.id)
            assert mirror.execution.result == ExecutionResult("finished", result.body)
            assert len(blobs.stored) == stored
        blobs.stored.clear()
        monkeypatch.setattr(blobs, "put", None)
        assert (await found(other, run.id)).execution.error is not None, "what is not stored is not read"

    related(broker.url, work)


def test_a_run_read_by_another_server_goes_on_and_an_unread_one_ends(
    broker: RedisServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("server.pool.executions.GRACE_SECONDS", 0.5)
    monkeypatch.setattr(peer_runs, "LONGEST_WAIT", 0.2)

    async def work(one: Web, other: Web, _: Blobs) -> None:
        gate = Gate(tmp_path)
        read = await one.executions.subscribe(job(gate.source), ANN)
        unread = await one.executions.subscribe(job("sleep 6000"), BOB)
        reading = asyncio.create_task(other.executions.wait_for_result(await found(other, read.id)))
        one.executions.unsubscribe_unless_read(read)
        await found(other, unread.id)
        await eventually(lambda: unread.execution.is_done)
        gate.open()
        assert outcome(await reading) == "finished"

    related(broker.url, work)


def test_a_run_is_gone_with_its_process(broker: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_runs, "MAX_WAIT", 0.5)

    async def work(one: Web, other: Web, _: Blobs) -> None:
        run = await one.executions.subscribe(job("sleep 6000"), ANN)
        mirror = await found(other, run.id)
        states = asyncio.create_task(other.states(mirror))
        await one.close()
        assert (await states)[-1] == "done" and mirror.execution.error is not None
        for missing in (run.id, "ffffffffffff" + run.id[12:], "never", f"{other.peer_runs.process_name}.{run.id[13:]}"):
            assert await other.peer_runs.find_run(missing) is None
            assert not await other.peer_runs.stop_run(missing)

    related(broker.url, work)


def test_messages_without_a_valid_signature_are_ignored(broker: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_runs, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(peer_runs, "MAX_WAIT", 0.1)

    async def work(one: Web, stranger: Web, _: Blobs) -> None:
        run = await one.executions.subscribe(job("sleep 6000"), ANN)
        assert not await stranger.peer_runs.stop_run(run.id)
        signed = one.peer_runs._signer.sign(stranger.peer_runs.process_name, b"{}")
        for message in (b"", b"x" * 100, signed, PeerReply(id="x").model_dump_json().encode()):
            await one.broker.redis.rpush(process_messages_key(one.peer_runs.process_name), message)
        while await one.broker.redis.exists(process_messages_key(one.peer_runs.process_name)):
            await asyncio.sleep(PAUSE)  # until it has read them
        assert run.state == "running" and one.executions.find_subscription(run.id) is run

    related(broker.url, work, secret="another")


def test_two_servers_need_no_sticky_proxy(remote_workers: str, tmp_path: Path) -> None:
    variables = {"QUEUE_URL": remote_workers, "SECRET": SECRET}
    with (
        running_server(tmp_path / "one", **variables) as one,
        running_server(tmp_path / "other", **variables) as other,
    ):
        started = ask(one, "POST", "/api/runs", {"source": "sleep 6000"}, Prefer="respond-async")
        path = started["url"]
        with urllib.request.urlopen(other + started["events"], timeout=60) as events:
            assert next(line for line in events if line.startswith(b"event:")).strip() in (
                b"event: queued",
                b"event: running",
            )
            wait_until(lambda: ask(other, "GET", path)["state"] == "running")
            ask(other, "DELETE", path)
            assert b"event: done\r\n" in list(events)
        for address in (other, one):
            assert ask(address, "GET", path)["outcome"]["status"] == "cancelled"


def ask(address: str, method: str, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    """The JSON of an answer."""
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(
        address + path, data, {"Content-Type": "application/json", **headers}, method=method
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else None
