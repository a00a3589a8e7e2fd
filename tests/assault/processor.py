"""Assaults on the server's processor: requests and traces that are small to send and long to read."""

import json
import subprocess
import sys
from urllib.parse import quote

from tests.assault.attackers import Assault, ask, ask_unread, numbered, save
from tests.assault.forged_fields import forged_fields
from tests.assault.programs import BIG, COLLIDING, COMPLEX_CELLS, HOSTILE_LINES
from tests.chaos.clients import close_connection
from tests.server.http.largest_requests import alive, pipelines


def compact(body: object) -> str:
    return json.dumps(body, separators=(",", ":"))


COUNTS = {str(k * COLLIDING): 1 for k in range(1, 14_001)}
HOSTILE_BODIES = {
    "keys of one hash": compact({"source": "x = 1", "focus": {"counts": COUNTS}}),
    "unknown fields": json.dumps({"source": "x = 1", **{f"x{k}": 1 for k in range(30_000)}}),
    "unknown fields of the focus": json.dumps({"source": "x = 1", "focus": {f"x{k}": 1 for k in range(30_000)}}),
    "counts that are words": json.dumps(
        {"source": "x = 1", "focus": {"counts": {f"x{k}": "y" for k in range(24_000)}}}
    ),
    "an iteration of words": json.dumps({"source": "x = 1", "focus": {"loop": 0, "iteration": ["x"] * 75_000}}),
    "a long iteration": json.dumps({"source": "x = 1", "focus": {"loop": 0, "iteration": [1] * 130_000}}),
    "brackets": '{"source":' + "[" * 390_000,
    "closed brackets": '{"source":' + "[" * 190_000 + "]" * 190_000 + "}",
    "a long number": '{"source": "x = 1", "seed": ' + "9" * 390_000 + "}",
    "half characters": '{"source": "' + "\\ud800" * 60_000 + '"}',
    "no text": b"\xff" * 390_000,
}
SCENARIO_BODIES = {
    "keys of one hash": compact({"source": "x = 1", "settings": {"focus": {"counts": COUNTS}}}),
    "unknown fields": json.dumps({"source": "x = 1", "settings": {f"x{k}": 1 for k in range(30_000)}}),
    "long texts": json.dumps({"source": "x = 1", "title": "x" * 190_000, "note": "\u0000" * 30_000}),
}


def hostile_requests(assault: Assault) -> None:
    """Bodies that the server parses and refuses."""
    requests = [("/api/runs?kept=1", body) for body in HOSTILE_BODIES.values()]
    requests += [("/api/scenarios", body) for body in SCENARIO_BODIES.values()]

    def post(n: int) -> int:
        path, body = requests[n % len(requests)]
        return ask(assault.server, "POST", path, body, n % 10)[0]

    assault.repeat(3, post)


def colliding_counts(assault: Assault) -> None:
    """14,000 keys with one hash in the focus of a request that runs nothing."""
    assault.repeat(
        2, lambda n: ask(assault.server, "POST", "/api/runs?kept=1", HOSTILE_BODIES["keys of one hash"], n % 10)[0]
    )


def colliding_outcomes(assault: Assault) -> None:
    """Programs that end their trace with 20,000 such keys."""
    source = HOSTILE_LINES["keys of one hash"]
    assault.repeat(2, lambda n: run(assault, source, n))


def nan_cells(assault: Assault) -> None:
    """Programs that write 8 MB of cells which are not finite."""
    source = HOSTILE_LINES["cells that are nan"]
    assault.repeat(2, lambda n: run(assault, source, n))


def hostile_lines(assault: Assault) -> None:
    """Programs that write 8 MB of whatever is long to read."""
    sources = list(HOSTILE_LINES.values())
    assault.repeat(2, lambda n: run(assault, sources[n % len(sources)], n))


def run(assault: Assault, source: str, n: int) -> str:
    """The ending of this program, run once more."""
    status, body = ask(
        assault.server, "POST", "/api/runs", {"source": source.replace("{n}", str(assault.seed + n))}, n % 8
    )
    return str(json.loads(body)["outcome"]["status"]) if status == 200 else str(status)


def tiny_chunks(assault: Assault) -> None:
    """Bodies in chunks of one byte."""
    head = "POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"  # noqa: E501
    request = head.encode() + b"1\r\n \r\n" * 390_000

    def post(n: int) -> str:
        connection = ask_unread(assault.server, request, n % 10)
        close_connection(connection)
        return "sent"

    assault.repeat(4, post)


