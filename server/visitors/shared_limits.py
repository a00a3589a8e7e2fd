"""Rate limits of all web processes together: each counts for itself as well, and alone while they can't share."""

from collections.abc import Sequence
from typing import Protocol

from limits import RateLimitItem

from server.pool.fair_queue import Client
from server.visitors.rate_limits import RateLimiter, SaveSpace


class Counts(Protocol):
    """What is counted together: see `server.pool.remote.shared_counts.SharedCounts`. None is for "it can't be told now"."""

    async def hit(self, counted: Sequence[tuple[RateLimitItem, str, str]]) -> bool | None: ...

    async def waits(self, counted: Sequence[tuple[RateLimitItem, str, str]]) -> list[float] | None: ...

    async def take(self, what: str, owner: str, tokens: float, capacity: float, seconds: float) -> float | None: ...


class SharedRateLimiter:
    """local_limiter: of this process. counts: of all, None where there is one process."""

    def __init__(self, local_limiter: RateLimiter, counts: Counts | None = None) -> None:
        self._own, self._counts = local_limiter, counts

    async def hit(self, client: Client) -> None:
        """Count a request. Raises RateLimited, and then counts nothing, unless another process was faster this very moment."""
        await self.check(client)
        if self._counts is not None and await self._counts.hit(self._counted_limits(client)) is False:
            await self.check(client)
        self._own.count(client)

    async def check(self, client: Client) -> None:
        """Raises RateLimited if another request would exceed a limit."""
        self._own.check(client)
        if self._counts is None:
            return
        waits = await self._counts.waits(self._counted_limits(client)) or []
        refusals = [
            self._own.refusal(limit, subject, wait)
            for (limit, subject, _), wait in zip(self._own.keyed_limits(client), waits, strict=False)
            if wait
        ]
        if refusals:
            raise max(refusals, key=lambda error: error.retry_after)

    def _counted_limits(self, client: Client) -> list[tuple[RateLimitItem, str, str]]:
        return [(limit, f"{self._own.action}/{subject}", key) for limit, subject, key in self._own.keyed_limits(client)]


class SharedSaveSpace:
    """local_space: of this process. counts: of all, None where there is one process."""

    def __init__(self, local_space: SaveSpace, counts: Counts | None = None) -> None:
        self._own, self._counts = local_space, counts

    async def take(self, client: Client, size: int) -> None:
        """Count a program of so many bytes. Raises RateLimited."""
        self._own.check(client, size)
        if self._counts is not None:
            wait = await self._counts.take("saved bytes", client.network, size, self._own.size, self._own.seconds)
            if wait:
                raise self._own.refusal(wait)
        self._own.take(client, size)
