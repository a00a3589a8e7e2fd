"""Assaults by connections: ones that send half, that never read, that listen or vanish."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

from benchmarks.measured_server import ROOT
from tests.assault.attackers import Assault, ask, ask_unread, get_request, is_open, post_request, save
from tests.assault.programs import BIG, RANDOM
from tests.chaos.clients import close_connection
from tests.chaos.programs import SLEEP

ADDRESSES, MANY_ADDRESSES = 8, 40


def unread(requests: Callable[[Assault], list[str]], count: int, name: str, meaning: str) -> Callable[[Assault], None]:
    """An assault by clients that ask and read nothing.

    requests: what they ask, in turn
    """

    def play(assault: Assault) -> None:
        texts = requests(assault)
        assault.hold(count, lambda n: ask_unread(assault.server, texts[n % len(texts)], n % ADDRESSES))

    play.__name__, play.__doc__ = name, meaning
    return play


def traces(assault: Assault) -> list[str]:
    id_ = save(assault.server, BIG.replace("{n}", "4"))
    return [get_request(f"/s/{id_}.trace.json")]


def runs(_: Assault) -> list[str]:
    return [post_request("/api/runs", {"source": BIG.replace("{n}", str(n))}) for n in range(20, 24)]


def files(assault: Assault) -> list[str]:
    id_ = save(assault.server, BIG.replace("{n}", "5"))
    return [get_request(f"/s/{id_}.html?step={step}") for step in range(60)]


def listeners(assault: Assault) -> list[str]:
    body = {"source": SLEEP.replace("{n}", str(assault.seed))}
    _, answer = ask(assault.server, "POST", "/api/runs", body, 0, {"Prefer": "respond-async"})
    return [get_request(json.loads(answer)["events"])]


def pipelines(_: Assault) -> list[str]:
    return [get_request("/gallery") * 1000]


unread_traces = unread(traces, 100, "unread_traces", "A hundred ask for a big trace, not compressed, and never read.")
unread_runs = unread(runs, 60, "unread_runs", "Sixty ask for big runs that were kept, and never read.")
unread_files = unread(files, 40, "unread_files", "Forty ask for offline files of a big trace, and never read.")
unread_events = unread(listeners, 200, "unread_events", "Two hundred listen to one run, and never read.")
unread_pipelines = unread(pipelines, 40, "unread_pipelines", "Forty ask for a thousand pages at once, and never read.")


def closed_unread(assault: Assault) -> None:
    """Files, pages and traces asked for over connections that are to be closed at once, whose clients read nothing and
    leave them to the kernel: from twenty addresses, as fast as four clients can."""
    id_ = save(assault.server, RANDOM.replace("{n}", "7"))
    chunks = Path(ROOT / "static/dist").glob("**/*.js")
    largest = sorted(chunks, key=lambda path: -path.stat().st_size)[:3]
    paths = [f"/static/dist/{path.relative_to(ROOT / 'static/dist')}" for path in largest]
    paths += [f"/s/{id_}.trace.json", f"/s/{id_}.html", "/gallery"]
    requests = [get_request(path, "Connection: close") for path in paths]
    requests += [get_request(paths[0]), get_request(paths[0]).replace("HTTP/1.1", "HTTP/1.0")]

    def get(n: int) -> str:
        connection = ask_unread(assault.server, requests[n % len(requests)], n % 20, 1024)
        assault.over.wait(0.01)
        unread = is_open(connection)  # a byte of the answer is there: the kernel has the rest
        kept.append(connection)
        while len(kept) > MAX_KEPT:
            kept.pop(0).close()
        return "left unread" if unread else "closed"

    kept: list[socket.socket] = []
    assault.repeat(4, get)
    for connection in kept:
        connection.close()


def half_closed(assault: Assault) -> None:
    """Clients that close their side as soon as they have asked, half of them for a program that sleeps, and are
    gone."""

    def post(n: int) -> str:
        body = {"source": SLEEP.replace("{n}", str(assault.seed + n))}
        text = post_request("/api/runs", body) if n % 2 else get_request("/gallery")
        connection = ask_unread(assault.server, text, n % ADDRESSES, 1 << 18)
        with connection:
            connection.shutdown(socket.SHUT_WR)
            if n % 2:
                assault.over.wait(0.01)
                return "gone"
            return connection.recv(12)[9:].decode() or "closed"

    assault.repeat(4, post)


MAX_KEPT = 4_000
"""Connections that the attackers hold, so that the server's kernel never hears of their end."""


def half_requests(assault: Assault) -> None:
    """1,500 connections with half a request each, opened again when they are closed."""
    assault.hold(1500, lambda n: ask_unread(assault.server, "GET / HTTP/1.1\r\nHost: 127.", n % MANY_ADDRESSES))


def one_address(assault: Assault) -> None:
    """1,000 connections of one address that send nothing."""
    assault.hold(1000, lambda _: ask_unread(assault.server, "", 3))


def slow_bodies(assault: Assault) -> None:
    """200 that send all but the last byte of a long program."""
    text = post_request("/api/runs", {"source": "#" * 65_000})[:-1]
    assault.hold(200, lambda n: ask_unread(assault.server, text, n % ADDRESSES))


def vanishing_clients(assault: Assault) -> None:
    """Programs whose clients are gone at once, half of them with a reset."""

    def post(n: int) -> str:
        body = {"source": SLEEP.replace("{n}", str(assault.seed + n))}
        connection = ask_unread(assault.server, post_request("/api/runs", body), n % ADDRESSES)
        assault.over.wait(0.01 * (n % 5))
        close_connection(connection, bool(n % 2))
        return "gone"

    assault.repeat(4, post)
