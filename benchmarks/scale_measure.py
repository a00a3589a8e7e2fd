"""Measures what benchmarks/scale_model.py reckons with: `python -m benchmarks.scale_measure >benchmarks/scale_measured.json`.

Starts a server on a free port of this machine, runs programs, saves them, and asks for pages and pictures. Work is measured
in seconds of processor time, not of the clock, so that other work on the machine hardly counts; only the rates of runs are
by the clock. `--postgres` saves the same programs in a PostgreSQL of its own as well, where one is installed.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import os
import platform
import re
import sqlite3
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.load import LoadResult, User, apply_load
from benchmarks.measured_server import ROOT, MeasuredServer, processor_seconds
from tests import postgres

UNLIMITED = "1000000/minute"
GENEROUS: dict[str, Any] = dict.fromkeys(
    ("request_limit", "rate_limit", "address_limit", "save_limit", "save_address_limit", "picture_limit"), UNLIMITED
)
WARM_UP_SECONDS = 2.0
"""Seconds of runs that are not measured."""

STEPS_OF_STILLS = (1, 2, 3)


class Processor:
    """Seconds of processor time of a server: of its own process, its helpers, and its workers, those that ended included."""

    def __init__(self, server: MeasuredServer) -> None:
        self._server = server

    def seconds(self) -> dict[str, float]:
        pid, zygote = self._server.pid, self._server.zygote()
        helpers = 0.0
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if int(child) != zygote:
                helpers += sum(processor_seconds(int(child)))
        return {"web": sum(processor_seconds(pid)[:2]), "helpers": helpers, "workers": sum(processor_seconds(zygote))}


def milliseconds_each(before: dict[str, float], after: dict[str, float], count: int) -> dict[str, float]:
    """Milliseconds for each of so many."""
    return {name: round((after[name] - before[name]) * 1000 / max(count, 1), 3) for name in before}


async def measure_runs(server: MeasuredServer, users: int, seconds: float, numbers: Iterator[int]) -> dict[str, Any]:
    """Runs of a program of twenty statements by so many users at once."""

    async def work(k: int, until: float, result: LoadResult) -> None:
        await User(server.port, k).run_programs(until, numbers, result)

    await apply_load(users, WARM_UP_SECONDS, work)
    processor = Processor(server)
    before = processor.seconds()
    result = await apply_load(users, seconds, work)
    server.wait_until_idle()
    cost = milliseconds_each(before, processor.seconds(), len(result.seconds))
    if result.errors:
        print(f"{users} users: {dict(result.errors)}", file=sys.stderr)
    return {
        "users": users,
        "runs": len(result.seconds),
        "runs_per_second": round(result.rate, 2),
        "p50_ms": round(result.percentile(0.5), 1),
        "p99_ms": round(result.percentile(0.99), 1),
        "processor_ms": cost,
        "errors": sum(result.errors.values()),
    }


def request(server: MeasuredServer, path: str, body: Any = None, encoding: str = "gzip") -> bytes:
    """The answer's body as it is sent. Raises OSError."""
    headers = {"Accept-Encoding": encoding, **({"Content-Type": "application/json"} if body is not None else {})}
    data = json.dumps(body).encode() if body is not None else None
    asked = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", data, headers)
    with urllib.request.urlopen(asked, timeout=90) as answer:
        content: bytes = answer.read()
    return content


def percentiles(values: Iterable[float]) -> dict[str, float]:
    ordered = sorted(values)
    at = {f"p{round(share * 100)}": ordered[min(int(len(ordered) * share), len(ordered) - 1)] for share in (0.5, 0.95)}
    return {"count": len(ordered), "mean": round(sum(ordered) / len(ordered), 1), **at}


def measure_traces(server: MeasuredServer, files: list[Path]) -> dict[str, Any]:
    """Each program once: its trace, its steps, and the processor time of its run."""
    sizes, raw, steps, statuses = [], [], [], []
    processor = Processor(server)
    before = processor.seconds()
    for file in files:
        content = request(server, "/api/runs", {"source": file.read_text()})
        trace = json.loads(gzip.decompress(content))
        sizes.append(len(content))
        raw.append(len(gzip.decompress(content)))
        steps.append(len(trace["steps"]))
        statuses.append(trace["outcome"]["status"])
    server.wait_until_idle()
    return {
        "compressed_bytes": percentiles(sizes),
        "bytes": percentiles(raw),
        "steps": percentiles(steps),
        "processor_ms": milliseconds_each(before, processor.seconds(), len(files)),
        "finished": statuses.count("finished"),
    }


def measure_saved(server: MeasuredServer, files: list[Path], size: Any) -> tuple[dict[str, Any], list[str]]:
    """Save each program; the bytes that the database grows by, and the programs' ids. size: asks the database's size."""
    first = json.loads(request(server, "/api/scenarios", {"source": "x = 1\n", "title": "first"}))["id"]
    before, ids = size(), [first]
    processor = Processor(server)
    spent_before = processor.seconds()
    for file in files:
        answer = json.loads(request(server, "/api/scenarios", {"source": file.read_text(), "title": file.stem}))
        ids.append(answer["id"])
    cost = milliseconds_each(spent_before, processor.seconds(), len(files))
    return {
        "programs": len(files),
        "database_bytes": round((size() - before) / len(files)),
        "processor_ms": cost,
    }, ids[1:]


