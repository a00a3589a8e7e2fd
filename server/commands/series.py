"""`python -m server series`: lists, shows and removes series. Archives of `scenarios export` hold them too."""

import argparse
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from server.commands.scenarios import escape_controls, format_date, print_entries, print_json, report_missing
from server.settings import Settings
from server.store.contents import ContentRemoved
from server.store.database import Database, StoreUnavailable
from server.store.series import SeriesStore


def add_arguments(commands: Any) -> None:
    """Adds the command to the parser of `python -m server`."""
    parser = commands.add_parser("series", help="manage series of saved programs")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="list series: id, date, size in bytes, title")
    show = actions.add_parser("show", help="print a series as JSON")
    show.add_argument("id")
    remove = actions.add_parser(
        "remove", help="remove a series for good, not its programs; its address then answers 410"
    )
    remove.add_argument("id")
    remove.add_argument("--reason", help="stored with the record of the removal, not shown to visitors")


async def run(args: argparse.Namespace, settings: Settings) -> int:
    """The exit status."""
    database = Database(settings.database_url, Path(settings.data))
    try:
        return await ACTIONS[args.action](SeriesStore(database, settings.quota), args)
    except (StoreUnavailable, OSError) as error:
        print(escape_controls(str(error)), file=sys.stderr)
        return 1
    finally:
        await database.close()


async def list_series(store: SeriesStore, _: argparse.Namespace) -> int:
    await print_entries(store.entries())
    return 0


async def show(store: SeriesStore, args: argparse.Namespace) -> int:
    """Print one series; the exit status."""
    try:
        series = await store.find(args.id)
    except ContentRemoved as error:
        print(error, file=sys.stderr)
        return 1
    if series is None:
        return report_missing(args.id, "series")
    print_json({"id": series.id, "created": format_date(series.created), **series.content.model_dump(mode="json")})
    return 0


async def remove(store: SeriesStore, args: argparse.Namespace) -> int:
    return 0 if await store.remove(args.id, args.reason) else report_missing(args.id, "series")


ACTIONS: dict[str, Callable[[SeriesStore, argparse.Namespace], Coroutine[Any, Any, int]]] = {
    "list": list_series,
    "show": show,
    "remove": remove,
}
