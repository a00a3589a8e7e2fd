"""Connections are bounded in total and by address, and idle ones make room for new requests."""

import asyncio
import resource
from typing import Any

import pytest
import uvicorn

from server.http.connections import MAX_DESCRIPTORS, ConnectionLimiter, raise_descriptor_limit
from server.http.deadline_server import DeadlineProtocol
from server.visitors.clients import parse_networks
from tests.support.waiting import eventually


class Fake:
    """A connection that notes whether it was closed."""

    def __init__(self, idle: bool = True) -> None:
        self.is_idle, self.aborted = idle, False

    def abort(self) -> None:
        self.aborted = True


def opened(connections: ConnectionLimiter, address: str, count: int, idle: bool = True) -> list[Fake]:
    fakes = [Fake(idle) for _ in range(count)]
    assert all(connections.admit(fake, (address, 1)) is not None for fake in fakes)
    return fakes


def test_the_oldest_idle_connection_of_an_address_is_closed() -> None:
    connections = ConnectionLimiter(100, 3)
    busy, first, second = [*opened(connections, "1.2.3.4", 1, idle=False), *opened(connections, "1.2.3.4", 2)]
    (newcomer,) = opened(connections, "1.2.3.4", 1)
    assert [fake.aborted for fake in (busy, first, second, newcomer)] == [False, True, False, False]


def test_an_address_whose_connections_are_all_in_use_gets_no_other() -> None:
    connections = ConnectionLimiter(100, 3)
    fakes = opened(connections, "1.2.3.4", 3, idle=False)
    assert connections.admit(Fake(), ("1.2.3.4", 1)) is None
    connections.remove(fakes[0], "1.2.3.4")
    assert connections.admit(Fake(), ("1.2.3.4", 1)) == "1.2.3.4"


def test_the_address_with_the_most_connections_makes_room() -> None:
    connections = ConnectionLimiter(10, 8)
    few, many = opened(connections, "1.2.3.4", 2), opened(connections, "5.6.7.8", 8)
    opened(connections, "9.9.9.9", 1)
    assert [fake.aborted for fake in (*few, *many)] == [False, False, True, *[False] * 7]


def test_an_ipv6_network_counts_as_one_address_and_a_proxy_as_none() -> None:
    connections = ConnectionLimiter(100, 2, parse_networks("10.0.0.0/8"))
    opened(connections, "2001:db8::1", 1, idle=False)
    opened(connections, "2001:db8::2", 1, idle=False)
    assert connections.admit(Fake(), ("2001:db8::3", 1)) is None
    opened(connections, "10.0.0.1", 50, idle=False)


def test_closed_connections_are_forgotten() -> None:
    connections = ConnectionLimiter(10, 5)
    for k in range(100):
        (fake,) = opened(connections, f"1.2.3.{k}", 1)
        connections.remove(fake, f"1.2.3.{k}")
    assert not connections._open and connections._count == 0


def test_the_soft_limit_of_descriptors_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        expected = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
        assert raise_descriptor_limit() == expected == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("begun", [b"", b"GET / HT"], ids=repr)
def test_requests_are_served_beside_idle_connections(begun: bytes) -> None:
    async def work() -> None:
        limiter, at_work, go_on = ConnectionLimiter(100, 4), [], asyncio.Event()

        async def answer_late(_: Any, receive: Any, send: Any) -> None:
            at_work.append(await receive())
            await go_on.wait()
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"ok"})

        protocol = type("Bounded", (DeadlineProtocol,), {"open_connections": limiter})
        server = uvicorn.Server(
            uvicorn.Config(answer_late, port=0, http=protocol, log_level="critical", lifespan="off")
        )
        serving = asyncio.create_task(server.serve())
        await eventually(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]

        async def ask(what: bytes) -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(what)
            try:
                return await reader.read()
            except ConnectionResetError:
                return b""
            finally:
                writer.close()

        idle = [asyncio.create_task(ask(begun)) for _ in range(4)]
        await eventually(lambda: limiter._count == 4)
        served = [asyncio.create_task(ask(REQUEST)) for _ in range(4)]
        await eventually(lambda: len(at_work) == 4)
        refused = await ask(REQUEST)
        go_on.set()
        assert [(await answer)[:12] for answer in served] == [b"HTTP/1.1 200"] * 4
        assert all([await answer == b"" for answer in idle])
        assert refused.startswith(b"HTTP/1.1 503") and b"retry-after: 5" in refused and b'"code":"busy"' in refused
        server.should_exit = True
        await serving

    asyncio.run(work())
