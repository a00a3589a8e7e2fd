"""The cost of sharing: saving and opening a program with a trace of 97 KiB on both databases, and its pictures.

`python -m benchmarks.share [--count 60]` starts a PostgreSQL and, for each database, a server on free ports of this machine.
The requests come from this process, one after another, over one connection. Saving is measured twice: with a cached
result, as for a visitor who saves what is on the screen, and with a program that has to be run first.
"""

import argparse
import contextlib
import gzip
import http.client
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.measured_server import MeasuredServer
from tests.support import postgres

TRACE_KIB = 97
PROGRAM = """\
import torch
x = torch.randn(24, requires_grad=True)
y = x
for i in range({turns}):
    y = y * torch.randn(24)
    y.sum().backward()
    y = y.detach().requires_grad_()
"""
LOOP_TURNS = 75
UNLIMITED = "1000000/minute"
JSON_HEADERS = {"Content-Type": "application/json"}


class HttpClient:
    """One connection, kept open."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __call__(self, path: str, body: Any = None) -> bytes:
        """The body of the response. Raises AssertionError unless the status is 200 or 201."""
        method = "GET" if body is None else "POST"
        headers = {"Accept-Encoding": "gzip", **(JSON_HEADERS if body is not None else {})}
        self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self._connection.getresponse()
        content = response.read()
        assert response.status in (200, 201), (path, response.status, content[:300])
        return content


def milliseconds(work: Callable[[int], object], count: int) -> list[float]:
    """Milliseconds of each call."""
    durations = []
    for number in range(count):
        began = time.perf_counter()
        work(number)
        durations.append((time.perf_counter() - began) * 1000)
    return durations


def print_row(name: str, durations: list[float]) -> None:
    ordered = sorted(durations)
    last = ordered[min(len(ordered) - 1, round(len(ordered) * 0.95))]
    print(f"  {name:46} {statistics.median(ordered):8.1f} {last:8.1f} {len(ordered):6}")


@contextlib.contextmanager
def database(kind: str, server: str) -> Iterator[None]:
    """Set DATABASE_URL to a new database, unless the embedded one is asked for."""
    if kind == "postgresql":
        os.environ["DATABASE_URL"] = postgres.database(server, "share")
    try:
        yield
    finally:
        os.environ.pop("DATABASE_URL", None)


def measure(kind: str, count: int) -> None:
    limits: dict[str, Any] = dict.fromkeys(
        ("request_limit", "rate_limit", "address_limit", "save_limit", "save_address_limit", "picture_limit"), UNLIMITED
    )
    with MeasuredServer(**limits) as server:
        ask = HttpClient(server.port)
        source = PROGRAM.format(turns=LOOP_TURNS)
        trace = ask("/api/runs", {"source": source})
        size = len(trace) / 1024
        steps = len(json.loads(gzip.decompress(trace))["steps"])
        print(f"\n{kind}: a trace of {steps} steps, {size:.0f} KiB gzipped {'p50 ms':>15} {'p95 ms':>8} {'times':>6}")
        assert abs(size - TRACE_KIB) < 5, size
        ids: list[str] = []

        def save(number: int) -> None:
            ids.append(json.loads(ask("/api/scenarios", {"source": source, "title": f"{number}"}))["id"])

        def run_and_save(number: int) -> None:
            ask("/api/scenarios", {"source": f"{source}# {number}\n"})

        save(-1)  # the database is made
        print_row("save, its result is there", milliseconds(save, count))
        print_row(
            "save again, the same content",
            milliseconds(lambda _: ask("/api/scenarios", {"source": source, "title": "0"}), count),
        )
        print_row("save, run first", milliseconds(run_and_save, max(5, count // 4)))
        print_row("open: the page with its trace", milliseconds(lambda k: ask(f"/s/{ids[k]}"), count))
        print_row("open: .trace.json", milliseconds(lambda k: ask(f"/s/{ids[k]}.trace.json"), count))
        print_row("the frame: /embed/{id}", milliseconds(lambda k: ask(f"/embed/{ids[k]}"), count))
        print_row(
            "the first picture, a process started for it", milliseconds(lambda _: ask(f"/s/{ids[0]}.card.png"), 1)
        )
        for name, path in (
            ("preview .card.png", "/s/{}.card.png"),
            (".svg?step=", "/s/{}.svg?step=200"),
            (".png?step=", "/s/{}.png?step=200"),
            (f".svg, the loom of {steps} steps", "/s/{}.svg"),
            (".html", "/s/{}.html"),
        ):
            addresses = [path.format(id_) for id_ in ids]
            cold = milliseconds(lambda k, addresses=addresses: ask(addresses[k + 1]), max(5, count // 4))  # type: ignore[misc]
            print_row(f"{name}, cold", cold)
            warm = milliseconds(lambda _, addresses=addresses: ask(addresses[1]), count)  # type: ignore[misc]
            print_row(f"{name}, warm", warm)


def main(count: int) -> None:
    where = postgres.programs()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; the client beside the server")
    measure("sqlite", count)
    if where is None:
        print("\nno PostgreSQL on this machine")
        return
    with postgres.running(where) as server, database("postgresql", server):
        measure("postgresql", count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.share", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=60, help="repetitions of each measurement (default %(default)s)")
    main(max(10, parser.parse_args().count))
