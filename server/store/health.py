"""Whether the database answers and can be written to, with its totals, cached for everybody who asks."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from server.store.database import StoreUnavailable
from server.store.repository import ProgramRepository, StoreTotals

MAX_AGE = 15.0
"""Seconds for which a state is cached."""

MAX_WAIT = 0.25
"""Seconds for which a caller waits for a newer state."""

QUERY_TIMEOUT = 2.0
"""Seconds after which a query counts as unanswered."""


@dataclass(frozen=True)
class StoreState:
    """The state of the store.

    reachable: whether it answers and can be written to; None before the first query
    why: the kind of the error, which is public
    detail: the error message, for the host
    """

    reachable: bool | None = None
    totals: StoreTotals | None = None
    why: str = ""
    detail: str = ""


class StoreHealth:
    """Queries the database on demand if the last state is too old, one query at a time."""

    def __init__(self, store: ProgramRepository, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self.backend = "embedded" if store.database.embedded else "postgresql"
        self.state = StoreState()
        self._queried_at = self._asked_at = 0.0
        self._failures = store.database.failures
        self._querying: asyncio.Task[None] | None = None

    async def get_recent_state(self) -> StoreState:
        """The latest state; a new one if the query is quick. Raises nothing."""
        if self._querying is None or (self._querying.done() and self._is_old):
            self._querying, self._asked_at = asyncio.create_task(self._query_database()), self._clock()
        if not self._querying.done():
            await asyncio.wait({self._querying}, timeout=MAX_WAIT)
            if not self._querying.done() and self._clock() - self._asked_at >= QUERY_TIMEOUT:
                return StoreState(False, self.state.totals, "TimeoutError", "TimeoutError: it does not answer")
        return self.state

    @property
    def _is_old(self) -> bool:
        """Whether the state has to be read again: after a while, or after the database failed a request."""
        return self._clock() - self._queried_at >= MAX_AGE or self._store.database.failures != self._failures

    async def close(self) -> None:
        if self._querying is not None:
            self._querying.cancel()
            await asyncio.wait({self._querying})

    async def _query_database(self) -> None:
        try:
            totals = await self._store.read_totals()
            await self._store.check_writable()
            self.state = StoreState(True, totals)
        except StoreUnavailable as error:
            cause = error.__cause__ or error
            detail = f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}"
            self.state = StoreState(False, self.state.totals, type(cause).__name__, detail[:300])
        self._queried_at, self._failures = self._clock(), self._store.database.failures
