"""Rate limits for visitors and addresses, in this process or in all web processes together. Each process also counts
for itself, and relies on that while they can't share counts."""

import math
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from server.quantity_formats import format_bytes
from server.settings import SettingError
from server.visitors.clients import Client
from server.wire.problems import ProblemError

MAX_KEYS, MAX_HITS = 100_000, 1_000_000
"""The most keys whose hits are stored, and the most hits of all keys. Those hit longest ago are evicted first."""

BURST_SHARE = 0.25
"""The share of a limit's requests that may come at once."""


class RateLimited(ProblemError):
    """Too many requests.

    whose: `a visitor` or `an address`
    limit: like `60 runs per minute`
    retry_after: seconds
    action: what is limited: run, save, picture, sign-in, request
    """

    def __init__(self, subject: str, limit: str, retry_after: float, action: str = "run") -> None:
        message = f"{subject} may ask for {limit}; try again in {math.ceil(retry_after)} s"
        super().__init__(429, "limited", message, retry_after=retry_after)
        self.limit, self.retry_after, self.action = limit, retry_after, action


class RateLimiter:
    """Limits for a client and for its address, like `60/minute` or several separated by semicolons. Raises
    SettingError.

    clock: returns seconds
    action: what is limited (run, save, picture, sign-in)
    names: the names of the two settings, for errors
    """

    def __init__(
        self,
        client_limits: str,
        address_limits: str,
        clock: Callable[[], float] = time.monotonic,
        action: str = "run",
        names: tuple[str, str] = ("RATE_LIMIT", "ADDRESS_LIMIT"),
    ) -> None:
        self._client = parse_limits(names[0], client_limits, action)
        self._address = parse_limits(names[1], address_limits, action)
        self.action = action
        self._clock = clock
        self._limiter = MovingWindowRateLimiter(MovingWindows(clock))

    def count_request(self, client: Client) -> None:
        """Count a request, or raise RateLimited and count nothing."""
        self.require_below_limits(client)
        self.count_request_if_allowed(client)

    def count_request_if_allowed(self, client: Client) -> None:
        """Count a request unless a limit is exceeded."""
        for limit, subject, key in self.limits_with_keys(client):
            self._limiter.hit(limit, subject, key)

    def require_below_limits(self, client: Client) -> None:
        """Raises RateLimited if another request would exceed a limit."""
        exceeded: list[RateLimited] = []
        for limit, subject, key in self.limits_with_keys(client):
            if not self._limiter.test(limit, subject, key):
                wait = self._limiter.get_window_stats(limit, subject, key).reset_time - self._clock()
                exceeded.append(self.rate_limited_error(limit, subject, max(wait, 0.0)))
        if exceeded:
            raise max(exceeded, key=lambda error: error.retry_after)

    def rate_limited_error(self, limit: RateLimitItem, subject: str, wait: float) -> RateLimited:
        """Return the error for a limit that stays exceeded for so many seconds.

        subject: `a visitor` or `an address`
        """
        return RateLimited(subject, describe_limit(limit, self.action), wait, self.action)

    def limits_with_keys(self, client: Client) -> list[tuple[RateLimitItem, str, str]]:
        """Return each limit with its subject and the key of its counts."""
        limits = [(limit, "a visitor", client.id) for limit in self._client]
        return limits + [(limit, "an address", client.address) for limit in self._address]


