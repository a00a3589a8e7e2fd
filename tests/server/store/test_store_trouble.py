"""A database that hangs, is locked, full or emptied: everybody is told so in time, and nothing is lost or taken for
new."""

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from server.__main__ import main
from server.services import create_services
from server.settings import SettingError, Settings
from server.store import database as module
from server.store.contents import content_digest
from server.store.database import DATABASE_FILE, Database, StoreUnavailable
from server.store.health import StoreHealth
from server.store.repository import ProgramRepository
from tests.server.store.test_store import MADE, WHOLE, content
from tests.sharing.test_saved_programs import visiting
from tests.support import postgres
from tests.support.databases import DatabaseConfig, DatabaseFactory
from tests.support.waiting import PATIENCE, PAUSE, eventually

pytestmark = pytest.mark.slow
pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[3]
TIMEOUT = 1.5
"""Seconds after which a database hangs: many times what a statement takes on a busy machine."""


@pytest.fixture(autouse=True)
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONNECT_TIMEOUT", "OPEN_TIMEOUT", "STALLED_AFTER", "FILE_MIGRATION_TIMEOUT", "CLOSE_TIMEOUT"):
        monkeypatch.setattr(module, name, TIMEOUT + 0.1)
    monkeypatch.setattr("server.store.health.QUERY_TIMEOUT", TIMEOUT)


Work = Callable[[ProgramRepository], Awaitable[None]]


def with_store(config: DatabaseConfig, work: Work) -> None:
    """Do this with programs in a database whose statements may take `TIMEOUT`."""

    async def opened() -> None:
        database = Database(config.url, config.folder, TIMEOUT)
        try:
            async with asyncio.timeout(2 * PATIENCE):
                await work(ProgramRepository(database, 10**6, 10**9))
        finally:
            await database.close()

    asyncio.run(opened())


async def answers(*tries: Awaitable[Any]) -> list[str]:
    """What is said to each: the message of StoreUnavailable, or `done`."""
    async with asyncio.timeout(PATIENCE):
        results = await asyncio.gather(*tries, return_exceptions=True)
    assert all(isinstance(result, StoreUnavailable) or not isinstance(result, BaseException) for result in results), (
        results
    )
    return [str(result) if isinstance(result, StoreUnavailable) else "done" for result in results]


async def reported(health: StoreHealth) -> tuple[bool | None, str]:
    """What `/healthz` says in the end."""
    while True:
        state = await health.get_recent_state()
        if (health._querying is not None and health._querying.done()) or state.reachable is False:
            break
        await asyncio.sleep(PAUSE)  # until it has one; its query has a timeout
    return state.reachable, state.why


def test_a_hanging_postgresql_is_reported_and_used_again_once_it_returns(new_database: DatabaseFactory) -> None:
    config = new_database("postgresql")

    async def work(store: ProgramRepository) -> None:
        saved = [(await store.save_program(content(k), WHOLE, MADE))[0] for k in range(3)]
        health = StoreHealth(store)
        assert await reported(health) == (True, "")
        for _ in range(2):
            with postgres.hanging(config.url):
                tries = [store.find_program(saved[k % 3]) for k in range(20)]
                tries += [store.save_program(content(10 + k), WHOLE, MADE) for k in range(20)]  # type: ignore[misc]
                told = await answers(*tries)
                assert set(told) == {"the database does not answer"}, told
                assert await reported(health) == (False, "TimeoutError")
            await asyncio.sleep(module.RETRY_INTERVAL)  # before, nobody asks it
            assert await answers(*(store.find_program(id_) for id_ in saved)) == ["done"] * 3
            assert await answers(*(store.save_program(content(20 + k), WHOLE, MADE) for k in range(9))) == ["done"] * 9
            health._queried_at = -1e9
            assert await reported(health) == (True, "")
        await health.close()
        assert store.database.failures

    with_store(config, work)


