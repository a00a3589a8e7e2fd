"""Delivers responses to clients in pieces, each with a deadline, with a ceiling on all unread bytes. Notices clients
that disconnect."""

import asyncio
from collections.abc import Callable, Coroutine, MutableMapping
from operator import attrgetter
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Send

from server.http.lingering_transport import LingeringTransport
from server.wire.problems import ProblemError

T = TypeVar("T")
Disconnected = Callable[[], Coroutine[Any, Any, None]]
"""Returns when the client has closed the connection."""


class ClientDisconnected(ProblemError):
    """The client has disconnected, so nobody reads the result."""

    def __init__(self) -> None:
        super().__init__(499, "gone", "the client has disconnected")


async def cancel_on_disconnect(work: Coroutine[Any, Any, T], disconnected: Disconnected) -> T:
    """Run `work` and return its result. If the client disconnects first, cancel it and raise ClientDisconnected."""
    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnected
        return await working
    finally:
        watching.cancel()
        working.cancel()


CHUNK_SIZE = 1 << 16
"""Bytes of a response that are handed to the connection at once."""

WRITE_TIMEOUT = 20.0
"""Seconds within which a client has to read `CHUNK_SIZE` bytes, or all that are left."""

MAX_WAITING_BYTES, MAX_ADDRESS_BYTES = 128 << 20, 48 << 20
"""Bytes of unread responses, in total and of one address that is not a proxy's, including those in the kernel. Above
that, the clients that have read nothing for longest are dropped."""

FIRST_CHECK, LAST_CHECK = 0.05, 1.0
"""Seconds until the first check of what a client has read. The interval doubles up to `LAST_CHECK`."""


class ResponseDelivery:
    """The responses of one connection: what its client has not read yet, and for how long it has read nothing.

    transport: replaces the transport that it is given
    timeout: see WRITE_TIMEOUT
    owner: the address that the bytes count for, "" for a proxy's
    unsent_body_bytes: bytes of the response that are not yet handed to the connection
    """

    def __init__(self, transport: asyncio.Transport, timeout: float) -> None:
        self.transport = LingeringTransport(transport, self.drop_client_if_stalled)
        self.owner = ""
        self.unsent_body_bytes = self.unread_bytes = 0
        self.taken_at = 0.0
        self._timeout = timeout
        self._check: asyncio.TimerHandle | None = None
        self._taken = self._taken_at_mark = 0
        self._marked_at = 0.0

    def drop_client_if_stalled(self) -> None:
        """Count what the client has still to read, and drop the client if it reads too slowly."""
        self._count_unread_bytes()
        if not self.unread_bytes:
            self._stop_checking()
            self.transport.end_if_lingering()
        elif self not in unread_deliveries:
            unread_deliveries[self] = None
            self._marked_at = self.taken_at = self._now
            self._taken_at_mark = self._taken
            self._check_later(FIRST_CHECK)
        abort_stalled_deliveries(self.owner)

    def finish_response(self) -> None:
        """Note that the connection has been given all bytes."""
        self.unsent_body_bytes = 0
        self.drop_client_if_stalled()

    def abort(self) -> None:
        """Close the connection, whatever is still to be sent."""
        self.handle_connection_closed()
        self.transport.abort()

    def handle_connection_closed(self) -> None:
        """Clean up after the connection has closed."""
        self.unsent_body_bytes = self.unread_bytes = 0
        self._stop_checking()

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _count_unread_bytes(self) -> None:
        unsent = self.transport.unsent_bytes
        taken = self.transport.written_bytes - unsent
        if taken > self._taken:
            self._taken, self.taken_at = taken, self._now
        self.unread_bytes = unsent + self.unsent_body_bytes

    def _check_later(self, seconds: float) -> None:
        seconds = min(seconds, LAST_CHECK, self._timeout / 4)
        self._check = asyncio.get_running_loop().call_later(seconds, self._drop_client_if_stalled_for, seconds)

    def _drop_client_if_stalled_for(self, seconds: float) -> None:
        self._check = None
        self._count_unread_bytes()
        if self.transport.has_failed:
            self.abort()
            return
        self.transport.end_if_lingering()
        if not self.unread_bytes:
            self._stop_checking()
        elif self._now - self._marked_at < self._timeout:
            self._check_later(seconds * 2)
        elif self._taken - self._taken_at_mark < CHUNK_SIZE:
            self.abort()
        else:
            self._marked_at, self._taken_at_mark = self._now, self._taken
            self._check_later(seconds * 2)

    def _stop_checking(self) -> None:
        unread_deliveries.pop(self, None)
        if self._check is not None:
            self._check.cancel()
            self._check = None


unread_deliveries: dict[ResponseDelivery, None] = {}
"""Deliveries whose clients have not read everything."""


def abort_stalled_deliveries(owner: str) -> None:
    """Drop the clients that have read nothing for longest if their address, or all addresses together, hold too
    much."""
    if owner:
        abort_most_stalled([delivery for delivery in unread_deliveries if delivery.owner == owner], MAX_ADDRESS_BYTES)
    abort_most_stalled(list(unread_deliveries), MAX_WAITING_BYTES)


def abort_most_stalled(deliveries: list[ResponseDelivery], limit: int) -> None:
    """Drop some of these deliveries until the others hold no more than the limit."""
    total = sum(delivery.unread_bytes for delivery in deliveries)
    if total > limit:
        for delivery in sorted(deliveries, key=attrgetter("taken_at")):
            total -= delivery.unread_bytes
            delivery.abort()
            if total <= limit:
                return


async def serve_with_chunked_body(
    delivery: ResponseDelivery, app: ASGIApp, scope: MutableMapping[str, Any], receive: Receive, send: Send
) -> None:
    """Serve a request with the app, passing a long body on in pieces as fast as the client reads them."""

    async def send_pieces(message: Message) -> None:
        body = message.get("body", b"")
        if len(body) <= CHUNK_SIZE:
            await send(message)
            return
        more = message.get("more_body", False)
        with memoryview(body) as view:
            for start in range(0, len(body), CHUNK_SIZE):
                delivery.unsent_body_bytes = len(body) - start
                last = start + CHUNK_SIZE >= len(body)
                await send({**message, "body": bytes(view[start : start + CHUNK_SIZE]), "more_body": more or not last})
        delivery.unsent_body_bytes = 0

    await app(scope, receive, send_pieces)
