"""Saved scenarios: the same on a real SQLite and a real PostgreSQL, whatever happens to the server."""

import asyncio
import base64
import gzip
import io
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text, update

from server.__main__ import main
from server.settings import SettingError
from server.store import contents as module
from server.store.contents import (
    ALPHABET,
    ContentRemoved,
    QuotaExceeded,
    candidate_content_ids,
    canonical_json,
    content_digest,
    is_well_formed_id,
)
from server.store.database import Database, StoreUnavailable
from server.store.repository import ProgramRepository, ProgramTooLarge
from server.store.tables import metadata, saved_programs
from server.wire.saved_programs import ArchiveRecord, Content, Versions
from tests.support.databases import DatabaseConfig, DatabaseFactory

pytestmark = pytest.mark.slow

pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[3]
KINDS = ("sqlite", "postgresql")
MADE = Versions(torch="2.13.0+cpu", numpy="2.4.6", python="3.11.7", tracer="0.1.0")
ODD = Content(
    source="x = '\0 é \U0001f600'\r\n\tprint(x)",
    title="</script> 题",
    description="a\nb\tc",
    note="' \" \\ %s :x ",
    language="zh",
    parent="7777777777",
    settings={"seed": 7, "focus": {"storage": "s1", "from": 5, "to": 9}},  # type: ignore[arg-type]
)
WHOLE = gzip.compress((ROOT / "tests/contract/schema_1.json").read_bytes(), mtime=0)


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, new_database: DatabaseFactory) -> DatabaseConfig:
    return new_database(request.param)


def content(k: object = 0) -> str:
    return canonical_json(Content(source=f"x = {k}"))


@dataclass(frozen=True)
class Done:
    status: int
    stdout: str
    stderr: str


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """`python -m server scenarios`, with a place and words; text: its standard input."""

    def done(database: DatabaseConfig, *words: str, text: str = "") -> Done:
        for name, value in database.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        status = main(["scenarios", *words])
        return Done(status, *capsys.readouterr())

    return done


def test_what_is_saved_is_found_as_it_was(database: DatabaseConfig) -> None:
    async def work(store: ProgramRepository) -> None:
        wanted = canonical_json(ODD)
        assert wanted.isascii() and await store.find_program_with_content(wanted) is None
        id_, new = await store.save_program(wanted, WHOLE, MADE)
        assert new and await store.save_program(wanted, b"another trace", MADE) == (id_, False)
        stored = await store.find_program(id_)
        assert stored is not None and stored == await store.find_program_with_content(wanted)
        assert (stored.content, stored.trace, stored.versions, stored.digest) == (
            ODD,
            WHOLE,
            MADE,
            content_digest(wanted),
        )
        assert await store.was_id_assigned(id_) and [entry.id async for entry in store.iterate_list_entries()] == [id_]

    database.do(work)


def test_an_unknown_id_is_not_found(database: DatabaseConfig) -> None:
    async def work(store: ProgramRepository) -> None:
        for id_ in ("7777777777", "", "x", "a" * 10, "7" * 500, "77777'; --", "7777777\0", "7777777777\n"):
            assert await store.find_program(id_) is None
        assert not await store.was_id_assigned("7777777777") and not await store.remove_content("7777777777")
        assert [entry async for entry in store.iterate_list_entries()] == [] and [
            entry async for entry in store.iterate_archive_records()
        ] == []

    database.do(work)


def test_reading_creates_no_database_file(new_database: DatabaseFactory) -> None:
    database = new_database("sqlite")

    async def ask(store: ProgramRepository) -> None:
        assert await store.find_program("7777777777") is None and not await store.database.open_if_exists()

    database.do(ask)
    assert not database.folder.exists()
    database.do(lambda store: store.save_program(content(), WHOLE, MADE))
    assert sorted(path.name for path in database.folder.iterdir()) == ["gradbox.sqlite"]