def test_a_postgresql_that_hangs_in_the_midst_of_a_save_loses_none_that_was_confirmed(
    new_database: DatabaseFactory,
) -> None:
    config = new_database("postgresql")

    async def work(store: ProgramRepository) -> None:
        await store.save_program(content(), WHOLE, MADE)
        confirmed: dict[str, int] = {}

        async def save_all(first: int) -> None:
            for k in range(first, first + 40):
                try:
                    confirmed[(await store.save_program(content(k), WHOLE, MADE))[0]] = k
                except StoreUnavailable:
                    await asyncio.sleep(0.05)  # a visitor who tries again

        for turn in range(3):
            saving = [asyncio.create_task(save_all(1000 * turn + 100 * k)) for k in range(4)]
            before = len(confirmed)
            await eventually(lambda before=before: len(confirmed) > before)  # type: ignore[misc]
            with postgres.hanging(config.url):
                await asyncio.sleep(TIMEOUT + 0.3)  # it hangs for longer than anybody waits
            await asyncio.gather(*saving)
        await asyncio.sleep(module.RETRY_INTERVAL)  # before, nobody asks it
        assert len(confirmed) > 20
        for id_, k in confirmed.items():
            program = await store.find_program(id_)
            assert program is not None and program.digest == digest_of(k)

    with_store(config, work)


def digest_of(k: int) -> str:
    return content_digest(content(k))


