"""Clients of a server under test: they ask for programs, from many addresses, and may read nothing of the answer."""

import http.client
import json
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.load import program, trace_mistake
from benchmarks.measured_server import MeasuredServer
from tests.chaos.programs import SLEEP
from tests.chaos.server_state import wait_until_running


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any
    seconds: float

    @property
    def ending(self) -> str:
        """The outcome's status, or the code of the error."""
        return str((self.body.get("outcome") or {}).get("status") or self.body["error"]["code"])


def post_program(server: MeasuredServer, source: str, number: int = 0, timeout: float = 120.0) -> Answer:
    """The answer to a program, asked for from the address of that number. Raises OSError and HTTPException."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout, (address(number), 0))
    try:
        connection.request("POST", "/api/runs", json.dumps({"source": source}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = json.loads(answer.read())
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, body, time.perf_counter() - began)
    finally:
        connection.close()


def address(number: int) -> str:
    return f"127.0.{1 + number // 250 % 250}.{1 + number % 250}"


def start_post(
    server: MeasuredServer, source: str, number: int = 0, size: int | None = None, buffer: int = 4096
) -> socket.socket:
    """A connection over which a program was asked for, and nothing read; `size`: only so many bytes of the request.

    buffer: bytes of the answer that its kernel takes; the rest stays with the server
    """
    body = json.dumps({"source": source})
    head = (
        f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(60)
    connection.bind((address(number), 0))
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(f"{head}\r\n\r\n{body}".encode()[:size])
    return connection


def close_connection(connection: socket.socket, rudely: bool = False) -> None:
    """Close it.

    rudely: with a reset
    """
    if rudely:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def assert_correct(n: int, answer: Answer) -> None:
    """It is the trace of `program(n)`."""
    assert answer.status == 200, (answer.status, answer.body.get("error"))
    assert not trace_mistake(n, answer.body), (trace_mistake(n, answer.body), answer.body["outcome"])


def run_honest_programs(server: MeasuredServer, numbers: range, max_wait: float = 60.0) -> str:
    """Have these programs run, one after the other, and each be right; how long they took."""
    seconds = []
    for n in numbers:
        answer = post_program(server, program(n), n, max_wait)
        assert_correct(n, answer)
        seconds.append(answer.seconds)
    return f"{min(seconds) * 1000:.0f} to {max(seconds) * 1000:.0f} ms"


@contextmanager
def posting(server: MeasuredServer, source: str, count: int) -> Iterator[list[Future[Answer]]]:
    """So many programs asked for at once, `source` with a number of its own each; left when all are answered."""
    with ThreadPoolExecutor(count) as threads:
        yield [threads.submit(post_program, server, source.replace("{n}", str(k)), k) for k in range(count)]


@contextmanager
def crowd(server: MeasuredServer, source: str = SLEEP) -> Iterator[list[socket.socket]]:
    """Two programs run and four wait; their clients read nothing."""
    with ExitStack() as stack:
        clients = [start_post(server, source.replace("{n}", str(k)), k) for k in range(6)]
        for client in clients:
            stack.callback(client.close)
        wait_until_running(server, 2, 4)
        yield clients


def fetch(server: MeasuredServer, path: str, body: str | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, 60)
    try:
        connection.request("POST" if body else "GET", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def open_event_stream(server: MeasuredServer, source: str) -> socket.socket:
    """A connection that hears of a run, whose first event has come."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, 30)
    try:
        headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
        connection.request("POST", "/api/runs", json.dumps({"source": source}), headers)
        path = json.loads(connection.getresponse().read())["events"]
    finally:
        connection.close()
    listener = socket.create_connection(("127.0.0.1", server.port), 30)
    listener.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    data = b""
    while b"data: " not in data:
        data += listener.recv(1 << 12)
    return listener
