"""The queue in the broker: it has the same order as that of one machine, and what others write there does no harm."""

import asyncio
import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis as redis_client

from gradbox.wire.api import Job
from server.pool.askers import Asker, Askers
from server.pool.fair_queue import FairQueue, WorkerRequest
from server.pool.remote import messages, remote_run, scripts, worker
from server.pool.remote.pool import RemotePool
from server.pool.remote.remote_run import RemoteRun
from server.pool.remote.run_signature import RunSigner
from server.settings import Settings
from server.throttled_log import INTERVAL, ThrottledLog
from server.visitors.clients import Client
from server.wire.problems import WorkerQueueFull
from tests.server.cluster.test_remote_pool import pooled, run
from tests.support.brokers import SECRET, RedisServer, WorkerProcess, running_redis
from tests.support.gates import Gate
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.slow
pytest_plugins = ("tests.support.brokers", "tests.support.pools")

ANN, BOB, EVE = (Client(name, f"192.0.2.{k}") for k, name in enumerate(("ann", "bob", "eve")))


class BrokerQueue:
    """The queue `cpu` in a Redis, asked by the scripts alone. Its clock is set by the test.

    tick: seconds that it moves on by itself, where a run is submitted
    """

    def __init__(self, url: str, limit: int = 64, tick: float = 0.001) -> None:
        self.redis: Any = redis_client.Redis.from_url(url)
        self.redis.flushall()
        self.limit, self._tick, self._now = limit, tick, 1000.0
        for name in ("SUBMIT_SCRIPT", "SET_WAITING_CLIENTS_SCRIPT", "TAKE_SCRIPT", "LEAVE_SCRIPT", "RELEASE_SCRIPT"):
            script = getattr(scripts, name).replace(
                "redis.call('TIME')", "redis.call('MGET', 'seconds', 'microseconds')"
            )
            setattr(self, f"_{name.lower().removesuffix('_script')}", self.redis.register_script(script))
        self.set_clock(self._now)
        self.prefix = messages.queue_key_prefix("cpu")

    def set_clock(self, now: float) -> None:
        self._now = now
        self.redis.mset({"seconds": 0, "microseconds": round(now * 1e6)})

    def submit(self, run: str, asker: Asker, web: str = "web", key: str = "") -> tuple[str, str]:
        """What `scripts.SUBMIT` answers."""
        self.set_clock(self._now + self._tick)
        submission = messages.Submission(
            run=run, key=key, askers=[record(asker, web)], limit=self.limit, client_limit=max(2, self.limit // 4),
            network_limit=max(2, self.limit * 3 // 4), capacity=0, front=False, wake=f"wake {web}", lost=1e9,
        )  # fmt: skip
        arguments = [messages.encode_wire_model(submission), b"message", b"token"]
        answer = self._submit(keys=[self.prefix, "list"], args=arguments)  # type: ignore[attr-defined]
        return answer[0].decode(), answer[1].decode()

    def set_askers(self, run: str, askers: Askers, web: str = "web") -> None:
        records = json.dumps([record(asker, web).model_dump() for asker in askers])
        self._set_waiting_clients(keys=[self.prefix], args=[run, web, records])  # type: ignore[attr-defined]

    def leave(self, run: str, web: str = "web") -> str:
        return str(self._leave(keys=[self.prefix], args=[run, 900, web]).decode())  # type: ignore[attr-defined]

    def take(self) -> str | None:
        taken = self._take(keys=[self.prefix], args=["cpu-1", "{}", 900])  # type: ignore[attr-defined]
        return str(taken[0].decode()) if taken else None

    def release(self, run: str) -> None:
        self._release(keys=[self.prefix], args=[run, 0])  # type: ignore[attr-defined]

    def line(self) -> list[str]:
        """The runs that wait, in their order."""
        return [run.decode() for run in self.redis.zrange(self.prefix + "waiting", 0, -1)]

    def refused(self, run: str) -> list[str]:
        """The ids of askers whose places in this run were given to others."""
        entries = [entry for _, entry in self.redis.xrange(f"gradbox:run:{run}")]
        return [id_ for entry in entries if entry[b"kind"] == b"busy" for id_ in json.loads(entry[b"askers"])]


def record(asker: Asker, web: str) -> messages.WaitingClientRecord:
    return messages.WaitingClientRecord(id=asker.id, web=web, client=asker.client.id, network=asker.client.network)


@pytest.mark.parametrize("seed", range(12))
def test_the_queue_of_the_broker_has_the_order_of_that_of_one_machine(broker: RedisServer, seed: int) -> None:
    chance = random.Random(seed)
    elsewhere, now = BrokerQueue(broker.url, tick=0.0), [1000.0]

    async def main() -> int:
        here = FairQueue(1, 64, clock=lambda: now[0])
        requests: dict[str, WorkerRequest] = {}
        tasks: dict[str, asyncio.Task[None]] = {}
        finished: dict[str, asyncio.Event] = {}

        async def wait(name: str) -> None:
            async with requests[name]:
                await finished[name].wait()

        def line() -> list[str]:
            names = {request: name for name, request in requests.items()}
            return [names[request] for request in here._sort_by_turn(here._waiting_places()).requests]

        def client() -> Client:
            network = chance.choice("abcd")
            return Client(network + chance.choice("xyz"), network)

        async def settle(running: str | None) -> str | None:
            """What runs, once all has happened that can."""
            for _ in range(4):
                await asyncio.sleep(0)
            if running is None and here.running_count:
                running = elsewhere.take()
                assert running is not None and requests[running].granted.done()
            assert elsewhere.line() == line()
            return running

        running, checked = None, 0
        for k in range(80):
            now[0] += 0.125
            elsewhere.set_clock(now[0])
            waiting, act = line(), chance.random()
            if act < 0.55 and len(waiting) < 20:
                asker, name = Asker(client()), f"run {k}"
                requests[name], finished[name] = here.create_request(Askers(asker)), asyncio.Event()
                tasks[name] = asyncio.create_task(wait(name))
                await asyncio.sleep(0)
                assert elsewhere.submit(name, asker)[0] == "queued"
            elif act < 0.65 and waiting:
                name = chance.choice(waiting)
                requests[name].askers.join(Asker(client()))
                elsewhere.set_askers(name, requests[name].askers)
            elif act < 0.7 and waiting:
                name = chance.choice(waiting)
                askers = requests[name].askers
                if len(askers) > 1:
                    askers.leave(chance.choice(list(askers)))
                    elsewhere.set_askers(name, askers)
            elif act < 0.8 and waiting:
                name = chance.choice(waiting)
                tasks[name].cancel()
                assert elsewhere.leave(name) == "withdrawn"
            elif running is not None:
                now[0] += chance.choice([0.0, 0.5, 3.0, 10.0])
                elsewhere.set_clock(now[0])
                elsewhere.release(running)
                finished[running].set()
                running = None
            running = await settle(running)
            checked += len(line()) > 3
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        return checked

    assert asyncio.run(main()) > 5


def test_a_run_waits_in_the_best_place_of_the_askers_of_all_web_processes(broker: RedisServer) -> None:
    queue = BrokerQueue(broker.url)
    for k in range(5):
        queue.submit(f"attack {k}", Asker(EVE))
    assert queue.submit("lesson", Asker(EVE), key="lesson") == ("queued", "5")
    assert queue.submit("other", Asker(BOB), "web 2") == ("queued", "1")
    assert queue.submit("again", Asker(ANN), "web 2", key="lesson") == ("joined", "lesson")
    assert queue.line()[:3] == ["attack 0", "other", "lesson"]
    assert queue.leave("lesson", "web 2") == "others"
    assert queue.line()[-1] == "lesson", "the place of who left is gone"


def test_eviction_takes_places_and_not_the_run_that_others_want(broker: RedisServer) -> None:
    queue = BrokerQueue(broker.url, limit=8)
    attackers = [Asker(Client(f"c{k // 2}", "crowd")) for k in range(6)]
    for k, attacker in enumerate(attackers):
        queue.submit(f"attack {k}", attacker, key=f"{k}")
    for name in ("o", "p"):
        queue.submit(name, Asker(Client(name, name)))
    visitor, newcomer = Asker(ANN), Asker(BOB)
    assert queue.submit("joins", visitor, "web 2", key="5") == ("joined", "attack 5")
    assert queue.submit("newcomer", newcomer)[0] == "queued"
    assert "attack 5" in queue.line() and "newcomer" in queue.line() and len(queue.line()) == 8
    assert "attack 3" not in queue.line() and queue.refused("attack 3") == [attackers[3].id]
    assert queue.submit("more", Asker(BOB))[0] == "queued"
    assert queue.submit("attack 9", Asker(Client("c9", "crowd")))[0] == "busy"


def test_networks_that_join_each_others_runs_still_make_room(broker: RedisServer) -> None:
    queue = BrokerQueue(broker.url, limit=8)
    for k in range(8):
        queue.submit(f"run {k}", Asker(Client(f"m{k}", "most" if k % 2 else "many")), key=f"{k}")
    for k in range(8):
        joined = queue.submit("joins", Asker(Client(f"j{k}", "many" if k % 2 else "most")), "web 2", key=f"{k}")
        assert joined == ("joined", f"run {k}")
    assert queue.submit("newcomer", Asker(ANN))[0] == "queued"
    assert len(queue.line()) == 8 and "newcomer" in queue.line()


def test_invalid_tickets_in_the_queue_are_dropped(broker: RedisServer) -> None:
    queue = BrokerQueue(broker.url)
    queue.submit("run 1", Asker(ANN))
    for k, text in enumerate((b"no json", b"[]", b"1", b'{"askers":7}', b'{"askers":[{"id":1}]}', b"\xff")):
        queue.redis.zadd(queue.prefix + "waiting", {f"bad {k}": 0})
        queue.redis.hset(queue.prefix + "askers", f"bad {k}", text)
    queue.redis.set("gradbox:charges:run 1", b"no json")
    assert queue.submit("run 2", Asker(BOB))[0] == "queued"
    assert [queue.take(), queue.take(), queue.take()] == ["run 1", "run 2", None]
    assert not queue.line()


def test_charges_expire(broker: RedisServer) -> None:
    queue = BrokerQueue(broker.url)
    queue.submit("run 1", Asker(ANN))
    assert queue.take() == "run 1"
    queue.set_clock(1010.0)
    queue.release("run 1")
    keys = [key for key in queue.redis.keys(queue.prefix + "*") if not key.endswith((b"bases", b"waiting", b"running"))]
    assert len(keys) == 4, keys
    assert all(0 < queue.redis.ttl(key) <= scripts.EXPECTED_TTL for key in keys)
    assert queue.redis.ttl(queue.prefix + f"served:network:{ANN.network}") > 90, "until ten seconds are forgotten"


@pytest.mark.usefixtures("worker_process")
def test_a_visitor_joins_the_run_of_an_attacker_on_another_web_process(redis: RedisServer, tmp_path: Path) -> None:
    """Behind the attacker's programs it would never come to its turn: one of them ends."""

    async def work(first: RemotePool, second: RemotePool) -> None:
        await eventually(lambda: first.versions and second.versions)  # before, nobody can tell which runs are the same
        places: list[int] = []
        gates = [Gate(tmp_path) for _ in range(6)]
        attacks = [asyncio.create_task(run(first, gate.source, EVE)) for gate in gates]
        await eventually(lambda: sum(one.started for one in first._census.runs.values()) == 2)
        attack = asyncio.create_task(run(first, "finish", askers=Askers.of_client(EVE)))
        await eventually(lambda: first.queue.waiting_count >= 5)
        joined = asyncio.create_task(run(second, "finish", askers=Askers.of_client(BOB), on_position=places.append))
        await eventually(lambda: places[-1:] == [0])
        await eventually(lambda: any(gate.has_begun for gate in gates))
        next(gate for gate in gates if gate.has_begun).open()
        await asyncio.wait_for(joined, PATIENCE)
        assert (await attack).outcome.status == "finished"
        for task in attacks:
            task.cancel()
        await asyncio.gather(*attacks, return_exceptions=True)

    pooled(redis.url, redis.folder, work, pools=2)


@pytest.mark.usefixtures("worker_process")
def test_joining_in_the_same_process_improves_a_runs_place(redis: RedisServer) -> None:
    async def work(pool: RemotePool) -> None:
        attacks = [asyncio.create_task(run(pool, f"sleep {6000 + k}", EVE)) for k in range(6)]
        await eventually(lambda: sum(one.started for one in pool._census.runs.values()) == 2)
        askers, places = Askers.of_client(EVE), []  # type: ignore[var-annotated]
        lesson = asyncio.create_task(run(pool, "finish", askers=askers, on_position=places.append))
        await eventually(lambda: bool(places))
        asker = Asker(BOB)
        askers.join(asker)
        await eventually(lambda: places[-1] == 0)
        askers.leave(asker)
        await eventually(lambda: places[-1] > 0)
        for task in (*attacks, lesson):
            task.cancel()
        await asyncio.gather(*attacks, lesson, return_exceptions=True)

    pooled(redis.url, redis.folder, work)


def test_a_refused_asker_leaves_the_run_to_the_others() -> None:
    refused: list[Exception] = []
    mine, other = Asker(ANN, refused.append), Asker(BOB)
    one = RemoteRun(messages.new_run_name(), 1000, askers=Askers(mine, other))
    one.handle_entry({b"kind": b"busy", b"askers": json.dumps([mine.id, "of another process"]).encode()})
    assert len(refused) == 1 and not one.ended.is_set()
    one.handle_entry({b"kind": b"busy", b"askers": json.dumps([other.id]).encode()})
    assert one.ended.is_set() and isinstance(one.error, WorkerQueueFull)


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis of one's own."""
    with running_redis() as server:
        yield server


@pytest.fixture
def worker_process(redis: RedisServer) -> Iterator[WorkerProcess]:
    """A worker of two programs at once for that Redis."""
    process = WorkerProcess(redis.url, redis.folder, QUEUE_KEY="key of the tests")
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.end()


FORGED_END = {
    b"kind": b"end",
    b"seen": b'{"ended":true,"size":3,"outcome":{"status":"finished"}}',
    b"data": b"x\x9cKLJ\x06\x00\x02M\x01'",
}


def test_lines_without_a_workers_signature_are_ignored(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_run, "throttled_log", ThrottledLog(logging.getLogger("gradbox.pool")))
    message = messages.encode_wire_model(messages.TraceMessage(job=Job(source="finish")))
    name = messages.new_run_name()

    def received() -> RemoteRun:
        return RemoteRun(name, 1000, signer=RunSigner(b"key", name, message))

    forged = {
        "unsigned": FORGED_END,
        "of another key": RunSigner(b"other", name, message).sign_next(FORGED_END),
        "of another run": RunSigner(b"key", messages.new_run_name(), message).sign_next(FORGED_END),
        "of another program": RunSigner(b"key", name, message + b" ").sign_next(FORGED_END),
        "changed": {**RunSigner(b"key", name, message).sign_next(FORGED_END), b"data": b"x"},
        "with one more field": {**RunSigner(b"key", name, message).sign_next(FORGED_END), b"blob": b"x"},
        "fields that only look alike": RunSigner(b"key", name, message).sign_next({b"kind": b"end", b"seen": b"data"}),
    }
    forged["fields that only look alike"][b"kind"] = b"lines"
    for what, entry in forged.items():
        one = received()
        one.handle_entry(entry)
        assert not one.ended.is_set() and one.result is None, what
    for entry in (
        {b"kind": b"failed"},
        {b"kind": b"lines", b"data": b"x"},
        {b"kind": b"start", b"worker": b"../x"},
        {b"a": b"b"},
    ):
        one.handle_entry(entry)
        assert not one.ended.is_set() and not one.lines, entry
    assert caplog.text.count("has no valid signature") == 1, "once a minute"
    signer, one = RunSigner(b"key", name, message), received()
    lines = signer.sign_next({b"kind": b"lines", b"data": b"x\x9cKLJ\x06\x00\x02M\x01'"})
    for _ in range(3):  # the second and the third are replayed
        one.handle_entry(lines)
    assert one.lines == b"abc"
    one.handle_entry(signer.sign_next(FORGED_END))
    assert one.ended.is_set() and not one.lost and one.result is not None


@pytest.mark.usefixtures("worker_process")
def test_a_forged_end_reaches_nobody(redis: RedisServer, tmp_path: Path) -> None:
    """Whoever reads and writes the broker waits for a run to start, and is quicker than its worker."""
    client: Any = redis_client.Redis.from_url(redis.url)
    gate = Gate(tmp_path)

    async def work(pool: RemotePool) -> None:
        running = asyncio.create_task(run(pool, gate.source))
        await eventually(lambda: any(one.started for one in pool._census.runs.values()))
        (name,) = pool._census.runs
        for entry in (FORGED_END, RunSigner(b"guess", name, b"").sign_next(FORGED_END)):
            client.xadd(messages.stream_key(name), entry)
        gate.open()
        trace = await running
        assert trace.outcome.status == "finished" and len(trace.steps) == 2
        assert trace.runtime.worker in [machine["name"] for machine in pool.machine_status]

    pooled(redis.url, redis.folder, work, queue_key="key of the tests")


@pytest.mark.usefixtures("worker_process")
def test_a_program_that_was_exchanged_in_the_broker_is_shown_to_nobody(redis: RedisServer, tmp_path: Path) -> None:
    gates = [Gate(tmp_path) for _ in range(2)]
    client: Any = redis_client.Redis.from_url(redis.url)
    other = messages.encode_wire_model(messages.TraceMessage(job=Job(source="garbage what", limits={})))

    async def work(pool: RemotePool) -> None:
        busy = [asyncio.create_task(run(pool, gate.source, EVE)) for gate in gates]
        await eventually(lambda: sum(one.started for one in pool._census.runs.values()) == 2)
        victim = asyncio.create_task(run(pool, "chance", BOB))
        await eventually(lambda: bool(client.zcard("gradbox:cpu:waiting")))
        (name,) = client.zrange("gradbox:cpu:waiting", 0, -1)
        client.set(b"gradbox:job:" + name, other)
        for gate in gates:
            gate.open()
        trace = await asyncio.wait_for(victim, PATIENCE)
        assert trace.outcome.status == "lost" and not trace.steps
        await asyncio.gather(*busy)

    pooled(redis.url, redis.folder, work, queue_key="key of the tests")


GARBAGE = (
    b"no json",
    b"{}",
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"properties":1}',
    b'{"properties":{"delivery_tag":"x"}}',
    b'{"body":"!!!","properties":{"delivery_tag":"x","body_encoding":"base64"},"headers":{}}',
    b'{"body":"W1tdLCB7fSwge31d","properties":{"delivery_tag":["x"]},"headers":{"task":"gradbox.run_next","id":{"x":1}}}',
    b'{"body":5,"properties":5,"headers":{"task":"gradbox.run_next","eta":"never","retries":"x"}}',
    b'{"body":"e30=","properties":{},"headers":{"task":"another","id":"a"},"content-type":"application/x-python-serialize"}',
)


def test_foreign_messages_do_not_end_a_worker(redis: RedisServer, worker_process: WorkerProcess) -> None:
    client: Any = redis_client.Redis.from_url(redis.url)

    async def work(pool: RemotePool) -> None:
        assert (await run(pool, "finish")).outcome.status == "finished"
        for _ in range(3):
            for text in GARBAGE:
                client.lpush("gradbox:celery:cpu", text)
            await eventually(lambda: not client.llen("gradbox:celery:cpu"))
        for k, text in enumerate(GARBAGE):
            client.hset("gradbox:celery:unacked", f"{k}", text)
            client.zadd("gradbox:celery:unacked_index", {f"{k}": 1})
        client.set("gradbox:job:x", b"no json")
        client.zadd("gradbox:cpu:waiting", {"x": 0, b"\xff": 0})
        client.hset("gradbox:cpu:askers", "x", b'{"front":true,"askers":[]}')
        for k in range(4):
            trace = await asyncio.wait_for(run(pool, f"finish {k}"), PATIENCE)
            assert trace.outcome.status == "finished"
        assert worker_process.process.poll() is None

    pooled(redis.url, redis.folder, work, queue_key="key of the tests")


@pytest.mark.usefixtures("worker_process")
def test_an_account_of_messages_that_fails_costs_no_program_its_turn(redis: RedisServer) -> None:
    """Kombu counts a message whose acknowledgement failed as one at work, for as long as the worker lives."""
    client: Any = redis_client.Redis.from_url(redis.url)
    client.set("gradbox:celery:unacked", "no hash")
    client.set("gradbox:celery:unacked_index", "no sorted set")

    async def work(pool: RemotePool) -> None:
        for k in range(4):
            trace = await asyncio.wait_for(run(pool, f"finish {k}"), PATIENCE)
            assert trace.outcome.status == "finished"
        both = [asyncio.create_task(run(pool, "sleep 6000")) for _ in range(2)]
        await eventually(
            lambda: sum(one.started for one in pool._census.runs.values()) == 2, lambda: pool.machine_status
        )
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)

    pooled(redis.url, redis.folder, work, queue_key="key of the tests")


