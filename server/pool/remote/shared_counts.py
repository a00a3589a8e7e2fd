"""Rate limits that web processes count together, in the broker. Visitors and addresses are digests there."""

import asyncio
import hmac
import time
from collections.abc import Sequence

from limits import RateLimitItem
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter

from server.pool.remote.shared_broker import SharedBroker

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
"""As `server.visitors.rate_limits.TokenBuckets.take`. Keys: the bucket's. Arguments: tokens, seconds for each, seconds for all."""

CountedLimit = tuple[RateLimitItem, str, str]
"""A limit, what it limits, and whose requests are counted."""


class SharedCounts:
    """secret: makes the digests, which nobody without it can compute for the addresses there are.

    Every method returns None where the broker does not answer now.
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

    async def hit(self, counted: Sequence[CountedLimit]) -> bool | None:
        """Count a request to each limit; whether none was exceeded."""

        async def hit() -> bool:
            hits = [self._limiter.hit(limit, what, self._digest(owner)) for limit, what, owner in counted]
            return all(await asyncio.gather(*hits))

        return await self._broker.ask(hit)

    async def waits(self, counted: Sequence[CountedLimit]) -> list[float] | None:
        """The seconds until each limit would let another request in; 0.0 where it would now."""

        async def wait(limit: RateLimitItem, what: str, owner: str) -> float:
            key, seconds = limit.key_for(what, self._digest(owner)), limit.get_expiry()
            begin, count = await self._storage.get_moving_window(key, limit.amount, seconds)
            return min(max(begin + seconds - time.time(), 0.001), seconds) if count >= limit.amount else 0.0

        async def wait_for_all() -> list[float]:
            return await asyncio.gather(*(wait(*counter) for counter in counted))

        return await self._broker.ask(wait_for_all)

    async def take(self, what: str, owner: str, tokens: float, capacity: float, seconds: float) -> float | None:
        """As `server.visitors.rate_limits.TokenBuckets.take`, of a bucket of this capacity that fills in so many seconds."""
        key, arguments = f"{PREFIX}:{what}/{self._digest(owner)}", [tokens, seconds / capacity, seconds]

        async def take() -> float:
            return float(await self._take_script(keys=[key], args=arguments))

        return await self._broker.ask(take)

    def _digest(self, owner: str) -> str:
        return hmac.digest(self._key, owner.encode(), "sha256")[:12].hex()
