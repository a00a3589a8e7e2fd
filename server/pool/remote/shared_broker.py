"""What web processes share through the broker besides the queue. They wait little for it, and do without it while it is
away.

Others can write to the broker too, so messages between processes are signed with HMAC-SHA256 (RFC 2104): 32 bytes of
signature, then the content. Rate limits are counted there; visitors and addresses appear as digests.
"""

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from limits import RateLimitItem
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from server.pool.remote.broker import BrokerError, close_broker_connections

SIGNATURE_SIZE = 32


class MessageSigner:
    """Signs and checks messages for one purpose, so that a message can't pass for one of another purpose.

    secret: the site's, the same in all its web processes
    purpose: any text, a different one for each kind of message
    """

    def __init__(self, secret: bytes, purpose: bytes) -> None:
        self._key = hmac.digest(secret, purpose, "sha256")

    def sign(self, address: str, content: bytes) -> bytes:
        """Sign a message.

        address: the key or the recipient; the message is not valid at any other address
        """
        return self._compute_signature(address, content) + content

    def verify(self, address: str, message: bytes) -> bytes | None:
        """The content of a message found at an address; None unless somebody with the secret put it there."""
        signature, content = message[:SIGNATURE_SIZE], message[SIGNATURE_SIZE:]
        return content if hmac.compare_digest(signature, self._compute_signature(address, content)) else None

    def _compute_signature(self, address: str, content: bytes) -> bytes:
        return hmac.digest(self._key, address.encode() + b"\n" + content, "sha256")


TIMEOUT = 0.5
"""Seconds to wait for an answer, including the connection."""

RECONNECT_INTERVAL = 1.0
"""Seconds from a missed answer to the next attempt."""

MAX_CONNECTIONS = 16

Answer = TypeVar("Answer")

log = logging.getLogger("gradbox.pool")


class SharedBroker:
    """A connection to the broker, made at the first command.

    reachable: whether the broker answered last time
    """

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

    async def run_command(self, command: Callable[[], Awaitable[Answer]]) -> Answer | None:
        """Run a command and return its answer, or None if there is none in time. While the broker does not answer, only
        one caller per `RECONNECT_INTERVAL` waits for it."""
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
        await close_broker_connections(self.redis)


PREFIX = "gradbox:limits"

TAKE_TOKENS = """
local tokens, each, seconds = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = redis.call('TIME')
now = now[1] + now[2] / 1e6
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') or 0, now) + math.min(tokens * each, seconds)
if full > now + seconds then return tostring(full - now - seconds) end
redis.call('SET', KEYS[1], string.format('%.6f', full), 'PX', math.ceil((full - now) * 1000) + 1)
return '0'
"""
"""Does what `server.visitors.rate_limits.TokenBuckets.take_tokens` does. Keys: the bucket's. Arguments: tokens, seconds
for each token, seconds for a full bucket."""

CountedLimit = tuple[RateLimitItem, str, str]
"""A limit, what it limits, and whose requests are counted."""


class SharedLimitCounts:
    """Counts of requests that web processes share. Each method returns None when the broker does not answer.

    secret: makes the digests, which can't be computed from known addresses without it
    """

    def __init__(self, broker: SharedBroker, url: str, secret: bytes) -> None:
        self._broker = broker
        self._key = hmac.digest(secret, b"rate limits", "sha256")
        storage = RedisStorage(
            url,
            implementation="redispy",
            key_prefix=PREFIX,
            connection_pool=broker.connections,  # type: ignore[arg-type]
        )
        self._storage, self._limiter = storage, MovingWindowRateLimiter(storage)
        self._take_script = broker.redis.register_script(TAKE_TOKENS)

    async def count_request(self, counted: Sequence[CountedLimit]) -> bool | None:
        """Count a request towards each limit. Returns whether none was exceeded."""

        async def count_and_check_limits() -> bool:
            hits = [self._limiter.hit(limit, what, self._digest_owner(owner)) for limit, what, owner in counted]
            return all(await asyncio.gather(*hits))

        return await self._broker.run_command(count_and_check_limits)

    async def seconds_until_allowed(self, counted: Sequence[CountedLimit]) -> list[float] | None:
        """Seconds until each limit lets another request in; 0.0 if all would now."""

        async def seconds_until_limit_allows(limit: RateLimitItem, what: str, owner: str) -> float:
            key, seconds = limit.key_for(what, self._digest_owner(owner)), limit.get_expiry()
            begin, count = await self._storage.get_moving_window(key, limit.amount, seconds)
            return min(max(begin + seconds - time.time(), 0.001), seconds) if count >= limit.amount else 0.0

        async def seconds_until_each_allows() -> list[float]:
            return await asyncio.gather(*(seconds_until_limit_allows(*counter) for counter in counted))

        return await self._broker.run_command(seconds_until_each_allows)

    async def take_tokens(self, what: str, owner: str, tokens: float, capacity: float, seconds: float) -> float | None:
        """Like `server.visitors.rate_limits.TokenBuckets.take_tokens`, for a bucket of this capacity that fills in this
        many seconds."""
        key, arguments = f"{PREFIX}:{what}/{self._digest_owner(owner)}", [tokens, seconds / capacity, seconds]

        async def run_take_script() -> float:
            return float(await self._take_script(keys=[key], args=arguments))

        return await self._broker.run_command(run_take_script)

    def _digest_owner(self, owner: str) -> str:
        return hmac.digest(self._key, owner.encode(), "sha256")[:12].hex()