def test_the_id_depends_on_everything_shown_and_nothing_else() -> None:
    other: dict[str, Any] = {
        "source": "y",
        "title": "t",
        "description": "d",
        "note": "n",
        "language": "zh",
        "parent": "7777777777",
        "settings": {"seed": 1},
    }
    assert set(other) == set(Content.model_fields)
    contents = [Content(source="x"), *(Content(**{"source": "x", name: value}) for name, value in other.items())]
    contents += [Content(source="x", settings={"focus": {"loop": 1, "iteration": k}}) for k in (1, [1, 2])]  # type: ignore[arg-type]
    assert len({canonical_json(variant) for variant in contents}) == len(contents)
    same = [
        '{"source": "x"}',
        '{"title": "", "source": "x", "settings": {}}',
        '{"source": "\\u0078", "settings": {"seed": 0, "device": "cpu", "focus": null}, "parent": null, "language": "en"}',  # noqa: E501
    ]
    assert len({canonical_json(Content.model_validate_json(text)) for text in same}) == 1
    assert canonical_json(Content.model_validate_json(canonical_json(ODD))) == canonical_json(ODD)


def test_an_id_spells_no_word_and_has_no_ambiguous_characters() -> None:
    assert not set("aeiouyl01") & set(ALPHABET) and ALPHABET.lower() == ALPHABET
    for group in ("2z", "5s", "6b", "8b", "9gq", "uv", "0o", "1il"):
        assert len(set(group) & set(ALPHABET)) <= 1, group
    candidates = [list(candidate_content_ids(content_digest(content(k)))) for k in range(500)]
    assert len({ids[0] for ids in candidates}) == 500
    for ids in candidates:
        assert [len(name) for name in ids[:3]] == [10, 12, 14] and all(map(is_well_formed_id, ids))
        assert all(longer.startswith(shorter) for shorter, longer in itertools.pairwise(ids))


def test_a_taken_id_is_lengthened(database: DatabaseConfig) -> None:
    wanted = content()
    first, second, third = itertools.islice(candidate_content_ids(content_digest(wanted)), 3)

    async def work(store: ProgramRepository) -> None:
        for k, id_ in enumerate((first, second)):
            other, _ = await store.save_program(content(f"other {k}"), WHOLE, MADE)
            async with store.database.writing_transaction() as connection:
                await connection.execute(update(saved_programs).where(saved_programs.c.id == other).values(id=id_))
        assert await store.save_program(wanted, WHOLE, MADE) == (third, True)
        assert await store.save_program(wanted, WHOLE, MADE) == (third, False)
        longer, other_ = await store.find_program(third), await store.find_program(first)
        assert longer is not None and canonical_json(longer.content) == wanted
        assert other_ is not None and canonical_json(other_.content) == content("other 0")

    database.do(work)


def test_two_servers_save_at_once(database: DatabaseConfig) -> None:
    async def save_at_once() -> None:
        async with database.open() as first, database.open() as second:
            same = [store.save_program(content("same"), WHOLE, MADE) for store in (first, second) for _ in range(10)]
            many = [store.save_program(content(k), WHOLE, MADE) for store in (first, second) for k in range(20)]
            saves = await asyncio.gather(*same, *many)
            assert len({id_ for id_, _ in saves[:20]}) == 1 and sum(new for _, new in saves[:20]) == 1
            assert len({id_ for id_, _ in saves[20:]}) == 20 and sum(new for _, new in saves[20:]) == 20
            assert len([entry async for entry in first.iterate_list_entries()]) == 21

    asyncio.run(save_at_once())


def test_the_quota_holds_across_servers(database: DatabaseConfig) -> None:
    size = len(content(10)) + len(WHOLE)

    async def save_beyond_quota() -> None:
        async with database.open(size, 5 * size) as left, database.open(size, 5 * size) as right:
            tries = [
                store.save_program(content(k), WHOLE, MADE)
                for store, ten in ((left, 10), (right, 20))
                for k in range(ten, ten + 6)
            ]
            saves = await asyncio.gather(*tries, return_exceptions=True)
            assert sorted(type(save).__name__ for save in saves) == ["QuotaExceeded"] * 7 + ["tuple"] * 5
            assert sum([entry.size async for entry in left.iterate_list_entries()]) == 5 * size
            with pytest.raises(ProgramTooLarge, match=str(size)):
                await left.save_program(content(100), WHOLE, MADE)
            first = next(save[0] for save in saves if isinstance(save, tuple))
            found = await left.find_program(first)
            assert found is not None
            assert (await left.save_program(canonical_json(found.content), WHOLE, MADE)) == (first, False)
            assert await left.remove_content(first)
            assert (await right.save_program(content(99), WHOLE, MADE))[1], "what was removed takes no room"
            with pytest.raises(QuotaExceeded):
                await right.save_program(content(98), WHOLE, MADE)

    asyncio.run(save_beyond_quota())


