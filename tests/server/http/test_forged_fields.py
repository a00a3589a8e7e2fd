"""Whatever a program writes in place of the recorder's lines, the event loop waits neither for work nor for Python's
lock: each field of each line at its largest, over every route that runs a program."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assault.forged_fields import forged_fields
from tests.conftest import ROOT
from tests.forks.forked_server import ForkedMeasuredServer
from tests.server.http import loop_pieces
from tests.server.http.loop_pieces import MAX_SECONDS, VARIABLE, read_pieces
from tests.server.http.test_loop_pieces import FREE, PASSWORD, Client
from tests.support.sampling import in_turn

pytestmark = pytest.mark.slow

PROGRAMS = forged_fields()

MAX_LOCK_SECONDS = 0.1
"""Seconds that the loop may wait for Python's lock, with what threads do without it, like compressing."""


def bodies(source: str) -> dict[str, tuple[str, Any]]:
    """The routes that run a program, each with its path and body."""
    return {
        "run": ("/api/runs", {"source": source}),
        "explained run": ("/api/runs", {"source": source, "explain": True}),
        "gradient check": ("/api/gradient-checks", {"source": source}),
        "saved program": ("/api/scenarios", {"source": source}),
        "comparison": ("/api/compare", {"left": {"source": source}, "right": {"source": "x = 1"}}),
        "fixes": ("/api/fixes", {"source": source, "kind": "saved_overwritten", "line": 1}),
        "answer": ("/course/names/answers", {"source": source}),
    }


ROUTES = tuple(bodies(""))
CASES = in_turn(range(0, len(PROGRAMS), 8), ROUTES, 12)
"""Eight programs each."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("pieces") / "pieces"
    os.environ[VARIABLE] = str(path)
    yield path
    del os.environ[VARIABLE]


@pytest.fixture(scope="module")
def client(path: Path) -> Iterator[Client]:
    assert os.environ[VARIABLE] == str(path)
    with ForkedMeasuredServer((loop_pieces.install,), password=PASSWORD, **FREE) as server:
        yield Client(server.port)


@pytest.mark.parametrize(("start", "route"), CASES)
def test_no_forged_field_keeps_the_event_loop(start: int, route: str, client: Client, path: Path) -> None:
    names = list(PROGRAMS)[start : start + 8]
    for n, name in enumerate(names):
        path.unlink(missing_ok=True)
        source = PROGRAMS[name].replace("{n}", str(1000 * ROUTES.index(route) + start + n))
        status, answer = client.ask("POST", bodies(source)[route][0], json.dumps(bodies(source)[route][1]))
        assert status in (200, 201, 404, 422, 503), (name, status, answer[:200])
        long = [piece for piece in read_pieces(path) if piece.compared_seconds > MAX_SECONDS]
        waits = [piece for piece in read_pieces(path, lock_waits=True) if piece.compared_seconds > MAX_LOCK_SECONDS]
        assert not long and not waits, (name, *map(str, long), *map(str, waits))


HOLDS_LOCK = """
import asyncio
from tests.server.http import loop_pieces
loop_pieces.install()

async def main():
    await asyncio.sleep(0.05)  # until it looks
    await asyncio.to_thread(pow, 7, 3_000_000)
    await asyncio.sleep(0.1)

asyncio.run(main())
"""


def test_a_thread_that_holds_pythons_lock_is_seen(path: Path) -> None:
    path.unlink(missing_ok=True)
    subprocess.run([sys.executable, "-c", HOLDS_LOCK], cwd=ROOT, check=True)
    waited = max(piece.compared_seconds for piece in read_pieces(path, lock_waits=True))
    assert waited > MAX_LOCK_SECONDS
    # what the loop did by itself is far less, on a busy machine too
    assert max((piece.compared_seconds for piece in read_pieces(path)), default=0.0) < waited / 2
