"""New connections: those of one network wait behind each other only, and there is an end to how many wait."""

import asyncio
import socket
from collections.abc import Callable

import pytest

from server.http import connections
from server.http.connections import ConnectionAcceptor, open_listeners
from server.http.fair_work_scheduler import FairWorkScheduler
from server.http.response_delivery import WRITE_TIMEOUT
from server.visitors.clients import parse_networks
from tests.support.waiting import PATIENCE, eventually


class Noting(asyncio.Protocol):
    """Notes whose connections were made, in order."""

    made: list[str]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.made.append(transport.get_extra_info("peername")[0])


def accepted(begin: Callable[[int], list[socket.socket]], proxies: str = "") -> tuple[list[str], int]:
    """The addresses whose connections were made, in order, and how many clients were disconnected.

    begin: makes the clients, given the port
    """
    made: list[str] = []
    protocol = type("NotingHere", (Noting,), {"made": made})
    (listener,) = open_listeners("127.0.0.1", 0)

    async def main() -> int:
        clients = begin(listener.getsockname()[1])
        server = ConnectionAcceptor([listener], protocol, FairWorkScheduler(), parse_networks(proxies))
        server.start()
        await eventually(lambda: len(made) + sum(map(is_closed, clients)) == len(clients))
        closed = sum(map(is_closed, clients))
        server.close()
        for client in clients:
            client.close()
        return closed

    return made, asyncio.run(main())


def is_closed(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def clients(port: int, *addresses: str) -> list[socket.socket]:
    return [socket.create_connection(("127.0.0.1", port), PATIENCE, (address, 0)) for address in addresses]


def test_a_client_is_served_soon_after_a_flood() -> None:
    made, _ = accepted(lambda port: clients(port, *["127.0.0.5"] * 60, "127.0.0.6"))
    assert len(made) == 61 and made.index("127.0.0.6") <= 3


def test_an_accepted_connection_sends_without_nagles_delay() -> None:
    """Without Nagle's algorithm, which waits for the client to acknowledge what was sent before."""
    delays: list[int] = []

    class Asking(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            connection = transport.get_extra_info("socket")
            delays.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            connected.set()

    async def main() -> None:
        server = ConnectionAcceptor([listener], Asking, FairWorkScheduler())
        server.start()
        (client,) = clients(listener.getsockname()[1], "127.0.0.1")
        await connected.wait()
        server.close()
        client.close()

    (listener,), connected = open_listeners("127.0.0.1", 0), asyncio.Event()
    asyncio.run(main())
    assert delays and all(delays)


def test_a_flood_of_connections_is_cut_to_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_PER_NETWORK", 10)
    made, closed = accepted(lambda port: clients(port, *["127.0.0.5"] * 60, "127.0.0.6"))
    assert "127.0.0.6" in made and len(made) < 61 and len(made) + closed == 61


def test_the_connections_of_a_proxy_are_many_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_PER_NETWORK", 10)
    made, closed = accepted(lambda port: clients(port, *["127.0.0.5"] * 60), proxies="127.0.0.0/8")
    assert len(made) == 60 and not closed


def test_clients_with_the_most_connections_make_room_under_pressure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_WAITING", 20)
    floods = [f"127.0.1.{k % 4}" for k in range(80)]
    made, closed = accepted(lambda port: clients(port, *floods, "127.0.0.6"))
    assert "127.0.0.6" in made and closed and len(made) + closed == 81


def test_an_ipv6_proxy_has_no_connection_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_PER_NETWORK", 1)
    queue = ConnectionAcceptor([], Noting, FairWorkScheduler(), parse_networks("2001:db8:1:2::/64"))

    async def main() -> list[bool]:
        pairs = [socket.socketpair() for _ in range(4)]
        for k, (ours, _) in enumerate(pairs):
            queue._enqueue_connection(ours, "2001:db8:1:2::7" if k < 2 else "2001:db8:9:2::7")
        closed = [is_closed(theirs) for _, theirs in pairs]
        queue.close()
        for _, theirs in pairs:
            theirs.close()
        return closed

    assert asyncio.run(main()) == [False, False, False, True]


def test_a_flood_leaves_no_work_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each network waits for one turn, however many of its connections came and made room for others."""
    monkeypatch.setattr(connections, "MAX_WAITING", 4)
    turns = FairWorkScheduler()
    queue = ConnectionAcceptor([], Noting, turns)

    async def main() -> None:
        for k in range(200):
            ours, theirs = socket.socketpair()
            theirs.close()
            queue._enqueue_connection(ours, f"127.0.0.{k % 8}")
        assert {network: len(works) for network, works in turns._waiting.items()} == {
            f"127.0.0.{k}": 1 for k in range(8)
        }
        queue.close()

    asyncio.run(main())


def test_a_server_without_descriptors_takes_connections_again(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = iter([True, True, False])

    class Starved(socket.socket):
        def accept(self) -> tuple[socket.socket, tuple[str, int]]:
            if next(refusals, False):
                raise OSError(24, "Too many open files")
            return super().accept()

    made: list[str] = []
    protocol = type("NotingHere", (Noting,), {"made": made})
    monkeypatch.setattr(connections, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(socket, "socket", Starved)
    (listener,) = open_listeners("127.0.0.1", 0)

    async def main() -> None:
        (client,) = clients(listener.getsockname()[1], "127.0.0.5")
        server = ConnectionAcceptor([listener], protocol, FairWorkScheduler())
        server.start()
        await eventually(lambda: made)
        server.close()
        client.close()

    asyncio.run(main())


def test_the_kernel_gives_up_a_client_that_takes_nothing() -> None:
    """Also of a connection that the server has left to it: what is set of the listener, a connection inherits."""
    (listener,) = open_listeners("127.0.0.1", 0)
    (client,) = clients(listener.getsockname()[1], "127.0.0.1")
    listener.setblocking(True)
    connection, _ = listener.accept()
    with listener, client, connection:
        milliseconds = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert WRITE_TIMEOUT * 1000 < milliseconds == connections.UNACKNOWLEDGED_SECONDS * 1000
