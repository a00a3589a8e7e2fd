"""A lock that is fair to owners: of those who wait for it, the one that has held it for the least time is next."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from server.pool.fair_queue import FairScheduler


class QueueFull(Exception):
    """Too many wait for the lock, or an owner that has held it for less time was given the place."""


class Turn:
    """A place among those who wait.

    owners: see `FairLock.wait_for_turn`
    """

    def __init__(self, owners: list[str]) -> None:
        self.owners = owners
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class FairLock:
    """A lock that one holds at a time.

    limit: how many may wait for it; one owner has at most a quarter of these places
    clock: returns seconds
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._waiting: list[Turn] = []  # by arrival
        self._is_held = False
        self._scheduler = FairScheduler()  # by seconds for which it was held

    @asynccontextmanager
    async def wait_for_turn(self, owners: list[str]) -> AsyncIterator[None]:
        """Hold the lock while entered. Raises QueueFull.

        owners: all who want what is done under the lock, one or more. Owners may be added or removed while it waits: it
            has the best place of all of them. The time is charged, in equal parts, to all who wanted it since it began
        """
        await self._enqueue_and_wait(owners)
        began, wanted_by = self._clock(), list(owners)
        try:
            yield
        finally:
            charged = {*owners, *wanted_by}
            for owner in charged:
                self._scheduler.charge_flow(owner, (self._clock() - began) / len(charged))
            self._grant_next_turn()

    async def _enqueue_and_wait(self, owners: list[str]) -> None:
        turn = Turn(owners)
        if not self._is_held:
            self._is_held = True
            self._scheduler.advance_virtual_time(self._turn_start_tag(turn))
            return
        self._evict_turn_if_full(turn)
        self._waiting.append(turn)
        try:
            await turn.granted
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif not turn.granted.cancelled() and turn.granted.exception() is None:  # granted in the same moment
                self._grant_next_turn()
            raise

    def _evict_turn_if_full(self, newcomer: Turn) -> None:
        """If all places are taken, take that of the owner who has held the lock longest. Raises QueueFull."""
        most = max(1, self._limit // 4)
        if all(sum(owner in turn.owners for turn in self._waiting) >= most for owner in newcomer.owners):
            raise QueueFull
        if len(self._waiting) < self._limit:
            return
        last = max(reversed(self._waiting), key=self._turn_start_tag)
        if self._turn_start_tag(last) <= self._turn_start_tag(newcomer):
            raise QueueFull
        self._waiting.remove(last)
        last.granted.set_exception(QueueFull())

    def _grant_next_turn(self) -> None:
        waiting = [turn for turn in self._waiting if not turn.granted.done()]
        self._is_held = bool(waiting)
        if waiting:
            first = min(waiting, key=self._turn_start_tag)
            self._waiting.remove(first)
            if first.owners:
                self._scheduler.advance_virtual_time(self._turn_start_tag(first))
            first.granted.set_result(None)

    def _turn_start_tag(self, turn: Turn) -> float:
        """The start tag of its best owner. A turn that nobody wants any more comes last."""
        return min(map(self._scheduler.start_tag, turn.owners), default=math.inf)
