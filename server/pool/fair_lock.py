"""A lock with one place or a few that is fair to its owners: among those who wait, the one that has held it for the
least time, what it will probably hold it now included, is next."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from server.pool.fair_queue import FairScheduler


class QueueFull(Exception):
    """Too many wait for the lock, or the place was given to an owner that has held it for less time."""


CREDIT_PER_SECOND_WAITED = 0.1
"""Seconds less that a turn is expected to take for each second that it has waited, so that those which take long have
their turn, too, however many short ones come."""


class Turn:
    """A place in the queue for the lock.

    owners, expected: see `FairLock.wait_for_turn`
    entered_at: by the lock's clock
    """

    def __init__(self, owners: list[str], expected: float, entered_at: float) -> None:
        self.owners, self.expected, self.entered_at = owners, expected, entered_at
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class FairLock:
    """A lock that one task holds at a time, or as many as it has places.

    limit: how many may wait for it; one owner gets at most a quarter of these
    clock: returns seconds
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic, places: int = 1) -> None:
        self._limit, self._clock, self._free = limit, clock, places
        self._waiting: list[Turn] = []  # by arrival
        self._scheduler = FairScheduler()  # by seconds for which it was held

    @asynccontextmanager
    async def wait_for_turn(self, owners: list[str], expected: float = 0.0) -> AsyncIterator[None]:
        """Hold the lock while entered. Raises QueueFull.

        owners: everybody who wants what is done under the lock, one or more. Owners may be added or removed while it
            waits; it has the best place of any of them. The time is charged in equal parts to all who have wanted it
            since it began.
        expected: seconds for which it will probably be held; of those with equal places, the shortest is next
        """
        await self._enqueue_and_wait(owners, expected)
        began, wanted_by = self._clock(), list(owners)
        try:
            yield
        finally:
            charged = {*owners, *wanted_by}
            for owner in charged:
                self._scheduler.charge_flow(owner, (self._clock() - began) / len(charged))
            self._grant_next_turn()

    async def _enqueue_and_wait(self, owners: list[str], expected: float) -> None:
        turn = Turn(owners, expected, self._clock())
        if self._free:
            self._free -= 1
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
        """If all places are taken, free the one whose owner has held the lock longest. Raises QueueFull."""
        most = max(1, self._limit // 4)
        if all(sum(owner in turn.owners for turn in self._waiting) >= most for owner in newcomer.owners):
            raise QueueFull
        if len(self._waiting) < self._limit:
            return
        last = max(reversed(self._waiting), key=self._turn_finish_tag)
        if self._turn_finish_tag(last) <= self._turn_finish_tag(newcomer):
            raise QueueFull
        self._waiting.remove(last)
        last.granted.set_exception(QueueFull())

    def _grant_next_turn(self) -> None:
        waiting = [turn for turn in self._waiting if not turn.granted.done()]
        if not waiting:
            self._free += 1
        else:
            first = min(waiting, key=self._turn_finish_tag)
            self._waiting.remove(first)
            if first.owners:
                self._scheduler.advance_virtual_time(self._turn_start_tag(first))
            first.granted.set_result(None)

    def _turn_start_tag(self, turn: Turn) -> float:
        """The start tag of the turn's best owner. A turn that nobody wants any more comes last."""
        return min(map(self._scheduler.start_tag, turn.owners), default=math.inf)

    def _turn_finish_tag(self, turn: Turn) -> float:
        """The start tag and what the turn is expected to take, less for each second that it has waited."""
        waited = self._clock() - turn.entered_at
        return self._turn_start_tag(turn) + max(0.0, turn.expected - CREDIT_PER_SECOND_WAITED * waited)
