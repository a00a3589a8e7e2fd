"""Load test of a server that runs somewhere: `python -m benchmarks.load --url https://gradbox.example.org --users 30`.

Each visitor has a connection and a cookie, opens the page, and presses Run with all others at once. Then each presses
again some seconds after its trace has come. No two programs are alike, so each one runs. The server's limits hold for
this machine as for any other: 429 is counted by its reason. GRADBOX_PASSWORD is sent where it is set.
"""

import gzip
import http.client
import itertools
import json
import os
import random
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

MAX_WAIT = 60.0
"""Seconds to wait for a response; after that the request counts as an error."""


@dataclass
class Waits:
    """What the visitors got.

    pages, first, later: seconds of answers first: of those that all asked for at once refused: answers with status 429
        by their code errors: other answers, by status, or by what was wrong
    """

    pages: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class Visitor:
    """One connection with its cookie, as a browser has them."""

    def __init__(self, url: SplitResult) -> None:
        self._path = url.path.rstrip("/")
        self._cookies: dict[str, str] = {}
        self._headers = {"Accept-Encoding": "gzip", "User-Agent": "gradbox-load"}
        if os.environ.get("GRADBOX_PASSWORD"):
            self._headers["Authorization"] = f"Bearer {os.environ['GRADBOX_PASSWORD']}"
        host, port = url.hostname or "", url.port
        self._connection = (
            http.client.HTTPSConnection(host, port, timeout=MAX_WAIT, context=ssl.create_default_context())
            if url.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=MAX_WAIT)
        )

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, bytes, float]:
        """Status, body and seconds. Raises OSError and HTTPException; the next request then has a new connection."""
        headers = dict(self._headers)
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body)
        began = time.perf_counter()
        try:
            try:
                response = self._send(method, path, data, headers)
            except (ConnectionError, http.client.RemoteDisconnected):  # the server closed it while it was idle
                self._connection.close()
                response = self._send(method, path, data, headers)
            content = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        seconds = time.perf_counter() - began
        for cookie in response.headers.get_all("Set-Cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        if self._cookies:
            self._headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        if response.headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        return response.status, content, seconds

    def _send(self, method: str, path: str, data: str | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        self._connection.request(method, self._path + path, data, headers)
        return self._connection.getresponse()

    def close(self) -> None:
        self._connection.close()


def run_once(visitor: Visitor, source: str, fault: Callable[[Any], str], durations: list[float], waits: Waits) -> None:
    """Press Run.

    durations: to which its seconds are added
    """
    try:
        status, content, seconds = visitor.request("POST", "/api/runs", {"source": source})
    except (OSError, http.client.HTTPException) as error:
        waits.errors[type(error).__name__] += 1
        return
    if status == 429:
        waits.refused[str(json.loads(content)["error"]["code"])] += 1
    elif status != 200:
        waits.errors[f"status {status}"] += 1
    elif wrong := fault(json.loads(content)):
        waits.errors[wrong] += 1
    else:
        durations.append(seconds)


def visit(
    url: SplitResult, numbers: Iterator[int], program: Callable[[int], str], fault: Callable[[int, Any], str],
    together: threading.Barrier, until: list[float], pause: float, waits: Waits,
) -> None:  # fmt: skip
    """What one visitor does.

    until: when it ends, once the first of all has opened the page; it is set here
    """
    visitor = Visitor(url)
    try:
        status, _, seconds = visitor.request("GET", "/")
        if status == 200:
            waits.pages.append(seconds)
        else:
            waits.errors[f"page, status {status}"] += 1
    except (OSError, http.client.HTTPException) as error:
        waits.errors[f"page, {type(error).__name__}"] += 1
    together.wait()
    taken = waits.first
    while True:
        n = next(numbers)
        run_once(visitor, program(n), lambda trace, n=n: fault(n, trace), taken, waits)  # type: ignore[misc]
        taken = waits.later
        nap = random.uniform(0.5, 1.5) * pause
        if time.perf_counter() + nap > until[0]:
            break
        time.sleep(nap)
    visitor.close()


def seconds_row(name: str, seconds: list[float]) -> str:
    ordered = sorted(seconds)
    if not ordered:
        return f"{name:24} {0:6}"
    at = [ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000 for share in (0.5, 0.9, 0.99, 1)]
    return f"{name:24} {len(ordered):6} " + " ".join(f"{milliseconds:9.0f}" for milliseconds in at)


def measure_url(
    address: str,
    users: int,
    seconds: float,
    pause: float,
    program: Callable[[int], str],
    fault: Callable[[int, Any], str],
) -> int:
    """Let so many visitors use the server and print what they waited for. The exit status: 1 where one got an error.

    program: the source of the n-th program
    fault: what is wrong with its trace, or ""
    """
    url = urlsplit(address)
    if url.scheme not in ("http", "https") or not url.hostname:
        print(f"--url takes an address like https://gradbox.example.org, not {address!r}", file=sys.stderr)
        return 2
    waits, until = Waits(), [float("inf")]
    # another test's programs would come from the server's cache
    start = random.randrange(1, 1 << 20)
    numbers = itertools.count(start)

    def begin() -> None:
        until[0] = time.perf_counter() + seconds

    together = threading.Barrier(users, action=begin)
    threads = [
        threading.Thread(target=visit, args=(url, numbers, program, fault, together, until, pause, waits))
        for _ in range(users)
    ]
    print(f"{address}: {users} visitors for {seconds:.0f} s, {pause:g} s between a trace and the next Run")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"\n{'':24} {'count':>6} {'p50 ms':>9} {'p90 ms':>9} {'p99 ms':>9} {'max ms':>9}")
    print(seconds_row("the page", waits.pages))
    print(seconds_row("all press Run at once", waits.first))
    print(seconds_row("later runs", waits.later))
    for code, count in waits.refused.most_common():
        print(f"{f'refused (429), {code}':24} {count:6}")
    for what, count in waits.errors.most_common():
        print(f"{f'error, {what}':24} {count:6}")
    return int(bool(waits.errors))