def test_a_hanging_postgresql_keeps_nobody_waiting_at_the_start(new_database: DatabaseFactory) -> None:
    config = new_database("postgresql")

    async def work(store: ProgramRepository) -> None:
        with postgres.hanging(config.url):
            told = await answers(*(store.find_program("7777777777") for _ in range(5)))
            assert set(told) == {"the database does not answer"}
        await asyncio.sleep(module.RETRY_INTERVAL)  # before, nobody asks it
        for _ in range(100):
            if await answers(store.find_program("7777777777")) == ["done"]:
                break
        assert await answers(store.save_program(content(), WHOLE, MADE)) == ["done"]

    with_store(config, work)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Another process holds the lock of writers of the SQLite file, for as long as this lasts."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        "print('locked', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder / DATABASE_FILE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None and process.stdout.readline() == b"locked\n"
        try:
            yield
        finally:
            process.kill()


def test_a_locked_sqlite_file_is_reported(new_database: DatabaseFactory) -> None:
    config = new_database("sqlite")

    async def work(store: ProgramRepository) -> None:
        saved, _ = await store.save_program(content(), WHOLE, MADE)
        health = StoreHealth(store)
        assert await reported(health) == (True, "")
        with locked(config.folder):
            told = await answers(*(store.save_program(content(k), WHOLE, MADE) for k in range(1, 12)))
            assert "the database is locked by another process" in told
            assert set(told) <= {"the database is locked by another process", "the database does not answer"}
            assert await answers(store.find_program(saved)) == ["done"], "it can be read"
            reachable, why = await reported(health)
            assert reachable is False and why in ("OperationalError", "TimeoutError")
        assert await answers(*(store.save_program(content(k), WHOLE, MADE) for k in range(1, 12))) == ["done"] * 11
        health._queried_at = -1e9
        assert await reported(health) == (True, "")
        await health.close()

    with_store(config, work)


def test_a_full_disk_is_reported_and_nothing_is_lost(new_database: DatabaseFactory) -> None:
    """SQLite itself says that the disk is full: its file may have no page more."""
    config = new_database("sqlite")

    async def work(store: ProgramRepository) -> None:
        pages = 120

        @event.listens_for(store.database._engine.sync_engine, "connect")
        def bound_file(connection: Any, _: Any) -> None:
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA max_page_count = {pages}")
            cursor.close()

        saved: dict[str, int] = {}
        told: list[str] = []
        for k in range(200):
            try:
                saved[(await store.save_program(content(k), WHOLE, MADE))[0]] = k
            except StoreUnavailable as error:
                told.append(str(error))
                break
        assert told == ["the disk of the database is full"] and len(saved) > 3
        health = StoreHealth(store)
        reachable, why = await reported(health)
        if reachable:  # a few pages are left, for less than a program
            assert why == ""
        for id_, k in saved.items():
            program = await store.find_program(id_)
            assert program is not None and program.digest == digest_of(k) and program.trace == WHOLE
        await health.close()

    with_store(config, work)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this user may mount no disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_health_says_that_the_disk_is_full(small_disk: Path) -> None:
    config = DatabaseConfig("", small_disk)

    async def work(store: ProgramRepository) -> None:
        await store.save_program(content(), WHOLE, MADE)
        health = StoreHealth(store)
        assert await reported(health) == (True, "")
        ballast = small_disk / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        health._queried_at = -1e9
        assert await reported(health) == (False, "DiskFull")
        told = await answers(*(store.save_program(content(k), WHOLE * 9, MADE) for k in range(1, 4)))
        assert set(told) == {"the disk of the database is full"}
        ballast.unlink()
        health._queried_at = -1e9
        assert await reported(health) == (True, "")
        assert await answers(store.save_program(content(1), WHOLE, MADE)) == ["done"]
        await health.close()

    with_store(config, work)


@pytest.mark.parametrize("command", [["scenarios", "list"], ["series", "list"], ["scenarios", "export"]])
def test_an_emptied_file_is_not_taken_for_a_new_database(
    command: list[str],
    new_database: DatabaseFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = new_database("sqlite")
    config.do(lambda store: store.save_program(content(), WHOLE, MADE))
    file = config.folder / DATABASE_FILE
    file.write_bytes(b"")
    monkeypatch.setenv("GRADBOX_DATA", str(config.folder))
    assert main(command) == 2
    told = capsys.readouterr().err
    assert str(file) in told and "backup" in told and "remove the file" in told
    with pytest.raises(SettingError, match="is empty"):
        create_services(Settings({}, data=str(config.folder)), "tests.support.stand_in_recorder:prepare")
    assert file.stat().st_size == 0, "it is left as it was"


def test_a_server_does_not_start_with_an_emptied_file(tmp_path: Path) -> None:
    (tmp_path / DATABASE_FILE).touch()
    environment = {"PATH": "/usr/bin:/bin", "GRADBOX_DATA": str(tmp_path), "GRADBOX_SANDBOX": "off"}
    done = subprocess.run(
        [sys.executable, "-m", "server", "serve", "--port", "0"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 2 and str(tmp_path / DATABASE_FILE) in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_emptied_or_replaced_while_the_server_runs_is_reported(
    new_database: DatabaseFactory, replaced: bool
) -> None:
    config = new_database("sqlite")
    with visiting(config, "tests.support.stand_in_recorder:prepare", sandbox="off") as client:
        saved = client.post("/api/scenarios", json={"source": "finish"})
        assert saved.status_code == 201
        if replaced:
            (config.folder / DATABASE_FILE).rename(config.folder / "old")
            (config.folder / DATABASE_FILE).write_bytes((config.folder / "old").read_bytes())
        else:
            (config.folder / DATABASE_FILE).write_bytes(b"")
        for suffix in ("-wal", "-shm"):
            (config.folder / f"{DATABASE_FILE}{suffix}").unlink(missing_ok=True)
        again = client.post("/api/scenarios", json={"source": "finish", "title": "another"})
        assert again.status_code == 503 and again.json()["error"]["code"] == "no_store"
        assert ("replaced" if replaced else "is empty") in again.json()["error"]["message"]
        assert client.post("/api/runs", json={"source": "finish"}).status_code == 200

    async def work(store: ProgramRepository) -> None:
        (told,) = await answers(store.find_program(saved.json()["id"]))
        assert told == "done" if replaced else re.match("the file of the database is (empty|damaged)", told)

    with_store(config, work)


def test_a_server_killed_while_creating_its_file_leaves_none(
    new_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, real = new_database("sqlite"), module.migrate_schema

    def fail(*arguments: Any) -> None:
        real(*arguments)
        raise OSError("the machine went down")

    async def work(store: ProgramRepository) -> None:
        monkeypatch.setattr(module, "migrate_schema", fail)
        assert await answers(store.save_program(content(), WHOLE, MADE)) != ["done"]
        assert not list(config.folder.iterdir())
        monkeypatch.setattr(module, "migrate_schema", real)
        assert await answers(store.save_program(content(), WHOLE, MADE)) == ["done"]
        assert (config.folder / DATABASE_FILE).stat().st_size

    with_store(config, work)
    assert sqlite3.connect(config.folder / DATABASE_FILE).execute("SELECT count(*) FROM scenarios").fetchone() == (1,)


def test_a_file_system_without_links_has_a_database_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    with_store(DatabaseConfig("", tmp_path), save_one)
    assert [path.name for path in tmp_path.iterdir()] == [DATABASE_FILE]


async def save_one(store: ProgramRepository) -> None:
    assert await answers(store.save_program(content(), WHOLE, MADE)) == ["done"]
