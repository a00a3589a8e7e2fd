"""Rate limits of visitors and addresses, in this process."""

import math
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from server.pool.fair_queue import Client
from server.settings import SettingError
from server.wire.problems import ProblemError

MAX_KEYS = 100_000
"""Keys whose hits are stored; those hit longest ago are evicted first."""


class RateLimited(ProblemError):
    """Too many requests. whose: `a visitor` or `an address`. limit: like `60 runs per minute`. retry_after: seconds.

    what: is limited: run, save, picture, sign-in.
    """

    def __init__(self, whose: str, limit: str, retry_after: float, what: str = "run") -> None:
        message = f"{whose} may ask for {limit}; try again in {math.ceil(retry_after)} s"
        super().__init__(429, "limited", message, retry_after=retry_after)
        self.limit, self.retry_after, self.what = limit, retry_after, what


class RateLimiter:
    """Limits like `60/minute`, or several separated by semicolons, of a client and of its address. Raises SettingError.

    clock: in seconds. what: is limited (run, save, picture, sign-in). names: of the two settings, for errors.
    """

    def __init__(
        self,
        client: str,
        address: str,
        clock: Callable[[], float] = time.monotonic,
        what: str = "run",
        names: tuple[str, str] = ("RATE_LIMIT", "ADDRESS_LIMIT"),
    ) -> None:
        self._client = parse_limits(names[0], client, what)
        self._address = parse_limits(names[1], address, what)
        self.what = what
        self._clock = clock
        self._limiter = MovingWindowRateLimiter(MovingWindows(clock))

    def hit(self, client: Client) -> None:
        """Count a request. Raises RateLimited, and then counts nothing."""
        self.check(client)
        for limit, subject, key in self._limits_of(client):
            self._limiter.hit(limit, subject, key)

    def check(self, client: Client) -> None:
        """Raises RateLimited if another request would exceed a limit."""
        exceeded: list[RateLimited] = []
        for limit, subject, key in self._limits_of(client):
            if not self._limiter.test(limit, subject, key):
                wait = self._limiter.get_window_stats(limit, subject, key).reset_time - self._clock()
                exceeded.append(RateLimited(subject, describe_limit(limit, self.what), max(wait, 0.0), self.what))
        if exceeded:
            raise max(exceeded, key=lambda error: error.retry_after)

    def _limits_of(self, client: Client) -> list[tuple[RateLimitItem, str, str]]:
        limits = [(limit, "a visitor", client.id) for limit in self._client]
        return limits + [(limit, "an address", client.address) for limit in self._address]


class MovingWindows(MemoryStorage):
    """The times of the latest hits of each key, for at most MAX_KEYS keys.

    The library's own storage never drops a key (330 bytes each), and walks through all of them in a thread.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._hits: OrderedDict[str, list[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hits)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        hits = self._recent(key, expiry)
        if len(hits) + amount > limit:
            return False
        hits += [self._clock()] * amount
        self._hits[key] = hits
        self._hits.move_to_end(key)
        while len(self._hits) > MAX_KEYS:
            self._hits.popitem(last=False)
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002
        hits = self._recent(key, expiry)
        return (hits[0] if hits else self._clock()), len(hits)

    def _recent(self, key: str, expiry: int) -> list[float]:
        hits = self._hits.get(key, [])
        del hits[: bisect_right(hits, self._clock() - expiry)]
        return hits


def parse_limits(name: str, text: str, what: str) -> list[RateLimitItem]:
    """The limits in the text of a setting. Raises SettingError."""
    try:
        limits = parse_many(text)
    except ValueError:
        limits = []
    if not limits or any(limit.amount < 1 for limit in limits):
        raise SettingError(f"GRADBOX_{name} is {text!r}; it takes {what}s in a time, like 60/minute")
    return limits


def describe_limit(limit: RateLimitItem, what: str) -> str:
    """In words, like `60 runs per minute` or `5 runs per 2 hours`."""
    unit = limit.GRANULARITY.name if limit.multiples == 1 else f"{limit.multiples} {limit.GRANULARITY.name}s"
    return f"{limit.amount} {what}{'s' * (limit.amount > 1)} per {unit}"
