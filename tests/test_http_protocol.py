"""Connections: what never comes whole is given up, and nothing else is."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from server.http.deadline_server import DeadlineProtocol
from server.http.fair_turns import FairTurns, TurnWork

TIMEOUT = 0.4
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"


class Hasty(DeadlineProtocol):
    request_timeout = TIMEOUT


async def patient(_: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    """Answers with how the request ended, after longer than one may take."""
    more = True
    while more:
        message = await receive()
        more = message.get("more_body", False)
    await asyncio.sleep(TIMEOUT * 1.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"12")]})
    await send({"type": "http.response.body", "body": message["type"].encode()})


@asynccontextmanager
async def served(app: Any = patient, **config: Any) -> AsyncIterator[int]:
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, **{"http": Hasty, "log_level": "critical", "lifespan": "off", **config})
    )
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


async def sent(*parts: bytes) -> bytes:
    """What comes back, until the server closes the connection."""
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        reading = asyncio.create_task(reader.read())
        for part in parts:
            if not reading.done():
                writer.write(part)
                await asyncio.sleep(TIMEOUT / 4)
        answer = await asyncio.wait_for(reading, 20)
        writer.close()
        return answer


@pytest.mark.parametrize("begin", [b"", b"G", HEAD[:20], HEAD, HEAD + b"\r\n", HEAD + b"\r\nab"], ids=repr)
def test_an_incomplete_request_times_out(begin: bytes) -> None:
    head, _, body = asyncio.run(sent(begin)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["error"]["code"] == "late"


def test_a_request_in_drops_is_one_request() -> None:
    """The time is for the whole, not for each byte."""
    request = HEAD + b"Connection: close\r\n\r\nabcd"
    answer = asyncio.run(sent(*(request[k : k + 10] for k in range(0, len(request), 10))))
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_slow_response_does_not_time_out() -> None:
    answer = asyncio.run(sent(HEAD + b"Connection: close\r\n\r\nab", b"cd"))
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"http.request")


def test_a_connection_serves_one_request_after_the_other() -> None:
    first, last = HEAD + b"\r\nabcd", HEAD + b"Connection: close\r\n\r\nabcd"
    answer = asyncio.run(sent(first, last))
    assert answer.count(b"HTTP/1.1 200 ") == 2


def test_a_connection_whose_request_waits_for_its_turn_is_not_idle() -> None:
    idle_after = 0.2

    class LateTurns(FairTurns):
        def add_work(self, network: str, work: TurnWork) -> None:
            asyncio.get_running_loop().call_later(idle_after * 0.7, super().add_work, network, work)

    async def answer(_: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def ask_twice() -> None:
        http = type("Late", (DeadlineProtocol,), {"turns": LateTurns()})
        async with served(answer, http=http, timeout_keep_alive=idle_after) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
                await asyncio.sleep(idle_after * 0.6)
            assert await asyncio.wait_for(reader.read(), 5) == b"", "and then it is"
            writer.close()

    asyncio.run(ask_twice())


def test_requests_that_come_at_once_are_answered_in_order() -> None:
    bodies = [b"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd" % k for k in range(3)]
    last = HEAD + b"Connection: close\r\n\r\nabcd"
    answer = asyncio.run(sent(b"".join(bodies) + last))
    assert answer.count(b"HTTP/1.1 200 ") == 4 and answer.count(b"http.request") == 4


def test_a_client_that_disconnects_during_a_response_is_noticed() -> None:
    ended: list[str] = []

    async def listening(_: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        ended.append((await receive())["type"])

    async def leave() -> None:
        async with served(listening) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readuntil(b"begun")
            writer.close()
            async with asyncio.timeout(10):
                while not ended:
                    await asyncio.sleep(0.01)

    asyncio.run(leave())
    assert ended == ["http.disconnect"]
