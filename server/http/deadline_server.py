"""uvicorn's server and protocol with deadlines for requests, for responses, and for shutting down.

The protocol also bounds the parts of a request, takes fair turns and answers with our own errors.
"""

import asyncio
import logging
import signal
import socket
import sys
from functools import partial
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gradbox.wire.api import ProblemReply
from server.http.bounded_connection import MAX_HEAD_BYTES, MAX_HEADERS, BoundedConnection
from server.http.connections import ConnectionAcceptor, ConnectionLimiter, open_listeners
from server.http.fair_work_scheduler import FairWorkScheduler
from server.http.response_delivery import WRITE_TIMEOUT, ResponseDelivery, serve_with_chunked_body
from server.http.security import SECURITY_HEADERS
from server.visitors.clients import Network, client_address, network_of_address, network_of_peer
from server.wire.problems import ProblemError

REQUEST_TIMEOUT = 30.0
"""Seconds from the first byte of a request to its last."""

MALFORMED_REQUEST_MESSAGE = (
    "this is not a valid HTTP/1.1 request with one Host header and one length, "
    f"up to {MAX_HEAD_BYTES} bytes and {MAX_HEADERS} lines of headers, and chunks of more than a few bytes"
)
HALF_CLOSED_CHECK_SECONDS = 1.0
"""Seconds between two checks whether a client that has closed its sending side is still there."""

TOO_MANY_CONNECTIONS_MESSAGE = "there are too many connections, in all or from this address"
TIMED_OUT_MESSAGE = f"the request was not complete after {REQUEST_TIMEOUT:.0f} seconds"


