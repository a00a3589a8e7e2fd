"""`python -m server scenarios`: what is saved, for the host; and archives that carry it from one database to another."""

import argparse
import json
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from server.settings import Settings
from server.store.database import Database, StoreUnavailable
from server.store.repository import PAGE_SIZE, ProgramRemoved, Repository
from server.wire.saved_programs import ArchiveRecord


def add_arguments(commands: Any) -> None:
    """Add them to those of `python -m server`."""
    parser = commands.add_parser("scenarios", help="list, show, remove, export and import what was saved")
    deeds = parser.add_subparsers(dest="deed", required=True)
    deeds.add_parser("list", help="one a line: id, day, bytes, title")
    show = deeds.add_parser("show", help="print one as JSON, without its trace")
    show.add_argument("id")
    remove = deeds.add_parser("remove", help="take one away for good; its address then says so")
    remove.add_argument("id")
    remove.add_argument("--reason", help="kept with the tombstone, shown to nobody but the host")
    export = deeds.add_parser("export", help="write all, with their traces, as lines of JSON")
    export.add_argument("file", nargs="?", default="-", metavar="FILE", help="- is the standard output")
    import_ = deeds.add_parser("import", help="take what such a file has and this database has not")
    import_.add_argument("file", nargs="?", default="-", metavar="FILE", help="- is the standard input")


async def run(told: argparse.Namespace, settings: Settings) -> int:
    """The exit status."""
    database = Database(settings.database_url, Path(settings.data))
    try:
        return await ACTIONS[told.deed](Repository(database, settings.scenario, settings.quota), told)
    except (StoreUnavailable, OSError, ValueError) as error:
        print(escape_controls(str(error)), file=sys.stderr)
        return 1
    finally:
        await database.close()


async def list_programs(store: Repository, _: argparse.Namespace) -> int:
    async for entry in store.entries():
        title = "(removed)" if entry.title is None else escape_controls(entry.title)
        print(f"{entry.id:14} {format_date(entry.created)} {entry.size:>9,}  {title}")
    return 0


async def show(store: Repository, asked: argparse.Namespace) -> int:
    try:
        there = await store.find(asked.id)
    except ProgramRemoved as error:
        print(error, file=sys.stderr)
        return 1
    if there is None:
        return report_missing(asked.id)
    facts = {"id": there.id, "created": format_date(there.created), "versions": there.versions.model_dump()}
    told = {**facts, **there.content.model_dump(mode="json", by_alias=True)}
    print(*map(escape_controls, json.dumps(told, indent=2, ensure_ascii=False).split("\n")), sep="\n")
    return 0


async def remove(store: Repository, told: argparse.Namespace) -> int:
    return 0 if await store.remove(told.id, told.reason) else report_missing(told.id)


async def export(store: Repository, told: argparse.Namespace) -> int:
    with nullcontext(sys.stdout) if told.file == "-" else open(told.file, "w", encoding="utf-8") as file:
        async for record in store.records():
            file.write(record.model_dump_json(exclude_none=True) + "\n")
        file.flush()
    return 0


async def import_(store: Repository, told: argparse.Namespace) -> int:
    new = known = 0
    with nullcontext(sys.stdin) if told.file == "-" else open(told.file, encoding="utf-8") as file:
        async for records in read_batches(file):
            count = await store.import_records(records)
            new, known = new + count, known + len(records) - count
    print(f"{new} taken, {known} known before")
    return 0


async def read_batches(file: TextIO) -> AsyncIterator[list[ArchiveRecord]]:
    """The records of an archive, some at a time. Raises ValueError with the line."""
    records: list[ArchiveRecord] = []
    for number, line in enumerate(file, 1):
        try:
            records.append(ArchiveRecord.model_validate_json(line))
        except ValidationError as error:
            raise ValueError(f"line {number}: this is no scenario ({error.errors()[0]['msg']})") from None
        if len(records) == PAGE_SIZE:
            yield records
            records = []
    if records:
        yield records


def report_missing(id_: str) -> int:
    print(f"there is no scenario {escape_controls(id_)!r}", file=sys.stderr)
    return 1


def format_date(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d")


def escape_controls(text: str) -> str:
    """Anybody's text in the host's terminal: what is not to be seen as a character is written as its number."""
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


ACTIONS: dict[str, Callable[[Repository, argparse.Namespace], Coroutine[Any, Any, int]]] = {
    "list": list_programs,
    "show": show,
    "remove": remove,
    "export": export,
    "import": import_,
}
