"""The broker as what web processes share besides the queue: asked with little patience, done without while it is away."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from server.pool.remote.broker import BrokerError, disconnect

TIMEOUT = 0.5
"""Seconds for an answer, connecting included."""

RECONNECT_INTERVAL = 1.0
"""Seconds from an answer that did not come to the next attempt."""

MAX_CONNECTIONS = 16

Answer = TypeVar("Answer")

log = logging.getLogger("gradbox.pool")


class SharedBroker:
    """reachable: whether it answered last. Connects at the first command."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.connections = BlockingConnectionPool.from_url(
            url,
            max_connections=MAX_CONNECTIONS,
            timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
            socket_timeout=TIMEOUT,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 1),  # of a connection that was closed while nobody looked
        )
        self.redis: Any = Redis(connection_pool=self.connections)
        self.reachable = True
        self._clock, self._next_attempt = clock, 0.0

    async def ask(self, command: Callable[[], Awaitable[Answer]]) -> Answer | None:
        """The answer to a command; None where there is none in time. While there is none, one caller a `RECONNECT_INTERVAL` waits for it."""
        if not self.reachable:
            if self._clock() < self._next_attempt:
                return None
            self._next_attempt = self._clock() + RECONNECT_INTERVAL
        try:
            async with asyncio.timeout(TIMEOUT):
                answer = await command()
        except (*BrokerError, ValueError, TypeError) as error:  # the latter of a value that is none of ours
            if self.reachable:
                log.warning(
                    "web processes share no limits and results now: the broker fails (%s)", type(error).__name__
                )
            self.reachable, self._next_attempt = False, self._clock() + RECONNECT_INTERVAL
            return None
        if not self.reachable:
            log.info("web processes share limits and results again")
            self.reachable = True
        return answer

    async def close(self) -> None:
        await disconnect(self.redis)