class DeadlineProtocol(H11Protocol):
    """uvicorn's protocol with deadlines. uvicorn waits indefinitely for the rest of a request and for a client to read
    its response, and it parses whatever arrives at once; here, data waits for its network's turn.

    open_connections: the server's connections, whose number is bounded
    turns: the server's turns
    proxies: networks whose X-Forwarded-For is believed
    """

    request_timeout, write_timeout = REQUEST_TIMEOUT, WRITE_TIMEOUT
    open_connections = ConnectionLimiter()
    turns = FairWorkScheduler()
    proxies: tuple[Network, ...] = ()
    _received = b""
    _network = ""
    _address: str | None = None
    _deadline: asyncio.TimerHandle | None = None
    _is_half_closed = _is_probed = False
    _delivery: ResponseDelivery

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = BoundedConnection()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._delivery = ResponseDelivery(transport, self.write_timeout)
        super().connection_made(self._delivery.transport)
        self.app = partial(self._run_app_in_turn, self.app)
        self._network = network_of_peer(self.client[0] if self.client else "")
        self._address = self.open_connections.admit(self, self.client)
        if self._address is None:
            self._delivery.transport.lingers = False  # else those that are too many would stay
            self._send_refusal(ProblemError(503, "busy", TOO_MANY_CONNECTIONS_MESSAGE, retry_after=5))
        else:
            self._delivery.owner = self._address
            self._start_request_deadline()

    @property
    def is_idle(self) -> bool:
        """Whether no complete request is being served."""
        waits = self._deadline is not None or self.cycle is None or self.cycle.response_complete
        return waits or self.transport.is_closing()

    def abort(self) -> None:
        """Close the connection at once."""
        self._delivery.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is not None:
            self.open_connections.remove(self, self._address)
            self._address = None
        self._cancel_request_deadline()
        self._delivery.handle_connection_closed()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the data in the network's turn; until then, read nothing more."""
        if not self._received:
            self.turns.add_work(self._network, self._parse_request_data)
        self._received += data
        self.transport.pause_reading()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Handle a client that has closed its sending side, which still gets its answer.

        A client that is gone resets the connection when something is sent to it, so `100 Continue` is sent, which every
        HTTP/1.1 client accepts and ignores.
        """
        if self.is_idle:
            self.transport.close()
        elif not self._is_half_closed:
            self._is_half_closed = True
            self._is_probed = not self.cycle.response_started and self.conn.their_http_version == b"1.1"
            if self._is_probed:
                self.transport.write(self.conn.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
            self.loop.call_later(HALF_CLOSED_CHECK_SECONDS, self._check_half_closed_client)
        return True  # else asyncio closes the connection, whatever is still unread

    def _check_half_closed_client(self) -> None:
        """Close the connection of a client that is gone, or to which nothing is sent that would show it."""
        if self.transport.is_closing():
            return
        if self._delivery.transport.has_failed or not (self._is_probed or self._delivery.transport.unsent_bytes):
            self.abort()
        else:
            self.loop.call_later(HALF_CLOSED_CHECK_SECONDS, self._check_half_closed_client)

    def timeout_keep_alive_handler(self) -> None:
        """Keep a connection open while its next request waits for its turn."""
        if not self._received:
            super().timeout_keep_alive_handler()

    def _parse_request_data(self) -> None:
        """Parse the data in parts, because the parser only checks the size of incomplete data."""
        data, self._received = self._received, b""
        for start in range(0, len(data), MAX_HEAD_BYTES):
            if not self.transport.is_closing():
                super().data_received(data[start : start + MAX_HEAD_BYTES])
        if not self.flow.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    async def _run_app_in_turn(self, app: ASGIApp, scope: Message, receive: Receive, send: Send) -> None:
        network = network_of_address(client_address(scope, self.proxies)) if self.proxies else self._network
        await self.turns.wait_for_turn(network)
        await self.turns.run_and_charge_network(
            network, serve_with_chunked_body(self._delivery, app, scope, receive, send)
        )

    def pause_writing(self) -> None:
        super().pause_writing()
        self._delivery.drop_client_if_stalled()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._delivery.drop_client_if_stalled()

    def on_response_complete(self) -> None:
        self._delivery.finish_response()
        super().on_response_complete()
        if self._is_half_closed and self.cycle.response_complete:
            self.transport.close()
        if (
            self.transport.is_closing()
        ):  # a thousand may wait for their clients, and the collector looks through all they hold
            self.cycle = self.scope = self.headers = None  # type: ignore[assignment]

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state is h11.SEND_BODY or (self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]):
            self._start_request_deadline()
        else:
            self._cancel_request_deadline()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        self._send_refusal(ProblemError(400, "bad_request", MALFORMED_REQUEST_MESSAGE))

    def _start_request_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.request_timeout, self._refuse_incomplete_request)

    def _cancel_request_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse_incomplete_request(self) -> None:
        self._send_refusal(ProblemError(408, "late", TIMED_OUT_MESSAGE))

    def _send_refusal(self, error: ProblemError) -> None:
        body = ProblemReply(error=error.problem).model_dump_json(exclude_none=True).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *((name.lower().encode(), value.encode()) for name, value in error.headers.items()),
            *SECURITY_HEADERS,
        ]
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            response = h11.Response(status_code=error.status, headers=headers)
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self._delivery.finish_response()
        self.transport.close()


GRACE_SECONDS = 3.0
"""Seconds that requests in progress have at shutdown; then their connections are closed."""

CANCEL_AFTER_SECONDS = 5
"""Seconds after which requests without a connection are cancelled."""

EXIT_AFTER_SECONDS = 9
"""Seconds after which the kernel ends the process, and its workers with it."""

STARTUP_FAILURE = 3
"""The exit status of a process that can't listen. uvicorn uses it when the application can't start."""


log = logging.getLogger("uvicorn.error")


class DeadlineServer(uvicorn.Server):
    """uvicorn's server with a deadline for shutting down, which uvicorn lacks, and with fair turns for new connections.

    turns: the turns of connections
    proxies: networks whose connections stand for many visitors
    """

    _acceptor: ConnectionAcceptor | None = None

    def __init__(self, config: uvicorn.Config, turns: FairWorkScheduler, proxies: tuple[Network, ...]) -> None:
        super().__init__(config)
        self._turns, self._proxies = turns, proxies

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if sockets is None:
            try:
                listeners = open_listeners(self.config.host, self.config.port)
            except OSError as error:
                log.error("%s", error)
                sys.exit(STARTUP_FAILURE)
            await super().startup([])
            self._acceptor = ConnectionAcceptor(listeners, self._create_protocol, self._turns, self._proxies)
            self._acceptor.start()
        else:
            await super().startup(sockets)

    def _create_protocol(self) -> asyncio.Protocol:
        protocol = self.config.http_protocol_class
        assert isinstance(protocol, type) and issubclass(protocol, DeadlineProtocol)
        return protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(EXIT_AFTER_SECONDS)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
        closing = asyncio.get_running_loop().call_later(GRACE_SECONDS, self._close_connections)
        try:
            await super().shutdown(sockets)
        finally:
            closing.cancel()

    def _close_connections(self) -> None:
        for connection in list(self.server_state.connections):
            assert isinstance(connection, DeadlineProtocol)
            connection.abort()


def create_server(
    app: ASGIApp, host: str, port: int, connections: ConnectionLimiter, proxies: tuple[Network, ...] = ()
) -> DeadlineServer:
    """Create the server of an application.

    GRADBOX_TRUSTED_PROXIES decides whose headers are trusted, not uvicorn. uvicorn's warnings about malformed requests
    are turned off, because anybody could fill the log with them.

    connections: bounds the connections
    proxies: networks whose X-Forwarded-For is believed
    """
    turns = FairWorkScheduler()
    bounds = {"open_connections": connections, "turns": turns, "proxies": proxies}
    return DeadlineServer(
        uvicorn.Config(
            app,
            host,
            port,
            http=type("BoundedProtocol", (DeadlineProtocol,), bounds),
            ws="none",
            log_level="error",
            access_log=False,
            proxy_headers=False,
            timeout_graceful_shutdown=CANCEL_AFTER_SECONDS,
        ),
        turns,
        proxies,
    )
