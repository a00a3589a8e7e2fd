"""Connections: what never comes whole is given up, and nothing else is."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from server.http import deadline_server
from server.http.deadline_server import DeadlineProtocol
from server.http.fair_work_scheduler import FairWorkScheduler, ScheduledWork
from tests.support.waiting import PATIENCE, eventually

TIMEOUT = 1.0
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"


class Hasty(DeadlineProtocol):
    request_timeout = TIMEOUT


async def patient(_: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    """Answers with how the request ended, after longer than one may take."""
    more = True
    while more:
        message = await receive()
        more = message.get("more_body", False)
    await asyncio.sleep(TIMEOUT * 1.5)  # the time of its work
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"12")]})
    await send({"type": "http.response.body", "body": message["type"].encode()})


@asynccontextmanager
async def served(app: Any = patient, **config: Any) -> AsyncIterator[int]:
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, **{"http": Hasty, "log_level": "critical", "lifespan": "off", **config})
    )
    serving = asyncio.create_task(server.serve())
    await eventually(lambda: server.started)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


async def sent(*parts: bytes, pause: float = 0.0) -> bytes:
    """What comes back, until the server closes the connection. pause: seconds after each part."""
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        reading = asyncio.create_task(reader.read())
        for part in parts:
            if not reading.done():
                writer.write(part)
                await asyncio.sleep(pause)  # a client on a slow line
        answer = await asyncio.wait_for(reading, PATIENCE)
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
    answer = asyncio.run(sent(*(request[k : k + 10] for k in range(0, len(request), 10)), pause=TIMEOUT / 4))
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_slow_response_does_not_time_out() -> None:
    answer = asyncio.run(sent(HEAD + b"Connection: close\r\n\r\nab", b"cd"))
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"http.request")


def test_a_connection_serves_one_request_after_the_other() -> None:
    first, last = HEAD + b"\r\nabcd", HEAD + b"Connection: close\r\n\r\nabcd"
    answer = asyncio.run(sent(first, last))
    assert answer.count(b"HTTP/1.1 200 ") == 2


def test_a_connection_whose_request_waits_for_its_turn_is_not_idle() -> None:
    idle_after = 1.0

    class LateTurns(FairWorkScheduler):
        def add_work(self, network: str, work: ScheduledWork) -> None:
            asyncio.get_running_loop().call_later(idle_after * 0.9, super().add_work, network, work)

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
                await asyncio.sleep(idle_after * 0.3)  # the client is idle, for as long as it may be
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b"", "and then it is"
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
            await eventually(lambda: ended)

    asyncio.run(leave())
    assert ended == ["http.disconnect"]


def raw_exchange(port: int, request: bytes, *, reads: bool = True) -> bytes:
    """What comes back to a client that sends this, closes its side, and reads or does not."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(request)
        if not reads:
            return b""
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


HALF_CLOSED = {
    "before its request was served": GET,
    "of a large response": GET.replace(b"/", b"/large", 1),
    "after a body": HEAD + b"\r\nabcd",
    "after chunks": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
    "after two requests": GET * 2,
    "that expects to be asked": HEAD + b"Expect: 100-continue\r\n\r\nabcd",
    "of HTTP/1.0": GET.replace(b"1.1", b"1.0"),
}
LARGE = 4 << 20


async def slow_or_large(scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(0.3)  # the time of its work
    body = b"x" * (LARGE if scope["path"] == "/large" else 2)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body[:1], "more_body": True})
    await asyncio.sleep(0.1)  # likewise
    await send({"type": "http.response.body", "body": body[1:]})


@pytest.mark.parametrize("name", HALF_CLOSED)
def test_a_client_that_has_closed_its_side_gets_its_answer(name: str) -> None:
    async def main() -> bytes:
        async with served(slow_or_large, http=DeadlineProtocol) as port:
            return await asyncio.to_thread(raw_exchange, port, HALF_CLOSED[name])

    answer = asyncio.run(main())
    assert answer.count(b" 200 OK\r\n") == HALF_CLOSED[name].count(b" HTTP/1."), answer[:1000]
    assert answer.count(b"x") >= (LARGE if "large" in name else 2)
    assert answer.endswith((b"x", b"0\r\n\r\n"))


@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
def test_a_client_that_is_gone_is_noticed_before_its_answer(version: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though its end looks like that of one that has closed its side only."""
    monkeypatch.setattr(deadline_server, "HALF_CLOSED_CHECK_SECONDS", 0.2)
    ended: list[str] = []

    async def waiting(_: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:  # noqa: ARG001
        await receive()
        ended.append((await receive())["type"])

    async def main() -> None:
        async with served(waiting, http=DeadlineProtocol) as port:
            await asyncio.to_thread(raw_exchange, port, GET.replace(b"1.1", version), reads=False)
            await eventually(lambda: ended)

    asyncio.run(main())
    assert ended == ["http.disconnect"]


@pytest.mark.parametrize(
    "request_",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"a:\r\n" * 15_000 + b"\r\n",
    ],
    ids=["two lengths", "chunks in HTTP/1.0", "trailers"],
)
def test_after_a_request_that_may_be_read_in_two_ways_the_connection_is_closed(request_: bytes) -> None:
    """What follows is not read as another request."""
    answer = asyncio.run(sent(request_ + GET))
    assert re.findall(rb"^HTTP/1.1 (\d+)", answer, re.MULTILINE) == [b"400"]


def test_a_malformed_body_after_the_response_has_begun_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def early(_: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": 413, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.body", "body": b"late"})

    async def main() -> bytes:
        async with served(early) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            await reader.readuntil(b"begun")
            writer.write(b"no chunk\r\n")
            rest = await asyncio.wait_for(reader.read(), PATIENCE)
            writer.close()
            return rest

    assert b"400" not in asyncio.run(main())
    assert not caplog.records
