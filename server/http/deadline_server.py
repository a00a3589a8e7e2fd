"""The HTTP server: its listening sockets, and its end within a limit, whatever clients, workers and threads still do."""

import asyncio
import logging
import signal
import socket
import sys
from types import FrameType

import uvicorn

from server.http.acceptor import Acceptor, open_listeners
from server.http.connections import Connections
from server.http.fair_turns import FairTurns
from server.http.protocol import DeadlineProtocol
from server.http.security import App
from server.visitors.clients import Network

GRACE_SECONDS = 3.0
"""Seconds in which requests that are being served may end; then their connections are closed."""

CANCEL_AFTER_SECONDS = 5
"""Seconds after which requests that go on without a connection are cancelled."""

EXIT_AFTER_SECONDS = 9
"""Seconds after which the kernel ends the process. Its workers end with it."""

STARTUP_FAILURE = 3
"""The status of a process that can't listen; uvicorn's own where the application can't start."""


log = logging.getLogger("uvicorn.error")


class DeadlineServer(uvicorn.Server):
    """uvicorn itself waits for clients and threads without end, and accepts connections as they come.

    turns: those of the connections. proxies: whose connections are many visitors'.
    """

    _acceptor: Acceptor | None = None

    def __init__(self, config: uvicorn.Config, turns: FairTurns, proxies: tuple[Network, ...]) -> None:
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
            self._acceptor = Acceptor(listeners, self._create_protocol, self._turns, self._proxies)
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
            connection.transport.abort()


def create_server(
    app: App, host: str, port: int, connections: Connections, proxies: tuple[Network, ...] = ()
) -> DeadlineServer:
    """The server of an application. connections: bounds them. proxies: whose X-Forwarded-For is believed.

    GRADBOX_TRUSTED_PROXIES decides whose headers are trusted, not uvicorn. Its warnings are of malformed requests, which
    would fill the log.
    """
    turns = FairTurns()
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