class MovingWindows(MemoryStorage):
    """The times of the latest hits of each key, for at most MAX_KEYS keys.

    The library's own storage never drops a key (330 bytes each) and scans all keys in a thread.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._hits: OrderedDict[str, list[float]] = OrderedDict()
        self._count = 0  # of all hits

    def __len__(self) -> int:
        return len(self._hits)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        hits = self._recent_hits(key, expiry)
        if len(hits) + amount > limit:
            return False
        hits += [self._clock()] * amount
        self._count += amount
        self._hits[key] = hits
        self._hits.move_to_end(key)
        while len(self._hits) > MAX_KEYS or self._count > MAX_HITS:
            self._count -= len(self._hits.popitem(last=False)[1])
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002
        hits = self._recent_hits(key, expiry)
        return (hits[0] if hits else self._clock()), len(hits)

    def _recent_hits(self, key: str, expiry: int) -> list[float]:
        hits = self._hits.get(key, [])
        left = bisect_right(hits, self._clock() - expiry)
        del hits[:left]
        self._count -= left
        return hits


class TokenBuckets:
    """A bucket of tokens for each key, with a capacity and the seconds in which an empty one refills.

    It stores one number for each key, however many tokens it takes: when the bucket will be full again.
    """

    def __init__(self, capacity: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._seconds_per_token, self._clock = seconds, seconds / capacity, clock
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full_at)

    def take_tokens(self, key: str, tokens: float = 1.0) -> float:
        """Take the tokens and return 0.0, or take none and return the seconds until they are available.

        A request for more than the capacity takes a full bucket.
        """
        now = self._clock()
        full = self._refill_time_after_taking(key, tokens, now)
        if full > now + self._seconds:
            return full - now - self._seconds
        self._full_at[key] = full
        self._full_at.move_to_end(key)
        while len(self._full_at) > MAX_KEYS:
            self._full_at.popitem(last=False)
        return 0.0

    def seconds_until_available(self, key: str, tokens: float) -> float:
        """Return the seconds until the tokens are available; 0.0 if they are now."""
        now = self._clock()
        full = self._refill_time_after_taking(key, tokens, now)
        return full - now - self._seconds if full > now + self._seconds else 0.0

    def _refill_time_after_taking(self, key: str, tokens: float, now: float) -> float:
        return max(self._full_at.get(key, now), now) + min(tokens * self._seconds_per_token, self._seconds)


class SavedBytesLimiter:
    """Limits the bytes that a network may save in a day.

    seconds: the length of a day
    """

    def __init__(self, size: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.size, self.seconds, self._buckets = size, seconds, TokenBuckets(size, seconds, clock)

    def count_saved_bytes(self, client: Client, size: int) -> None:
        """Count a program of so many bytes. Raises RateLimited."""
        wait = self._buckets.take_tokens(client.network, size)
        if wait:
            raise self.rate_limited_error(wait)

    def require_room_for_bytes(self, client: Client, size: int) -> None:
        """Raise RateLimited if a program of this size would exceed the limit."""
        wait = self._buckets.seconds_until_available(client.network, size)
        if wait:
            raise self.rate_limited_error(wait)

    def rate_limited_error(self, wait: float) -> RateLimited:
        """Return the error for space that is available again in so many seconds."""
        return RateLimited("an address", f"saving {format_bytes(self.size)} of programs per day", wait, "save")


class RequestLimiter:
    """Limits all requests of a network, like `1200/minute`, of which a share may come at once. Raises SettingError."""

    def __init__(self, limit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = [
            (
                describe_limit(item, "request"),
                TokenBuckets(item.amount * BURST_SHARE, item.get_expiry() * BURST_SHARE, clock),
            )
            for item in parse_limits("REQUEST_LIMIT", limit, "request")
        ]

    def count_request(self, client: Client) -> None:
        """Count a request. Raises RateLimited."""
        for limit, buckets in self._limits:
            wait = buckets.take_tokens(client.network)
            if wait:
                raise RateLimited("an address", limit, wait, "request")


def parse_limits(name: str, text: str, action: str) -> list[RateLimitItem]:
    """Parse the limits in a setting. Raises SettingError."""
    try:
        limits = parse_many(text)
    except ValueError:
        limits = []
    if not limits or any(limit.amount < 1 for limit in limits):
        raise SettingError(f"GRADBOX_{name} is {text!r}; it takes {action}s in a time, like 60/minute")
    return limits


def describe_limit(limit: RateLimitItem, action: str) -> str:
    """Describe a limit in words, like `60 runs per minute` or `5 runs per 2 hours`."""
    unit = limit.GRANULARITY.name if limit.multiples == 1 else f"{limit.multiples} {limit.GRANULARITY.name}s"
    return f"{limit.amount} {action}{'s' * (limit.amount > 1)} per {unit}"


class LimitCounts(Protocol):
    """Counts that processes share; see `server.pool.remote.shared_broker.SharedLimitCounts`. A method returns None
    while its count is unavailable."""

    async def count_request(self, counted: Sequence[tuple[RateLimitItem, str, str]]) -> bool | None: ...

    async def seconds_until_allowed(self, counted: Sequence[tuple[RateLimitItem, str, str]]) -> list[float] | None: ...

    async def take_tokens(
        self, what: str, owner: str, tokens: float, capacity: float, seconds: float
    ) -> float | None: ...


class SharedRateLimiter:
    """A rate limit that web processes count together.

    local_limiter: counts in this process alone
    counts: the shared counts; None if there is one process
    """

    def __init__(self, local_limiter: RateLimiter, counts: LimitCounts | None = None) -> None:
        self._own, self._counts = local_limiter, counts

    async def count_request(self, client: Client) -> None:
        """Count a request, or raise RateLimited. It then counts nothing, unless another process got ahead at this
        moment."""
        await self.require_below_limits(client)
        if self._counts is not None and await self._counts.count_request(self._counted_limits(client)) is False:
            await self.require_below_limits(client)
        self._own.count_request_if_allowed(client)

    async def require_below_limits(self, client: Client) -> None:
        """Raises RateLimited if another request would exceed a limit."""
        self._own.require_below_limits(client)
        if self._counts is None:
            return
        waits = await self._counts.seconds_until_allowed(self._counted_limits(client)) or []
        refusals = [
            self._own.rate_limited_error(limit, subject, wait)
            for (limit, subject, _), wait in zip(self._own.limits_with_keys(client), waits, strict=False)
            if wait
        ]
        if refusals:
            raise max(refusals, key=lambda error: error.retry_after)

    def _counted_limits(self, client: Client) -> list[tuple[RateLimitItem, str, str]]:
        return [
            (limit, f"{self._own.action}/{subject}", key) for limit, subject, key in self._own.limits_with_keys(client)
        ]


class SharedSavedBytesLimiter:
    """A limit of saved bytes that web processes count together.

    local_space: counts in this process alone
    counts: the shared counts; None if there is one process
    """

    def __init__(self, local_space: SavedBytesLimiter, counts: LimitCounts | None = None) -> None:
        self._own, self._counts = local_space, counts

    async def count_saved_bytes(self, client: Client, size: int) -> None:
        """Count a program of so many bytes. Raises RateLimited."""
        self._own.require_room_for_bytes(client, size)
        if self._counts is not None:
            wait = await self._counts.take_tokens(
                "saved bytes", client.network, size, self._own.size, self._own.seconds
            )
            if wait:
                raise self._own.rate_limited_error(wait)
        self._own.count_saved_bytes(client, size)