def long_headers(assault: Assault) -> None:
    """As many bytes as a head may have, of cookies, languages, tags, ranges and addresses."""
    values = {
        "Cookie": "; ".join(["gradbox=" + "a" * 22 + "." + "b" * 43] * 400),
        "Accept-Language": "x," * 15_000,
        "Accept-Encoding": "gzip;q=0.000," * 2_300,
        "If-None-Match": 'W/"x",' * 5_000,
        "X-Forwarded-For": "127.0.0.1," * 3_000,
        "Range": "bytes=" + ",".join(f"{k}-{k + 1}" for k in range(0, 5_000, 2)),
    }
    paths = ["/", "/static/dist/style.css", f"/s/{save(assault.server, 'x = 1')}.trace.json", "/-/status"]
    names = list(values)

    def get(n: int) -> int:
        name = names[n % len(names)]
        return ask(assault.server, "GET", paths[n // len(names) % len(paths)], None, n % 10, {name: values[name]})[0]

    assault.repeat(4, get)


MANY_ADDRESSES = 20


def many_trailers(assault: Assault) -> None:
    """Bodies of one chunk, with fifteen thousand trailers, from twenty addresses; others with a head of eight thousand
    lines."""
    chunked = "POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
    requests = [
        (chunked + "\r\n1\r\n \r\n0\r\n" + "a:\r\n" * 15_000 + "\r\n").encode(),
        (chunked + "a:\r\n" * 8_000 + "\r\n").encode(),
        (chunked + "a: b\r\n" + " c\r\n" * 8_000 + "\r\n").encode(),
    ]

    def post(n: int) -> str:
        connection = ask_unread(assault.server, requests[n % 3], n % MANY_ADDRESSES, 1 << 16)
        with connection:
            return connection.recv(12)[9:].decode() or "closed"

    assault.repeat(8, post)


def long_pipelines(assault: Assault) -> None:
    """Pipelines as large as a request may be, from twenty addresses: beyond the size of a program, and below it."""
    bodies = [json.dumps({"pipeline": pipeline}).encode() for pipeline in pipelines()]

    def post(n: int) -> int:
        return ask(assault.server, "POST", "/api/runs?kept=1", bodies[n % len(bodies)], n % MANY_ADDRESSES)[0]

    assault.repeat(8, post)


def palettes_and_status(assault: Assault) -> None:
    """Palettes and forms with ever other names, the metrics and the status page, from twenty addresses."""

    def get(n: int) -> int:
        names = quote(alive(14, assault.seed + n))
        paths = (f"/builder/palette?alive={names}", "/metrics", "/-/status", f"/builder/form/matmul?alive={names}")
        return ask(assault.server, "GET", paths[n % 4], None, n % MANY_ADDRESSES)[0]

    assault.repeat(8, get)


def palettes_of_one_address(assault: Assault) -> None:
    """Palettes with ever other names, from one address as fast as eight clients can."""

    def get(n: int) -> int:
        return ask(assault.server, "GET", f"/builder/palette?alive={quote(alive(14, assault.seed + n))}", None, 1)[0]

    assault.repeat(8, get)


def slow_assembly(assault: Assault) -> None:
    """Programs of half a second that write 7 MB of complex cells, two at once from one address."""
    source = f"import time\nbegan = time.time()\nwhile time.time() - began < 0.5: pass\n{COMPLEX_CELLS}"
    assault.repeat(
        2, lambda n: ask(assault.server, "POST", "/api/runs", {"source": numbered(assault, source, n)}, 1)[0]
    )


def forged_rounds(assault: Assault) -> None:
    """Gradient checks and runs of one address, whose rounds have lists as long as the pipe takes."""
    sources = [source for name, source in forged_fields().items() if name.startswith(("rounds.", "outcome.rounds."))]

    def post(n: int) -> int:
        path = ("/api/gradient-checks", "/api/runs")[n % 2]
        return ask(assault.server, "POST", path, {"source": numbered(assault, sources[n % len(sources)], n)}, 1)[0]

    assault.repeat(6, post)


def slow_host(assault: Assault) -> None:
    """Four processes beside the server that do nothing but compute."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        assault.at_full.set()
        assault.over.wait()
        assault.counts["busy processes"] = sum(process.poll() is None for process in busy)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def forwarded_chains(assault: Assault) -> None:
    """Chains of 3,000 proxies in X-Forwarded-For, each of which is trusted."""
    chain = ",".join(["127.0.0.1"] * 3_000)
    assault.repeat(4, lambda n: ask(assault.server, "GET", "/", None, n % 10, {"X-Forwarded-For": chain})[0])


def cheap_requests(assault: Assault) -> None:
    """Every address that is answered without a run, as fast as four clients of one address can."""
    big = save(assault.server, BIG.replace("{n}", "1"))
    kinds = ("", ".json", ".trace.json", ".py")
    paths = [
        "/",
        "/gallery",
        "/-/gallery",
        "/api/schema",
        "/api/operations",
        "/api/openapi.json",
        "/metrics",
        "/healthz",
        f"/embed/{big}",
    ]
    paths += [f"/s/{big}{kind}" for kind in kinds] + ["/nowhere", "/s/nowhere", f"/?s={'x' * 60_000}"]

    def get(n: int) -> int:
        return ask(assault.server, "GET", paths[n % len(paths)], None, 1, {"Accept": "text/html"})[0]

    assault.repeat(4, get)


def reruns(assault: Assault) -> None:
    """A saved program with a big trace is run again, as often as can be."""
    id_ = save(assault.server, BIG.replace("{n}", "2"))
    assault.repeat(4, lambda n: ask(assault.server, "POST", f"/api/scenarios/{id_}/rerun", "", n % 4)[0])


def scripts(assault: Assault) -> None:
    """The script of a saved program with a big trace."""
    id_ = save(assault.server, BIG.replace("{n}", "3"))
    assault.repeat(4, lambda n: ask(assault.server, "GET", f"/s/{id_}.py", None, n % 4)[0])
