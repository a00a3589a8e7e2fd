"""Responses: who takes them slowly gets all of them, who does not take them is given up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from server.http import response_delivery
from server.http.deadline_server import DeadlineProtocol
from tests.support.waiting import eventually

SIZE = 24 << 20
"""Bytes of the response: more than the kernel takes in the place of a client."""

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Hasty(DeadlineProtocol):
    write_timeout = 0.5


async def large(_: Any, __: Any, send: Callable[[Any], Awaitable[None]]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(SIZE).encode())]})
    await send({"type": "http.response.body", "body": b"x" * SIZE})


@asynccontextmanager
async def served(app: Any, protocol: type[DeadlineProtocol]) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=protocol, log_level="critical", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    await eventually(lambda: server.started)
    try:
        yield server, server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


async def unread(port: int) -> asyncio.StreamWriter:
    """A connection over which the response was asked for, and nothing of it read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(GET)
    assert reader is not None
    return writer


def test_a_client_that_never_reads_is_dropped() -> None:
    async def main() -> None:
        async with served(large, Hasty) as (server, port):
            writer = await unread(port)
            await eventually(lambda: bool(server.server_state.connections))
            await eventually(lambda: not server.server_state.connections and not server.server_state.tasks)
            assert not response_delivery.unread_deliveries
            writer.close()

    asyncio.run(main())


def test_a_slow_reader_gets_the_whole_response() -> None:
    """For longer than a piece may take."""

    async def main() -> None:
        async with served(large, type("Hasty", (DeadlineProtocol,), {"write_timeout": 2.0})) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 18)
            writer.write(GET)
            head = await reader.readuntil(b"\r\n\r\n")
            size = 0
            while size < SIZE:
                data = await reader.read(1 << 20)
                assert data, (size, head)
                size += len(data)
                await asyncio.sleep(0.1)  # a client on a slow line
            writer.close()

    asyncio.run(main())


def test_beyond_the_memory_bound_the_slowest_reader_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three wait for one and a half responses' room."""
    monkeypatch.setattr(response_delivery, "MAX_WAITING_BYTES", SIZE * 3 // 2)

    asked: list[Any] = []

    async def counted(scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        asked.append(scope)
        await large(scope, receive, send)

    async def main() -> None:
        async with served(counted, DeadlineProtocol) as (server, port):
            writers = []
            for n in range(3):
                writers.append(await unread(port))
                await eventually(
                    lambda n=n: (
                        len(asked) == n + 1  # type: ignore[misc]
                        and len(server.server_state.connections) == len(response_delivery.unread_deliveries) == 1
                    )
                )
            for writer in writers:
                writer.transport.abort()

    asyncio.run(main())
