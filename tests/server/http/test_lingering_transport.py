"""A connection is closed once its client has taken everything; what a client does not take is dropped, in the kernel
too."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from server.http import response_delivery
from server.http.connections import ConnectionLimiter
from server.http.deadline_server import DeadlineProtocol
from tests.server.http.test_response_delivery import served
from tests.support.waiting import PATIENCE, eventually

SIZE = 300_000
"""Bytes of a response: fewer than the kernel takes in the place of a client."""

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
CLOSE = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


async def medium(scope: Any, __: Any, send: Callable[[Any], Awaitable[None]]) -> None:
    headers = [(b"content-length", str(SIZE).encode())] if scope["http_version"] == "1.1" else []
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"x" * SIZE})


def connect(port: int, request: bytes = CLOSE) -> socket.socket:
    """A connection whose kernel takes little, and over which this was asked."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(PATIENCE)
    connection.connect(("127.0.0.1", port))
    connection.sendall(request)
    return connection


def left_in_the_kernel(port: int) -> int:
    """Bytes that the kernel holds for clients of this port, whether a process has the socket or none."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(line[4].partition(":")[0], 16) for line in lines if int(line[1].partition(":")[2], 16) == port)


def requested(protocol: type[DeadlineProtocol], count: int, request: bytes = CLOSE, hold: bool = True) -> None:
    """Clients ask and do not read; then nothing is left of them, and the next one is served."""

    async def main() -> None:
        async with served(medium, protocol) as (server, port):
            clients = [await asyncio.to_thread(connect, port, request) for _ in range(count)]
            await eventually(lambda: left_in_the_kernel(port) > count * 100_000)
            if not hold:
                for client in clients:
                    client.close()
            await eventually(lambda: left_in_the_kernel(port) < 100_000 and not server.server_state.connections)
            assert not response_delivery.unread_deliveries
            await read_all(port)
            for client in clients:
                client.close()

    asyncio.run(main())


async def read_all(port: int, request: bytes = CLOSE) -> None:
    client = await asyncio.to_thread(connect, port, request)
    with client:
        data = await asyncio.to_thread(lambda: b"".join(iter(lambda: client.recv(1 << 16), b"")))
    assert data.endswith(b"x" * SIZE)


@pytest.mark.parametrize(
    "request_",
    [CLOSE, GET, CLOSE.replace(b"1.1", b"1.0")],
    ids=["closed at once", "kept alive", "of HTTP/1.0"],
)
def test_unread_bytes_are_dropped_from_the_kernel(request_: bytes) -> None:
    """Within the time of the server, which is shorter than the kernel's."""
    requested(type("Hasty", (DeadlineProtocol,), {"write_timeout": 0.5}), 3, request_)


def test_unread_bytes_of_a_disconnected_client_are_dropped() -> None:
    requested(DeadlineProtocol, 3, hold=False)


def test_the_slowest_client_of_an_address_over_its_bound_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_delivery, "MAX_ADDRESS_BYTES", SIZE * 2)

    async def main() -> None:
        async with served(medium, DeadlineProtocol) as (server, port):
            clients = []
            for n in range(8):
                clients.append(await asyncio.to_thread(connect, port))
                await eventually(lambda n=n: server.server_state.total_requests > n)  # type: ignore[misc]
            await eventually(lambda: left_in_the_kernel(port) <= SIZE * 2)
            held = [delivery for delivery in response_delivery.unread_deliveries if delivery.owner == "127.0.0.1"]
            assert 0 < len(held) <= 2 and len(server.server_state.connections) == len(held)
            await read_all(port)
            for client in clients:
                client.close()

    asyncio.run(main())


def test_a_proxy_has_no_bound_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_delivery, "MAX_ADDRESS_BYTES", SIZE)
    proxies = {"open_connections": ConnectionLimiter(proxies=(ip_network("127.0.0.0/8"),))}

    async def main() -> None:
        async with served(medium, type("Behind", (DeadlineProtocol,), proxies)) as (server, port):
            clients = [await asyncio.to_thread(connect, port) for _ in range(4)]
            await eventually(lambda: server.server_state.total_requests == 4)
            assert len(response_delivery.unread_deliveries) == 4
            for client in clients:
                client.close()

    asyncio.run(main())


@pytest.mark.parametrize("request_", [CLOSE, CLOSE.replace(b"1.1", b"1.0")], ids=["HTTP/1.1", "HTTP/1.0"])
def test_a_slow_client_gets_everything_and_then_the_end(request_: bytes) -> None:
    async def main() -> None:
        async with served(medium, type("Hasty", (DeadlineProtocol,), {"write_timeout": 2.0})) as (server, port):
            client = await asyncio.to_thread(connect, port, request_)
            await eventually(lambda: bool(response_delivery.unread_deliveries))

            def read_slowly() -> int:
                size = 0
                while data := client.recv(4096):
                    size += data.count(b"x")
                return size

            assert await asyncio.to_thread(read_slowly) >= SIZE
            await eventually(lambda: not server.server_state.connections)
            client.close()

    asyncio.run(main())


def test_a_refused_connection_is_not_counted() -> None:
    """A refusal that nobody takes is the kernel's: it is small, and the limiter does not count the connection."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def busy(_: Any, __: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        begun.set()
        await go_on.wait()
        await medium({"http_version": "1.1"}, None, send)

    async def main() -> None:
        protocol = type("Full", (DeadlineProtocol,), {"open_connections": ConnectionLimiter(total=1)})
        async with served(busy, protocol) as (server, port):
            first = await asyncio.to_thread(connect, port)
            await begun.wait()
            client = await asyncio.to_thread(connect, port)
            await eventually(lambda: len(server.server_state.connections) == 1)
            assert (await asyncio.to_thread(client.recv, 100)).startswith(b"HTTP/1.1 503 ")
            go_on.set()
            for connection in (first, client):
                connection.close()

    asyncio.run(main())
