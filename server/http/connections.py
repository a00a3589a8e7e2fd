"""The bounds of connections: in all, and for each address, so that nobody takes the descriptors of everybody."""

import resource
from typing import Protocol

from starlette.types import Scope

from server.visitors.clients import Network, client_address, is_from

MAX_DESCRIPTORS = 65_536
"""Descriptors that this process asks the kernel for."""

MAX_WAITING = 256
"""Connections that were taken from the kernel and wait for their turn."""

RESERVED_DESCRIPTORS = 128 + MAX_WAITING
"""Descriptors for files, workers and the database, and for connections that are not counted yet."""


def raise_descriptor_limit() -> int:
    """Allow this process as many descriptors as it may have. Returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


class Connection(Protocol):
    """A client's connection. idle: whether no complete request is being served."""

    @property
    def idle(self) -> bool: ...

    def abort(self) -> None:
        """Close it at once."""


class Connections:
    """The open connections. total: how many there may be. per_address: how many from one address, a proxy's apart."""

    def __init__(self, total: int = 1000, per_address: int = 1000, proxies: tuple[Network, ...] = ()) -> None:
        self._total, self._per_address, self._proxies = total, per_address, proxies
        self._open: dict[str, dict[Connection, None]] = {}  # by address, the oldest first
        self._count = 0

    def add(self, connection: Connection, peer: tuple[str, int] | None) -> str | None:
        """Count a connection from this address and port. Returns what `remove` takes; None where there is no room for it.

        Where a bound is reached, the oldest idle connection of the address makes room, or of the one that has most.
        """
        scope: Scope = {"type": "http", "client": peer, "headers": []}
        proxied = is_from(scope, self._proxies)
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
        """A connection that was counted is closed."""
        connections = self._open.get(address, {})
        if connection in connections:
            self._count -= 1
            del connections[connection]
            if not connections:
                del self._open[address]

    def _abort_oldest_idle(self, address: str) -> bool:
        """Close one that serves nobody; whether there was one."""
        oldest = next((connection for connection in self._open[address] if connection.idle), None)
        if oldest is not None:
            self.remove(oldest, address)
            oldest.abort()
        return oldest is not None
