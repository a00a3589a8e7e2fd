"""`python -m server scenarios` and `series`: list, show and remove saved programs and series, and export and import
both in one archive."""

import argparse
import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from server.settings import Settings
from server.store.contents import PAGE_SIZE, ContentRemoved
from server.store.database import LONG_STATEMENT_TIMEOUT, Database, StoreUnavailable
from server.store.repository import ListEntry, ProgramRepository
from server.store.series import SeriesStore
from server.wire.saved_programs import ArchiveRecord, SeriesRecord

Record = ArchiveRecord | SeriesRecord
SERIES_START_PATTERN = re.compile(r'\s*\{\s*"kind"\s*:\s*"series"')
"""The start of a series' line in an archive."""


@dataclass(frozen=True)
class ContentStores:
    """The stores of one database."""

    programs: ProgramRepository
    series: SeriesStore


def add_scenarios_parser(commands: Any) -> None:
    """Adds the command to the parser of `python -m server`."""
    parser = commands.add_parser("scenarios", help="manage saved programs")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="list saved programs: id, date, size in bytes, title")
    show = actions.add_parser("show", help="print a saved program as JSON, without its trace")
    show.add_argument("id")
    remove = actions.add_parser("remove", help="remove a saved program for good; its address then answers 410")
    remove.add_argument("id")
    remove.add_argument("--reason", help="stored with the record of the removal, not shown to visitors")
    export = actions.add_parser(
        "export", help="write all saved programs with their traces, and all series, as JSON, one a line"
    )
    export.add_argument("file", nargs="?", default="-", metavar="FILE", help="- (the default) is the standard output")
    import_ = actions.add_parser("import", help="read such a file and save what is not in this database")
    import_.add_argument("file", nargs="?", default="-", metavar="FILE", help="- (the default) is the standard input")


async def run_scenarios_command(args: argparse.Namespace, settings: Settings) -> int:
    """The exit status."""
    database = Database(settings.database_url, Path(settings.data), LONG_STATEMENT_TIMEOUT)
    database.require_database_not_emptied()
    stores = ContentStores(
        ProgramRepository(database, settings.scenario, settings.quota), SeriesStore(database, settings.quota)
    )
    try:
        return await ACTIONS[args.action](stores, args)
    except (StoreUnavailable, OSError, ValueError) as error:
        print(escape_control_characters(str(error)), file=sys.stderr)
        return 1
    finally:
        await database.close()


async def print_programs(stores: ContentStores, _: argparse.Namespace) -> int:
    await print_list_entries(stores.programs.iterate_list_entries())
    return 0


async def print_list_entries(entries: AsyncIterator[ListEntry]) -> None:
    """Print a line for each entry: id, date, size in bytes, title."""
    async for entry in entries:
        title = "(removed)" if entry.title is None else escape_control_characters(entry.title)
        print(f"{entry.id:14} {format_date(entry.created)} {entry.size:>9,}  {title}")


async def print_program(stores: ContentStores, args: argparse.Namespace) -> int:
    """Print one program with its details and return the exit status."""
    try:
        program = await stores.programs.find_program(args.id)
    except ContentRemoved as error:
        print(error, file=sys.stderr)
        return 1
    if program is None:
        return report_unknown_id(args.id)
    header = {"id": program.id, "created": format_date(program.created), "versions": program.versions.model_dump()}
    print_json({**header, **program.content.model_dump(mode="json", by_alias=True)})
    return 0


def print_json(fields: dict[str, Any]) -> None:
    """Print JSON on several lines, without control characters for the terminal."""
    print(*map(escape_control_characters, json.dumps(fields, indent=2, ensure_ascii=False).split("\n")), sep="\n")


async def remove_content(stores: ContentStores, args: argparse.Namespace) -> int:
    return 0 if await stores.programs.remove_content(args.id, args.reason) else report_unknown_id(args.id)


async def export_archive(stores: ContentStores, args: argparse.Namespace) -> int:
    with nullcontext(sys.stdout) if args.file == "-" else open(args.file, "w", encoding="utf-8") as file:
        async for program in stores.programs.iterate_archive_records():
            file.write(program.model_dump_json(exclude_none=True) + "\n")
        async for series in stores.series.iterate_archive_records():
            file.write(series.model_dump_json(exclude_none=True) + "\n")
        file.flush()
    return 0


async def import_archive(stores: ContentStores, args: argparse.Namespace) -> int:
    """Save the entries of an archive, keeping what is stored already, and return the exit status. Raises ValueError for
    an invalid line."""
    new = known = 0
    with nullcontext(sys.stdin) if args.file == "-" else open(args.file, encoding="utf-8") as file:
        async for records in read_archive_batches(file):
            count = await stores.programs.import_archive_records(
                [each for each in records if isinstance(each, ArchiveRecord)]
            )
            count += await stores.series.import_archive_records(
                [each for each in records if isinstance(each, SeriesRecord)]
            )
            new, known = new + count, known + len(records) - count
    print(f"{new} imported, {known} already there")
    return 0


async def read_archive_batches(file: TextIO) -> AsyncIterator[list[Record]]:
    """Yield the records of an archive in batches. Raises ValueError with the number of an invalid line."""
    batch: list[Record] = []
    for number, line in enumerate(file, 1):
        try:
            kind = SeriesRecord if SERIES_START_PATTERN.match(line) else ArchiveRecord
            batch.append(kind.model_validate_json(line))
        except ValidationError as error:
            what = "series" if kind is SeriesRecord else "saved program"
            raise ValueError(f"line {number}: not a {what} ({error.errors()[0]['msg']})") from None
        if len(batch) == PAGE_SIZE:
            yield batch
            batch = []
    if batch:
        yield batch


def report_unknown_id(id_: str, what: str = "saved program") -> int:
    print(f"there is no {what} {escape_control_characters(id_)!r}", file=sys.stderr)
    return 1


def format_date(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d")


def escape_control_characters(text: str) -> str:
    """Return a text for the terminal, with each unprintable character written as `\\u` and its number."""
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


ACTIONS: dict[str, Callable[[ContentStores, argparse.Namespace], Coroutine[Any, Any, int]]] = {
    "list": print_programs,
    "show": print_program,
    "remove": remove_content,
    "export": export_archive,
    "import": import_archive,
}


def add_series_parser(commands: Any) -> None:
    """Adds the command to the parser of `python -m server`."""
    parser = commands.add_parser("series", help="manage series of saved programs")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="list series: id, date, size in bytes, title")
    show_series = actions.add_parser("show", help="print a series as JSON")
    show_series.add_argument("id")
    remove_series = actions.add_parser(
        "remove", help="remove a series for good, not its programs; its address then answers 410"
    )
    remove_series.add_argument("id")
    remove_series.add_argument("--reason", help="stored with the record of the removal, not shown to visitors")


async def run_series_command(args: argparse.Namespace, settings: Settings) -> int:
    """The exit status."""
    database = Database(settings.database_url, Path(settings.data), LONG_STATEMENT_TIMEOUT)
    database.require_database_not_emptied()
    try:
        return await SERIES_ACTIONS[args.action](SeriesStore(database, settings.quota), args)
    except (StoreUnavailable, OSError) as error:
        print(escape_control_characters(str(error)), file=sys.stderr)
        return 1
    finally:
        await database.close()


async def print_all_series(store: SeriesStore, _: argparse.Namespace) -> int:
    await print_list_entries(store.iterate_list_entries())
    return 0


async def print_series(store: SeriesStore, args: argparse.Namespace) -> int:
    """Print one series and return the exit status."""
    try:
        series = await store.find_series(args.id)
    except ContentRemoved as error:
        print(error, file=sys.stderr)
        return 1
    if series is None:
        return report_unknown_id(args.id, "series")
    print_json({"id": series.id, "created": format_date(series.created), **series.content.model_dump(mode="json")})
    return 0


async def remove_series(store: SeriesStore, args: argparse.Namespace) -> int:
    return 0 if await store.remove_content(args.id, args.reason) else report_unknown_id(args.id, "series")


SERIES_ACTIONS: dict[str, Callable[[SeriesStore, argparse.Namespace], Coroutine[Any, Any, int]]] = {
    "list": print_all_series,
    "show": print_series,
    "remove": remove_series,
}