def test_removal_leaves_a_tombstone_and_nothing_else(database: DatabaseConfig) -> None:
    secret = canonical_json(Content(source="x = 1", title="a very private word"))

    async def work(store: ProgramRepository) -> None:
        id_, _ = await store.save_program(secret, WHOLE, MADE)
        assert await store.remove_content(id_, "asked for") and not await store.remove_content(id_)
        for ask in (
            store.find_program(id_),
            store.find_program_with_content(secret),
            store.save_program(secret, WHOLE, MADE),
        ):
            with pytest.raises(ContentRemoved):
                await ask
        assert await store.was_id_assigned(id_)
        entries = [entry async for entry in store.iterate_list_entries()]
        assert [(entry.id, entry.size, entry.title) for entry in entries] == [(id_, 0, None)]
        record = [entry async for entry in store.iterate_archive_records()][0]
        assert (record.content, record.trace, record.reason) == (None, None, "asked for") and record.removed

    database.do(work)
    if not database.url:
        assert b"very private" not in (database.folder / "gradbox.sqlite").read_bytes()


def test_migrations_go_up_and_down(database: DatabaseConfig) -> None:
    async def work(store: ProgramRepository) -> None:
        opened = store.database

        async def tables() -> set[str]:
            async with opened._engine.connect() as connection:
                return set(await connection.run_sync(lambda sync: inspect(sync).get_table_names())) - {
                    "alembic_version"
                }

        database.folder.mkdir(parents=True, exist_ok=True)
        for _ in range(2):
            await opened.migrate_to("head")
            assert await tables() == {"scenarios", "series", "run_lines"}
            async with opened._engine.connect() as connection:
                wrong = await connection.run_sync(
                    lambda sync: compare_metadata(MigrationContext.configure(sync), metadata)
                )
            assert wrong == []
            id_, _ = await store.save_program(content(), WHOLE, MADE)
            assert await store.find_program(id_) is not None
            await opened.migrate_to("base")
            assert await tables() == set()

    database.do(work)


def test_a_database_of_a_newer_server_is_left_alone(database: DatabaseConfig) -> None:
    async def work(store: ProgramRepository) -> None:
        await store.save_program(content(), WHOLE, MADE)
        async with store.database.writing_transaction() as connection:
            await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        async with database.open() as older:
            with pytest.raises(StoreUnavailable):
                await older.save_program(content(1), WHOLE, MADE)

    database.do(work)


