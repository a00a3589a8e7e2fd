"""Accepts connections from the kernel at once, serves them in fair turns, and bounds their number in total and per
address.

So nobody waits behind a flood of connections, and no client can use up the server's descriptors.
"""

import asyncio
import errno
import logging
import resource
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

from starlette.types import Scope

from server.http.fair_work_scheduler import FairWorkScheduler
from server.http.response_delivery import WRITE_TIMEOUT
from server.visitors.clients import (
    Network,
    client_address,
    is_connection_from,
    is_in_networks,
    network_of_peer,
    parse_address,
)

MAX_DESCRIPTORS = 65_536
"""Descriptors that this process asks the kernel for."""

MAX_WAITING = 256
"""Accepted connections that may wait for their turn."""

RESERVED_DESCRIPTORS = 128 + MAX_WAITING
"""Descriptors for files, workers, the database and connections that are not counted yet."""


def raise_descriptor_limit() -> int:
    """Raise this process's descriptor limit as far as allowed. Returns the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class Connection(Protocol):
    """A client's connection.

    is_idle: whether no complete request is being served
    """

    @property
    def is_idle(self) -> bool: ...

    def abort(self) -> None:
        """Close it at once."""


class ConnectionLimiter:
    """The open connections.

    total: how many there may be
    per_address: how many there may be from one address that is not a proxy's
    """

    def __init__(self, total: int = 1000, per_address: int = 1000, proxies: tuple[Network, ...] = ()) -> None:
        self._total, self._per_address, self._proxies = total, per_address, proxies
        self._open: dict[str, dict[Connection, None]] = {}  # by address, the oldest first
        self._count = 0

    def admit(self, connection: Connection, peer: tuple[str, int] | None) -> str | None:
        """Count a connection from this address and port. Returns the argument for `remove`, or None if there is no
        room.

        At a bound, the oldest idle connection is closed: of this address, or of the address that has the most.
        """
        scope: Scope = {"type": "http", "client": peer, "headers": []}
        proxied = is_connection_from(scope, self._proxies)
        address = "" if proxied else client_address(scope, ())
        if not proxied and len(self._open.get(address, ())) >= self._per_address:
            room = self._abort_oldest_idle(address)
        elif self._count >= self._total:
            room = self._abort_oldest_idle(max(self._open, key=lambda other: len(self._open[other])))
        else:
            room = True
        if not room:
            return None
        self._open.setdefault(address, {})[connection] = None
        self._count += 1
        return address

    def remove(self, connection: Connection, address: str) -> None:
        """Stop counting a connection that has closed."""
        connections = self._open.get(address, {})
        if connection in connections:
            self._count -= 1
            del connections[connection]
            if not connections:
                del self._open[address]

    def _abort_oldest_idle(self, address: str) -> bool:
        """Close the address's oldest idle connection. Returns whether there was one."""
        oldest = next((connection for connection in self._open[address] if connection.is_idle), None)
        if oldest is not None:
            self.remove(oldest, address)
            oldest.abort()
        return oldest is not None


BACKLOG = 2048
"""Connections that the kernel holds until they are accepted."""

MAX_ACCEPTS_PER_ROUND = 128
"""Connections that are accepted in one round of the event loop."""

MAX_PER_NETWORK = MAX_WAITING // 2
"""Connections of one network that may wait for their turn. More are closed at once, except those of proxies."""

RECEIVE_BUFFER, SEND_BUFFER = 1 << 16, 1 << 18
"""Bytes that the kernel buffers for a connection in each direction. It doubles them for its own bookkeeping."""

UNACKNOWLEDGED_SECONDS = WRITE_TIMEOUT + 10
"""Seconds after which the kernel gives up on a client that acknowledges nothing, even if the server has closed or
abandoned the connection."""

CONNECTION_SECONDS = 0.0003
"""Seconds that setting up a connection takes, most of them after its turn."""

RETRY_SECONDS = 0.2
"""Seconds before the next attempt to accept when no descriptor was free."""

log = logging.getLogger("gradbox.server")


class ConnectionAcceptor:
    """The listening sockets of a server.

    create_protocol: creates the protocol of a connection
    proxies: networks whose connections are not bounded
    """

    def __init__(
        self,
        listeners: list[socket.socket],
        create_protocol: Callable[[], asyncio.Protocol],
        turns: FairWorkScheduler,
        proxies: tuple[Network, ...] = (),
    ) -> None:
        self._listeners, self._create_protocol, self._turns, self._proxies = listeners, create_protocol, turns, proxies
        self._waiting: dict[str, deque[socket.socket]] = {}  # by network: those that a turn was asked for
        self._waiting_count = 0
        self._serving: set[asyncio.Task[None]] = set()
        self._closed = False

    def start(self) -> None:
        for listener in self._listeners:
            asyncio.get_running_loop().add_reader(listener, self._accept_connections, listener)

    def close(self) -> None:
        """Stop accepting, and close the connections that still wait."""
        self._closed = True
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        for connections in self._waiting.values():
            for connection in connections:
                connection.close()
        self._waiting.clear()

    def _accept_connections(self, listener: socket.socket) -> None:
        for _ in range(MAX_ACCEPTS_PER_ROUND):
            try:
                connection, peer = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    raise
                log.error("no connection can be taken: %s", error.strerror)
                loop = asyncio.get_running_loop()
                loop.remove_reader(listener)
                loop.call_later(RETRY_SECONDS, self._resume_accepting, listener)
                return
            self._enqueue_connection(connection, str(peer[0]))

    def _resume_accepting(self, listener: socket.socket) -> None:
        if not self._closed:
            asyncio.get_running_loop().add_reader(listener, self._accept_connections, listener)

    def _enqueue_connection(self, connection: socket.socket, address: str) -> None:
        network = network_of_peer(address)
        connections = self._waiting.get(network)
        if connections is None:
            connections = self._waiting[network] = deque()
            self._turns.add_work(network, partial(self._serve_next_connection, network))
        if len(connections) >= MAX_PER_NETWORK and not is_in_networks(parse_address(address), self._proxies):
            connection.close()
            return
        if self._waiting_count >= MAX_WAITING:
            max(self._waiting.values(), key=len).pop().close()
            self._waiting_count -= 1
        connection.setblocking(False)
        connections.append(connection)
        self._waiting_count += 1

    def _serve_next_connection(self, network: str) -> bool:
        """Serve the next waiting connection of this network, and schedule the one after it."""
        connections = self._waiting.get(network)
        if not connections:
            self._waiting.pop(network, None)
            return False
        connection = connections.popleft()
        self._waiting_count -= 1
        self._turns.add_work(network, partial(self._serve_next_connection, network))
        self._turns.charge_network(network, CONNECTION_SECONDS)
        serving = asyncio.get_running_loop().create_task(self._connect_protocol(connection))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)
        return True

    async def _connect_protocol(self, connection: socket.socket) -> None:
        with suppress(OSError):  # the client has gone
            await asyncio.get_running_loop().connect_accepted_socket(self._create_protocol, connection)


def open_listeners(host: str | None, port: int) -> list[socket.socket]:
    """Open sockets that listen on every address of this host. Raises OSError."""
    listeners: list[socket.socket] = []
    addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    try:
        for family, _, _, _, address in dict.fromkeys(addresses):
            # asyncio turns Nagle's algorithm off only for sockets made with this number: without it the kernel
            # holds a body back until the client has acknowledged the headers, which takes it up to 40 ms
            listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            listeners.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)  # connections inherit these
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNACKNOWLEDGED_SECONDS * 1000))
            listener.setblocking(False)
            listener.bind(address)
            listener.listen(BACKLOG)
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners
