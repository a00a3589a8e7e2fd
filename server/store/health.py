"""What the store holds and whether it answers, asked now and then for all who look on."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from server.store.database import StoreUnavailable
from server.store.repository import Repository, StoreTotals

MAX_AGE = 15.0
"""Seconds that an answer does for everybody."""

WAIT = 0.25
"""Seconds that one who looks waits for a newer one."""


@dataclass(frozen=True)
class StoreState:
    """reachable: None before the first. why: it is not, in a word for everybody; detail: for the host."""

    reachable: bool | None = None
    totals: StoreTotals | None = None
    why: str = ""
    detail: str = ""


class StoreHealth:
    """Asks the store when somebody looks and the last answer is old; never more than one question at once."""

    def __init__(self, store: Repository, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self.backend = "embedded" if store.database.embedded else "postgresql"
        self.state = StoreState()
        self._at = 0.0
        self._querying: asyncio.Task[None] | None = None

    async def refresh(self) -> StoreState:
        """The latest answer, a new one where that comes soon. Raises nothing."""
        if self._querying is None or (self._querying.done() and self._clock() - self._at >= MAX_AGE):
            self._querying = asyncio.create_task(self._query())
        if not self._querying.done():
            await asyncio.wait({self._querying}, timeout=WAIT)
        return self.state

    async def close(self) -> None:
        if self._querying is not None:
            self._querying.cancel()
            await asyncio.wait({self._querying})

    async def _query(self) -> None:
        try:
            self.state = StoreState(True, await self._store.totals())
        except StoreUnavailable as error:
            cause = error.__cause__ or error
            detail = f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}"
            self.state = StoreState(False, self.state.totals, type(cause).__name__, detail[:300])
        self._at = self._clock()