def test_many_servers_make_the_database_at_once(database: DatabaseConfig) -> None:
    code = (
        "import asyncio, sys, time; from pathlib import Path; from server.store.database import Database\n"
        "async def work():\n"
        "    database = Database(sys.argv[1], Path(sys.argv[2]))\n"
        "    print('here', flush=True); sys.stdin.readline()\n"
        "    assert await database.open_if_exists(create=True)\n"
        "    await database.close()\n"
        "asyncio.run(work())"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, database.url, str(database.folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in started:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
    for process in started:  # all are loaded by now
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    database.do(lambda store: store.save_program(content(), WHOLE, MADE))


def test_an_archive_moves_a_store_between_databases_without_loss(
    new_database: DatabaseFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Done]
) -> None:
    monkeypatch.setattr(module, "PAGE_SIZE", 3)
    first, middle, last = new_database("sqlite"), new_database("postgresql"), new_database("sqlite")

    async def fill(store: ProgramRepository) -> None:
        ids = [(await store.save_program(content(k), WHOLE, MADE))[0] for k in range(7)]
        await store.save_program(canonical_json(ODD), WHOLE, MADE)
        await store.remove_content(ids[3], "不好")

    async def records(store: ProgramRepository) -> list[ArchiveRecord]:
        return [record async for record in store.iterate_archive_records()]

    first.do(fill)
    files = [tmp_path / name for name in ("first", "middle", "last")]
    for database, file, goal in zip((first, middle, last), files, (middle, last, first), strict=True):
        assert command(database, "export", str(file)).status == 0
        done = command(goal, "import", str(file))
        assert (done.status, done.stdout) == (
            0,
            "0 imported, 8 already there\n" if goal is first else "8 imported, 0 already there\n",
        )
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
    assert first.do(records) == middle.do(records) == last.do(records) and len(first.do(records)) == 8


def test_a_tombstone_is_not_taken_back_from_an_archive(database: DatabaseConfig) -> None:
    async def work(store: ProgramRepository) -> None:
        id_, _ = await store.save_program(content(), WHOLE, MADE)
        records = [record async for record in store.iterate_archive_records()]
        await store.remove_content(id_)
        assert await store.import_archive_records(records) == 0
        with pytest.raises(ContentRemoved):
            await store.find_program(id_)

    database.do(work)


def test_an_archive_with_a_false_entry_is_refused_whole(database: DatabaseConfig) -> None:
    async def work(store: ProgramRepository) -> None:
        wanted = content()
        good = ArchiveRecord(
            id=next(candidate_content_ids(content_digest(wanted))),
            digest=content_digest(wanted),
            created=1,
            versions=MADE,
            content=wanted,
        )
        good = good.model_copy(update={"trace": base64.b64encode(WHOLE).decode()})
        fresh = content("fresh")
        accepted = good.model_copy(
            update={
                "id": next(candidate_content_ids(content_digest(fresh))),
                "digest": content_digest(fresh),
                "content": fresh,
            }
        )
        for change in (
            {"id": "7777777777"},
            {"digest": content_digest("x")},
            {"content": content(1)},
            {"content": None},
            {"content": "{"},
            {"trace": None},
            {"trace": "?"},
            {"trace": "AAAA"},
            {"trace": base64.b64encode(gzip.compress(b"{}")).decode()},
        ):
            with pytest.raises(ValueError):
                await store.import_archive_records([accepted, good.model_copy(update=change)])
        assert [entry async for entry in store.iterate_list_entries()] == []
        assert await store.import_archive_records([accepted, good]) == 2

    database.do(work)


def test_the_scenarios_command_lists_shows_and_removes_programs(
    database: DatabaseConfig, command: Callable[..., Done]
) -> None:
    async def fill(store: ProgramRepository) -> list[str]:
        hostile = Content(source="x = 1", title="\x1b]0;owned\x07 \u202e题")
        return [(await store.save_program(each, WHOLE, MADE))[0] for each in (canonical_json(hostile), content(1))]

    assert command(database, "list").stdout == ""
    first, second = database.do(fill)
    listed = command(database, "list").stdout
    assert {line[:10] for line in listed.splitlines()} == {first, second} and "题" in listed
    shown = json.loads(command(database, "show", first).stdout)
    assert (shown["id"], shown["source"], shown["versions"]["torch"]) == (first, "x = 1", MADE.torch)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", listed + command(database, "show", first).stdout)
    assert command(database, "remove", first, "--reason", "spam").status == 0
    gone = command(database, "remove", first), command(database, "show", first), command(database, "show", "\x1b[31m")
    assert [done.status for done in gone] == [1, 1, 1] and all(done.stderr for done in gone)
    assert "\x1b" not in gone[2].stderr and "(removed)" in command(database, "list").stdout
    wrong = command(database, "import", text='{"id": "x"}\n')
    assert wrong.status == 1 and wrong.stderr.startswith("line 1: ")
    assert command(database, "import", "/nowhere").status == 1


@pytest.mark.parametrize("url", ["mysql://x/y", "x", "sqlite://", "postgresql", "://"])
def test_an_address_of_no_database_is_a_wrong_setting(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="DATABASE_URL"):
        Database(url, tmp_path)


def test_a_database_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "gradbox.sqlite").write_text("no database, but long enough to be looked at" * 100)
    for database in (
        DatabaseConfig("postgresql://nobody@127.0.0.1:9/x", tmp_path),
        DatabaseConfig("", tmp_path),
        DatabaseConfig("", tmp_path / "file"),
    ):

        async def work(store: ProgramRepository) -> None:
            with pytest.raises(StoreUnavailable):
                await store.save_program(content(), WHOLE, MADE)

        database.do(work)
