"""Assaults on what visitors share: the queue, the quota, the drawing process, the server's memory."""

import itertools
import json
import sqlite3
import time
from pathlib import Path

from benchmarks.load import program
from benchmarks.measured_server import ROOT
from gradbox.pictures.film_file import MAX_FILM_BYTES
from server.operations.catalogue import TABLES
from server.store.database import DATABASE_FILE
from server.wire.saved_programs import MAX_PROGRAMS
from tests.assault.attackers import Assault, ask, ask_unread, get_request, numbered, save
from tests.assault.measurement import PAGE_BAR
from tests.assault.programs import (
    CROWDED,
    FAR_CELL,
    HALF_SECOND,
    HOSTILE_FILMS,
    LONG_SOURCE,
    RANDOM,
    SHARED_BY_THOUSANDS,
)
from tests.assault.visitor import VISITORS_FIRST
from tests.chaos.clients import close_connection


def two_networks(assault: Assault) -> None:
    """Many visitors of two IPv6 /64, behind a proxy, keep the queue full."""
    assault.at_full.set()

    def post(n: int) -> int:
        body = {"source": HALF_SECOND.replace("{n}", str(assault.seed + n))}
        network = f"2001:db8:0:{1 + n % 2}::{1 + n % 97}"
        return ask(assault.server, "POST", "/api/runs", body, 0, {"X-Forwarded-For": network})[0]

    assault.repeat(80, post, 0.2)


def saved_megabytes(assault: Assault) -> None:
    """One address saves large programs, in the name of ever new visitors."""
    source = RANDOM

    def post(n: int) -> int:
        body = {"source": source.replace("{n}", str(assault.seed + n)), "title": str(n)}
        return ask(assault.server, "POST", "/api/scenarios", body, 1)[0]

    assault.repeat(3, post)


def abandoned_drawings(assault: Assault) -> None:
    """Slow drawings, asked for by clients that are gone at once."""
    id_ = save(assault.server, CROWDED.replace("{n}", "1"))
    options = itertools.cycle(
        itertools.product(range(300), ("light", "dark"), ("en", "zh"), ("png", "svg", "card.png", "html"))
    )

    def get(n: int) -> str:
        step, theme, language, kind = next(options)
        path = f"/s/{id_}.{kind}?step={step}&theme={theme}&lang={language}"
        connection = ask_unread(assault.server, get_request(path), n % 4)
        assault.over.wait(0.05)
        close_connection(connection)
        return "gone"

    assault.repeat(4, get)


def hostile_films(assault: Assault) -> None:
    """Films of runs with thousands of steps, long lines and many names, each asked for in every form. A film of more
    than a megabyte is counted as a fault."""
    ids = [save(assault.server, source.replace("{n}", str(assault.seed))) for source in HOSTILE_FILMS]
    options = itertools.cycle(itertools.product(ids, ("svg", "gif", "webp"), ("light", "dark"), ("en", "zh")))

    def get(n: int) -> str:
        id_, ending, theme, language = next(options)
        status, body = ask(assault.server, "GET", f"/s/{id_}.film.{ending}?theme={theme}&lang={language}", number=n % 4)
        return f"{ending} {status}{' TOO LARGE' if status == 200 and len(body) > MAX_FILM_BYTES else ''}"

    assault.repeat(4, get)


def joined_drawings(assault: Assault) -> None:
    """One address asks for slow drawings, and behind them for the very pictures that the visitor wants."""
    id_ = save(assault.server, CROWDED.replace("{n}", "1"))
    themes, languages = ("light", "dark"), ("en", "zh")

    def get(n: int) -> str:
        query = f"step={n // 4 % 20}&theme={themes[n % 2]}&lang={languages[n // 2 % 2]}"
        path = f"/s/{id_}.svg?step={n % 300}&lang={languages[n % 2]}" if n % 2 else f"/s/{assault.saved}.svg?{query}"
        return f"{'slow' if n % 2 else 'the visitor’s'}: {ask(assault.server, 'GET', path, None, 0)[0]}"

    assault.repeat(8, get)


