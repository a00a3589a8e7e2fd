"""Clients that assault a server: from many addresses, many at once, and with requests that no browser would send."""

import http.client
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measured_server import MeasuredServer
from tests.chaos.clients import address

MAX_WAIT = 60.0
LIVING = 0.02
"""Seconds after a request that could not be sent."""


@dataclass
class Assault:
    """One assault while it is played.

    saved: the id of the program of which the visitor asks for pictures
    at_full: to be set once all of it goes on
    over: set when it has to end
    seed: differs at each playing, so that no program was run before
    counts: what became of its requests
    """

    server: MeasuredServer
    seed: int
    saved: str = ""
    over: threading.Event = field(default_factory=threading.Event)
    at_full: threading.Event = field(default_factory=threading.Event)
    counts: Counter[str] = field(default_factory=Counter)

    def repeat(self, attackers: int, work: Callable[[int], object], pace: float = 0.0) -> None:
        """So many attackers do this again and again until it is over.

        work: is given ever other numbers; what it returns is counted
        pace: seconds between two of one attacker
        """
        self.at_full.set()

        def attack(k: int) -> None:
            n = k
            while not self.over.is_set():
                try:
                    self.counts[str(work(n))] += 1
                except (OSError, http.client.HTTPException) as error:
                    self.counts[type(error).__name__] += 1
                    self.over.wait(LIVING)
                n += attackers
                self.over.wait(pace)

        with ThreadPoolExecutor(attackers) as threads:
            for done in [threads.submit(attack, k) for k in range(attackers)]:
                done.result()

    def hold(self, count: int, connect: Callable[[int], socket.socket]) -> None:
        """Open so many connections and leave them alone until it is over. Those that were closed are opened again."""
        with ExitStack() as stack:
            held: dict[int, socket.socket] = {}
            stack.callback(lambda: [connection.close() for connection in held.values()])
            while not self.over.is_set():
                for n in range(count):
                    if self.over.is_set():
                        return
                    if n in held and is_open(held[n]):
                        continue
                    try:
                        if n in held:
                            held.pop(n).close()
                            self.counts["closed by the server"] += 1
                        held[n] = connect(n)
                        self.counts["opened"] += 1
                    except OSError as error:
                        self.counts[type(error).__name__] += 1
                        self.at_full.set()  # it takes no more of them
                self.at_full.set()
                self.over.wait(0.5)


def numbered(assault: Assault, source: str, n: int) -> str:
    """The program with a number that it has at no other playing."""
    return source.replace("{n}", str(assault.seed + n))


def is_open(connection: socket.socket) -> bool:
    """Whether the server has neither closed nor reset it. Takes nothing of what came."""
    try:
        return bool(connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return True
    except OSError:
        return False


def ask(
    server: MeasuredServer,
    method: str,
    path: str,
    body: Any = None,
    number: int = 0,
    headers: dict[str, str] | None = None,
    max_wait: float = MAX_WAIT,
) -> tuple[int, bytes]:
    """The status and the body of an answer, to a request from the address of that number. Raises OSError,
    HTTPException."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, max_wait, (address(number), 0))
    text = body if isinstance(body, bytes | str | None) else json.dumps(body)
    try:
        connection.request(method, path, text, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


SEND_BUFFER = 1 << 16
"""Bytes that the kernel of an attacker keeps of what it sends; it doubles them."""


def ask_unread(server: MeasuredServer, request: str | bytes, number: int = 0, buffer: int = 4096) -> socket.socket:
    """A connection over which this was sent, and nothing read.

    buffer: bytes of the answer that its kernel takes
    """
    connection = socket.socket()
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        # what the attacker's own kernel holds is counted with the server's: elsewhere it would be the memory of another machine  # noqa: E501
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        connection.settimeout(5)
        connection.bind((address(number), 0))
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(request if isinstance(request, bytes) else request.encode())
    except OSError:
        connection.close()
        raise
    return connection


def get_request(path: str, *headers: str) -> str:
    """The text of a request."""
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""])


def post_request(path: str, body: Any, *headers: str) -> str:
    text = json.dumps(body)
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    return "\r\n".join([*lines, f"Content-Length: {len(text)}", *headers, "", text])


def save(server: MeasuredServer, source: str, number: int = 0, title: str = "") -> str:
    """The id of this program, saved. Raises AssertionError where it was not saved."""
    status, body = ask(server, "POST", "/api/scenarios", {"source": source, "title": title}, number)
    assert status in (200, 201), (status, body[:300])
    return str(json.loads(body)["id"])
