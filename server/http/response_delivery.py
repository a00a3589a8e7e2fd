"""How responses reach clients: in pieces, each within a time, all that wait for slow clients below a ceiling; and
clients that go away.
"""

import asyncio
from collections.abc import Callable, Coroutine, MutableMapping
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Send

from server.wire.problems import ProblemError

T = TypeVar("T")
Disconnected = Callable[[], Coroutine[Any, Any, None]]
"""Returns when the client has closed the connection."""


class ClientDisconnected(ProblemError):
    """The client has disconnected; nobody reads this."""

    def __init__(self) -> None:
        super().__init__(499, "gone", "the client has disconnected")


async def cancel_on_disconnect(work: Coroutine[Any, Any, T], disconnected: Disconnected) -> T:
    """What the work returns. It is cancelled when the client goes; then this raises ClientDisconnected."""
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
"""Seconds in which a client has to take a piece, and the end of a response."""

MAX_WAITING_BYTES = 128 << 20
"""Bytes of the responses that slow clients have not taken yet. Past it, those who have taken nothing for longest are given up."""


class ResponseDelivery:
    """The responses of one connection. It is `slow` while its client has more than a piece still to take.

    unsent_body_bytes: bytes of the response that are not yet handed to the connection. timeout: see WRITE_TIMEOUT.
    """

    def __init__(self, transport: asyncio.Transport, timeout: float) -> None:
        self._transport, self._timeout = transport, timeout
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent_at_deadline, self._finished = (
            0,
            True,
        )  # bytes in the connection when the deadline began; whether no more will come
        self.unsent_body_bytes = 0

    @property
    def unsent_bytes(self) -> int:
        """Bytes that the client has not taken."""
        return self.unsent_body_bytes + self._transport.get_write_buffer_size()

    def limit_slow_client(self) -> None:
        """The client does not keep up. Gives it up at its deadline, and those who are slow for longest at the ceiling."""
        self._start_write_deadline()
        slow_deliveries[self] = None
        total = sum(delivery.unsent_bytes for delivery in slow_deliveries)
        for delivery in list(slow_deliveries):
            if total <= MAX_WAITING_BYTES:
                return
            total -= delivery.unsent_bytes
            delivery.abort()

    def unmark_slow_client(self) -> None:
        """The client has taken all but a little."""
        slow_deliveries.pop(self, None)
        self._start_write_deadline()

    def begin_response(self) -> None:
        """A response begins."""
        self._finished = False

    def finish_response(self) -> None:
        """The last bytes are with the connection; the client has to take them in time."""
        self.unsent_body_bytes, self._finished = 0, True
        if self not in slow_deliveries:
            self._start_write_deadline()

    def abort(self) -> None:
        """Close the connection, whatever is still to be sent."""
        self.handle_connection_closed()
        self._transport.abort()

    def handle_connection_closed(self) -> None:
        """The connection is closed."""
        slow_deliveries.pop(self, None)
        self._cancel_write_deadline()
        self.unsent_body_bytes = 0

    def _start_write_deadline(self) -> None:
        self._cancel_write_deadline()
        self._unsent_at_deadline = self._transport.get_write_buffer_size()
        if self._unsent_at_deadline:
            self._deadline = asyncio.get_running_loop().call_later(self._timeout, self._abort_if_stalled)

    def _cancel_write_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _abort_if_stalled(self) -> None:
        left = self._transport.get_write_buffer_size()
        if left and (self in slow_deliveries or self._finished or left >= self._unsent_at_deadline):
            self.abort()
        else:
            self._start_write_deadline()


slow_deliveries: dict[ResponseDelivery, None] = {}
"""Connections whose clients do not keep up, the one that is slow for longest first."""


async def serve_with_chunked_body(
    delivery: ResponseDelivery, app: ASGIApp, scope: MutableMapping[str, Any], receive: Receive, send: Send
) -> None:
    """Serve a request with the app, whose long bodies are passed on a piece at a time, as the client takes them."""

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

    delivery.begin_response()
    await app(scope, receive, send_pieces)