def heavy_pictures(assault: Assault) -> None:
    """A picture of nine thousand names from each of eight addresses, ever another one."""
    ids = [save(assault.server, numbered(assault, SHARED_BY_THOUSANDS, k), k) for k in range(8)]
    themes, languages = ("light", "dark"), ("en", "zh")

    def get(n: int) -> str:
        query = f"step={n // 32 % 2}&theme={themes[n // 8 % 2]}&lang={languages[n // 16 % 2]}"
        ending = ("svg", "png")[n // 64 % 2]
        return f"{ending}: {ask(assault.server, 'GET', f'/s/{ids[n % 8]}.{ending}?{query}', None, n % 8)[0]}"

    assault.repeat(8, get)


def linked_pages(assault: Assault) -> None:
    """Pages of programs that were saved a moment ago, whose links have a headline that has to be drawn."""

    def get(n: int) -> str:
        id_ = save(assault.server, numbered(assault, CROWDED, n), n % 8)
        began = time.monotonic()
        status = ask(assault.server, "GET", f"/s/{id_}", None, n % 8)[0]
        return f"page: {status}{' SLOW' if time.monotonic() - began > PAGE_BAR else ''}"

    assault.repeat(2, get, 0.5)


def growing_traces(assault: Assault) -> None:
    """The steps of runs that go on, asked for without a pause."""
    source = "import torch, time\nfor k in range(190):\n    x = torch.rand(9, 9)\ntime.sleep(9)"
    preference = {"Prefer": "respond-async"}

    def get(n: int) -> str:
        body = {"source": numbered(assault, source, n // 200)}
        status, text = ask(assault.server, "POST", "/api/runs", body, 1, preference)
        if status != 202:
            return f"run: {status}"
        run = json.loads(text)["id"]
        statuses = {ask(assault.server, "GET", f"/api/runs/{run}/steps", None, 1)[0] for _ in range(50)}
        return f"steps: {sorted(statuses)}"

    assault.repeat(6, get)


def cold_pictures(assault: Assault) -> None:
    """Every thumbnail of a server that has none yet, as a visitor of the gallery and of the palette asks for them."""
    pictures = [f"/gallery/{path.stem}.svg" for path in sorted((ROOT / "scenarios").glob("*.py"))]
    pictures += [f"/operations/{row.name}.svg" for rows in TABLES.values() for row in rows]
    assault.repeat(6, lambda n: ask(assault.server, "GET", pictures[n % len(pictures)], None, n % 3)[0], 0.1)


def full_series(assault: Assault) -> None:
    """Series of as many large programs as one may have, each with a note at its last step, and their pages and
    files."""
    programs = [save(assault.server, RANDOM.replace("{n}", str(k))) for k in range(12)]
    items = [{"program": programs[k % len(programs)], "note": "x" * 2000, "step": 200} for k in range(MAX_PROGRAMS)]
    status, body = ask(assault.server, "POST", "/api/series", {"title": "first", "items": items}, 1)
    assert status == 201, body[:500]
    id_ = json.loads(body)["id"]

    def post(n: int) -> str:
        kind = ("saved", "page", "frame", "file")[n % 4]
        if kind == "saved":
            body = {"title": str(assault.seed + n), "items": items}
            return f"{kind}: {ask(assault.server, 'POST', '/api/series', body, n % 4)[0]}"
        path = {"page": f"/series/{id_}/{n % 40 + 1}", "frame": f"/embed/series/{id_}", "file": f"/series/{id_}.html"}[
            kind
        ]
        return f"{kind}: {ask(assault.server, 'GET', path, None, n % 4)[0]}"

    assault.repeat(4, post)


def far_cells(assault: Assault) -> None:
    """A trace with a cell four thousand million places out, and pictures of it."""

    def get(n: int) -> str:
        body = {"source": FAR_CELL.replace("{n}", str(assault.seed + n))}
        status, answer = ask(assault.server, "POST", "/api/scenarios", body, n % 8)
        if status not in (200, 201):
            return str(status)
        path = f"/s/{json.loads(answer)['id']}.svg?step=2"
        return f"picture: {ask(assault.server, 'GET', path, None, n % 8)[0]}"

    assault.repeat(2, get)


def long_sources(assault: Assault) -> None:
    """Programs as long as they may be, refused at once: what stays of them?"""

    def post(n: int) -> int:
        body = {"source": LONG_SOURCE.replace("{n}", str(assault.seed + n))}
        return ask(assault.server, "POST", "/api/runs", body, n % 8)[0]

    assault.repeat(4, post)


def joined_programs(assault: Assault) -> None:
    """Three addresses keep their parts of the queue full, and behind all that they ask for what the visitor will ask
    for."""
    queued = itertools.count()

    def post(n: int) -> str:
        wanted = n % 16 == 15
        source = program(VISITORS_FIRST + next(queued)) if wanted else HALF_SECOND.replace("{n}", str(assault.seed + n))
        return f"{'the visitor’s' if wanted else 'its own'}: {ask(assault.server, 'POST', '/api/runs', {'source': source}, n % 3)[0]}"  # noqa: E501

    assault.repeat(48, post)


def long_programs(assault: Assault) -> None:
    """Twenty networks, each with one program after the other that runs until it is stopped."""

    def post(n: int) -> int:
        body = {"source": f"import time\nseed = {assault.seed + n}\ntime.sleep(50)\n"}
        return ask(assault.server, "POST", "/api/runs", body, 0, {"X-Forwarded-For": f"198.51.100.{1 + n % 20}"})[0]

    assault.repeat(20, post)


def locked_database(assault: Assault) -> None:
    """Another process on the machine holds the lock of the database, and many want to save."""
    file = Path(assault.server.folder) / DATABASE_FILE
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    try:

        def post(n: int) -> int:
            body = {"source": f"x = {n}\n", "title": str(assault.seed + n)}
            return ask(assault.server, "POST", "/api/scenarios", body, n)[0]

        assault.repeat(12, post, 0.2)
    finally:
        other.close()


def forgotten_runs(assault: Assault) -> None:
    """Runs that are started without waiting, and never asked for."""

    def post(n: int) -> int:
        body = {"source": f"x = {assault.seed + n}\nprint(x)\n"}
        return ask(assault.server, "POST", "/api/runs", body, n % 8, {"Prefer": "respond-async"})[0]

    assault.repeat(4, post)