def test_a_message_that_is_not_valid_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    rare = ThrottledLog(logging.getLogger("gradbox.test"), lambda: now[0])
    for k in range(100):
        rare.error("it is not valid", str(k))
        rare.error("another thing")
    assert caplog.messages == ["it is not valid: 0", "another thing"]
    now[0] = INTERVAL
    rare.error("it is not valid")
    assert caplog.messages[-1] == "it is not valid (99 more since the last line about it)"


def test_a_worker_signs_every_entry_that_it_writes(broker: RedisServer) -> None:
    settings = Settings({}, queue_url=broker.url, secret=SECRET, queue_key="key", sandbox="off", gpu=False)

    async def main() -> None:
        one = worker.RemoteWorker(settings, "cpu", Blobs(), "tests.support.stand_in_recorder:prepare")
        await one.start()
        try:
            body = messages.encode_wire_model(messages.TraceMessage(job=Job(source="finish", limits={})))
            for name, message in (("1", body), ("2", b"no json")):
                await one._run_taken_program(name, message)
                entries = [entry for _, entry in await one._broker.xrange(messages.stream_key(name))]
                signer = RunSigner(b"key", name, message)
                assert entries and all(signer.verify_next(entry) for entry in entries)
                assert entries[-1][b"kind"] == (b"end" if message is body else b"failed")
            assert not one._signers and not one._stop_events
        finally:
            await one.close()

    asyncio.run(main())


class Blobs:
    """A store that nothing is put into."""

    async def put(self, _name: str, _body: bytes) -> None:
        raise AssertionError

    async def get(self, _name: str) -> bytes | None:
        raise AssertionError