def measure_requests(server: MeasuredServer, paths: list[str], times: int) -> dict[str, Any]:
    """Each path so often: the processor time of a request, and the bytes of its answer."""
    processor = Processor(server)
    before = processor.seconds()
    sizes = [len(request(server, path)) for _ in range(times) for path in paths]
    return {
        "bytes": round(sum(sizes) / len(sizes)),
        "processor_ms": milliseconds_each(before, processor.seconds(), len(sizes)),
    }


def first_load(server: MeasuredServer) -> dict[str, int]:
    """Bytes of the start page and of what it loads, as a proxy compresses them."""
    page = request(server, "/", encoding="identity")
    names = set(re.findall(rb'(?:src|href)="(/static/dist/[^"]+)"', page))
    files = [request(server, name.decode().partition("?")[0], encoding="identity") for name in names]
    return {"page": len(gzip.compress(page)), "scripts_and_styles": sum(len(gzip.compress(file)) for file in files)}


def measure_pages(server: MeasuredServer, ids: list[str]) -> dict[str, Any]:
    pictures = [f"/s/{id_}.svg?step={step}" for id_ in ids[:10] for step in STEPS_OF_STILLS]
    return {
        "start page": measure_requests(server, ["/"], 100),
        "permalink": measure_requests(server, [f"/s/{id_}" for id_ in ids[:20]], 5),
        "embed": measure_requests(server, [f"/embed/{id_}" for id_ in ids[:20]], 5),
        "trace of a saved program": measure_requests(server, [f"/s/{id_}.trace.json" for id_ in ids[:20]], 5),
        "picture, drawn": measure_requests(server, pictures, 1),
        "picture, from the cache": measure_requests(server, pictures, 5),
        "first load": first_load(server),
    }


def sqlite_size(server: MeasuredServer) -> int:
    """Bytes of the database, with its log written into it."""
    file = Path(server.data) / "gradbox.sqlite"
    with closing(sqlite3.connect(file, timeout=30)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.stat().st_size


def ask_postgres(url: str, statement: str) -> Any:
    """The first value of its answer."""

    async def ask() -> Any:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    return asyncio.run(ask())


def measure_postgres(files: list[Path]) -> dict[str, Any] | None:
    """None where no PostgreSQL is installed."""
    folder = postgres.programs()
    if folder is None:
        return None
    with postgres.running(folder) as address:
        url = postgres.database(address, "gradbox")
        os.environ["DATABASE_URL"] = url
        try:
            with MeasuredServer(**GENEROUS, cache=1_000_000, quota=10**10, save_space=10**10) as server:
                size = "SELECT pg_database_size(current_database())"
                return measure_saved(server, files, lambda: int(ask_postgres(url, size)))[0]
        finally:
            del os.environ["DATABASE_URL"]


def measure(seconds: float, users: list[int], with_postgres: bool) -> dict[str, Any]:
    """All figures, by subject."""
    scenarios, nets = sorted((ROOT / "scenarios").glob("*.py")), sorted((ROOT / "benchmarks/nets").glob("*.py"))
    numbers = itertools.count(1)
    in_postgres = measure_postgres(scenarios) if with_postgres else None
    with MeasuredServer(**GENEROUS, cache=1_000_000, quota=10**10, save_space=10**10) as server:
        figures: dict[str, Any] = {
            "machine": {
                "date": datetime.now(UTC).date().isoformat(),
                "processors": os.cpu_count(),
                "system": f"{platform.system()} {platform.release()}",
                "load_before": round(os.getloadavg()[0], 1),
            },
            "runs": [asyncio.run(measure_runs(server, count, seconds, numbers)) for count in users],
            "memory": {"server_and_workers": server.usage().memory},
            "scenarios": measure_traces(server, scenarios),
            "nets": measure_traces(server, nets),
        }
        saved, ids = measure_saved(server, scenarios, lambda: sqlite_size(server))
        figures["saved"] = {"sqlite": saved, **({"postgresql": in_postgres} if in_postgres else {})}
        figures["saved nets"] = {"sqlite": measure_saved(server, nets, lambda: sqlite_size(server))[0]}
        figures["pages"] = measure_pages(server, ids)
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.scale_measure", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of load for each number of users (default 20)")
    parser.add_argument("--users", type=int, nargs="+", default=[1, 4, 30], help="numbers of users (default 1 4 30)")
    parser.add_argument("--postgres", action="store_true", help="save the programs in a PostgreSQL as well")
    options = parser.parse_args()
    began = time.time()
    print(json.dumps(measure(options.seconds, options.users, options.postgres), indent=1))
    print(f"measured in {time.time() - began:.0f} s", file=sys.stderr)
