"""The polite visitor, a process of its own: asks for pages, runs and pictures, and reports how long each took.

`python -m tests.assault.visitor PORT SAVED_ID [pictures]` goes on until its standard input ends, then prints its
report.
"""

import gzip
import http.client
import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count

from benchmarks.load import program, trace_mistake

ADDRESS = "127.0.200.9"
VISITORS_FIRST = 700_000
"""The number of the first program that the visitor asks for; each time the next."""

PAGE_PACE, RUN_PACE, PICTURE_PACE = 0.25, 1.2, 2.0
"""Seconds between two requests: slower than what the default limits allow."""

MAX_WAIT = 60.0
PAUSE = 0.2
"""Seconds until the next try after a refusal."""


class Requester(threading.Thread):
    """Asks for one kind of thing again and again; a wait lasts until it has been given, whatever happens before.

    ask: asks for the n-th and returns whether it was given
    """

    def __init__(self, name: str, pace: float, ask: Callable[[int], bool], over: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self._pace, self._ask, self._over = pace, ask, over
        self.waits: list[float] = []
        self.refusals = 0
        self._since: float | None = None

    def run(self) -> None:
        for n in count():
            self._since = time.monotonic()
            while not self._over.is_set() and not self._granted(n):
                self.refusals += 1
                time.sleep(PAUSE)
            self.waits.append(time.monotonic() - self._since)
            self._since = None
            if self._over.wait(self._pace):
                return

    def _granted(self, n: int) -> bool:
        with suppress(OSError, http.client.HTTPException, ValueError, KeyError):
            return self._ask(n)
        return False

    def report(self) -> dict[str, float]:
        waits = sorted(self.waits + ([time.monotonic() - self._since] if self._since is not None else []))
        return {
            "longest": waits[-1] if waits else 0.0,
            "median": waits[len(waits) // 2] if waits else 0.0,
            "count": len(waits),
            "refusals": self.refusals,
        }


def fetch(port: int, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, MAX_WAIT, (ADDRESS, 0))
    headers = {"Accept-Encoding": "gzip", "Content-Type": "application/json", "X-Forwarded-For": "203.0.113.9"}
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        return answer.status, gzip.decompress(data) if answer.getheader("content-encoding") == "gzip" else data
    finally:
        connection.close()


def main(port: int, saved: str, *more: str) -> None:
    pages = ("/", f"/s/{saved}", f"/s/{saved}.trace.json", "/gallery")

    def page(n: int) -> bool:
        return fetch(port, "GET", pages[n % len(pages)])[0] == 200

    def run(n: int) -> bool:
        status, body = fetch(port, "POST", "/api/runs", json.dumps({"source": program(VISITORS_FIRST + n)}))
        return status == 200 and not trace_mistake(VISITORS_FIRST + n, json.loads(body))

    def picture(n: int) -> bool:
        themes, languages = ("light", "dark"), ("en", "zh")
        query = f"step={n // 4 % 20}&theme={themes[n % 2]}&lang={languages[n // 2 % 2]}"
        return fetch(port, "GET", f"/s/{saved}.svg?{query}")[0] == 200

    over = threading.Event()
    requesters = [Requester("pages", PAGE_PACE, page, over), Requester("runs", RUN_PACE, run, over)]
    if "pictures" in more:
        requesters.append(Requester("pictures", PICTURE_PACE, picture, over))
    for requester in requesters:
        requester.start()
    sys.stdin.read()
    over.set()
    print(json.dumps({requester.name: requester.report() for requester in requesters}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
