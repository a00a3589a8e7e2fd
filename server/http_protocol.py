"""uvicorn's HTTP protocol with a deadline for the complete request, and errors of the server's own shape."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.security import SECURITY_HEADERS
from server.wire.api import ProblemReply
from server.wire.problems import ProblemError

REQUEST_TIMEOUT = 30.0
"""Seconds from the first byte of a request to its last."""

MALFORMED = "this is not a valid HTTP/1.1 request with one Host header and one length"
TIMED_OUT = f"the request was not complete after {REQUEST_TIMEOUT:.0f} seconds"


class DeadlineProtocol(H11Protocol):
    """uvicorn itself waits for the rest of a request without end."""

    request_timeout = REQUEST_TIMEOUT
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state is h11.SEND_BODY or (self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]):
            self._start_deadline()
        else:
            self._cancel_deadline()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        self._refuse(ProblemError(400, "bad_request", MALFORMED))

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.request_timeout, self._time_out)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._refuse(ProblemError(408, "late", TIMED_OUT))
        else:
            self.transport.close()

    def _refuse(self, error: ProblemError) -> None:
        body = ProblemReply(error=error.problem).model_dump_json(exclude_none=True).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *SECURITY_HEADERS,
        ]
        response = h11.Response(status_code=error.status, headers=headers)
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
