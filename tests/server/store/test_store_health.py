"""What the store holds, for metrics and health: true on both databases, cheap, and never in anybody's way."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from server.store.database import Database
from server.store.health import MAX_AGE, StoreHealth, StoreState
from server.store.repository import ProgramRepository, StoreTotals
from tests.server.store.test_store import MADE, content
from tests.sharing.test_saved_programs import visiting
from tests.support.databases import DatabaseConfig, DatabaseFactory
from tests.support.waiting import PATIENCE

pytest_plugins = ["tests.support.databases"]

BACKENDS = {"sqlite": "embedded", "postgresql": "postgresql"}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("kind", BACKENDS)
def test_the_store_reports_its_contents(new_database: DatabaseFactory, kind: str) -> None:
    async def check(store: ProgramRepository) -> None:
        assert await store.read_totals() in (
            StoreTotals(),
            StoreTotals(revision="0003"),
        )  # SQLite's file is made by the first save
        ids = [(await store.save_program(content(k), b"trace" * k, MADE))[0] for k in range(1, 6)]
        entries = [entry async for entry in store.iterate_list_entries()]
        assert await store.read_totals() == StoreTotals(5, 0, sum(entry.size for entry in entries), "0003")
        await store.remove_content(ids[2])
        left = [entry async for entry in store.iterate_list_entries() if entry.id != ids[2]]
        assert await store.read_totals() == StoreTotals(4, 1, sum(entry.size for entry in left), "0003")

    new_database(kind).do(check)


def test_counting_reads_only_the_index(new_database: DatabaseFactory) -> None:
    async def plan(store: ProgramRepository) -> str:
        await store.save_program(content(), b"trace", MADE)
        asked: list[str] = []
        async with store.database.reading_connection() as connection:
            assert connection is not None
            raw = await connection.get_raw_connection()
            driver: Any = raw.driver_connection
            await driver.set_trace_callback(asked.append)
        await store.read_totals()
        query = next(statement for statement in asked if "sum(" in statement)
        async with store.database.reading_connection() as connection:
            assert connection is not None
            return str((await connection.execute(text(f"EXPLAIN QUERY PLAN {query}"))).all())

    assert "USING COVERING INDEX scenarios_size" in new_database("sqlite").do(plan)


async def answered(watch: StoreHealth, clock: Clock, programs: int) -> StoreState:
    """The state with this many programs. On a busy machine its query may take longer than `get_recent_state` waits for
    it."""
    for _ in range(100):
        state = await watch.get_recent_state()
        if state.totals is not None and state.totals.programs == programs:
            return state
        if state.reachable is False:  # the machine was too busy to connect in time; that is cached too
            clock.now += MAX_AGE
    raise AssertionError(f"no state with {programs} programs: {watch.state}")


@pytest.mark.parametrize("kind", BACKENDS)
def test_a_measurement_is_reused_for_a_while(new_database: DatabaseFactory, kind: str) -> None:
    async def check(store: ProgramRepository) -> None:
        clock = Clock()
        watch = StoreHealth(store, clock)
        assert watch.backend == BACKENDS[kind] and watch.state.reachable is None
        await store.save_program(content(), b"trace", MADE)
        first = await answered(watch, clock, 1)
        await store.save_program(content(2), b"trace", MADE)
        clock.now += MAX_AGE - 1
        assert (await watch.get_recent_state()) is first
        clock.now += 1
        await asyncio.gather(*(watch.get_recent_state() for _ in range(9)))
        assert await answered(watch, clock, 2) is not first
        await watch.close()

    new_database(kind).do(check)


@contextmanager
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing, for as long as this lasts."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(9)
        yield listening.getsockname()[1]


def test_no_request_waits_for_an_unresponsive_database(tmp_path: Path) -> None:
    async def check(port: int) -> None:
        database = Database(f"postgresql://gradbox@127.0.0.1:{port}/none", tmp_path)
        watch = StoreHealth(ProgramRepository(database, 10**6, 10**9), Clock())  # whose time stands still
        for _ in range(3):
            assert (await asyncio.wait_for(watch.get_recent_state(), PATIENCE)).reachable is None
        await watch.close()
        await database.close()

    with silent() as port:
        asyncio.run(check(port))


def test_a_database_that_goes_away_and_returns_is_reported(new_database: DatabaseFactory) -> None:
    async def check(store: ProgramRepository) -> None:
        clock = Clock()
        watch = StoreHealth(store, clock)
        await store.save_program(content(), b"trace", MADE)
        assert (await watch.get_recent_state()).reachable
        real, store.database.reading_connection = (
            store.database.reading_connection,
            Database(GONE, Path()).reading_connection,
        )
        clock.now += MAX_AGE
        answer = await watch.get_recent_state()
        assert answer.reachable is False and answer.why == "ConnectionRefusedError" and "127.0.0.1" in answer.detail
        assert answer.totals is not None and answer.totals.programs == 1  # what is known from before
        store.database.reading_connection = real
        clock.now += MAX_AGE
        assert (await watch.get_recent_state()).reachable and not watch.state.why

    new_database("sqlite").do(check)


GONE = "postgresql://gradbox@127.0.0.1:9/none"


def metrics(client: TestClient) -> dict[str, float]:
    lines = client.get("/metrics").text.splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_the_servers_own_figures(new_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.store.health.MAX_AGE", 0.0)
    settings: dict[str, Any] = {"sandbox": "off", "quota": 900, "scenario": 700, "save_limit": "5/minute"}
    with visiting(new_database("sqlite"), "tests.support.stand_in_recorder:prepare", **settings) as client:
        assert client.get("/healthz").json()["store"] == {"backend": "embedded", "reachable": True}
        assert metrics(client)["gradbox_scenarios"] == 0
        statuses = []
        for k in range(7):
            client.cookies.clear() if k == 5 else None
            source = "finish" if k != 4 else "finish #" + "x" * 800
            title = "0" if k == 5 else str(k)
            statuses.append(client.post("/api/scenarios", json={"source": source, "title": title}).status_code)
        now = metrics(client)
        new = statuses.count(201)
        assert new and statuses.count(507) and statuses.count(413) and statuses.count(200)
        assert now["gradbox_scenarios"] == now["gradbox_saves_total"] == new
        assert 0 < now["gradbox_scenario_bytes"] <= now["gradbox_scenario_bytes_allowed"] == 900
        assert now['gradbox_saves_refused_total{why="full"}'] == statuses.count(507)
        assert now['gradbox_saves_refused_total{why="too_large"}'] == statuses.count(413)
        assert now["gradbox_store_reachable"] == 1
        limited = [
            client.post("/api/scenarios", json={"source": "finish", "title": f"x{k}"}).status_code for k in range(6)
        ]
        assert limited.count(429) > 0
        assert metrics(client)['gradbox_saves_refused_total{why="limited"}'] == [*statuses, *limited].count(429)
        assert 'gradbox_refused_total{why="limited"}' not in metrics(client)


def test_a_server_without_its_database_is_well_and_says_so(tmp_path: Path) -> None:
    with visiting(DatabaseConfig(GONE, tmp_path), "tests.support.stand_in_recorder:prepare", sandbox="off") as client:
        answer = client.get("/healthz")
        assert (answer.status_code, answer.json()["status"]) == (200, "ok")
        assert answer.json()["store"] == {"backend": "postgresql", "reachable": False, "why": "ConnectionRefusedError"}
        assert client.post("/api/scenarios", json={"source": "finish"}).status_code == 503
        now = metrics(client)
        assert now["gradbox_store_reachable"] == 0 and now['gradbox_saves_refused_total{why="no_store"}'] == 1
        assert client.get("/s/7777777777").status_code == 503
        assert metrics(client)['gradbox_saves_refused_total{why="no_store"}'] == 1
