"""Whose drawing is next: of those who wait, that of the owner for whom the least time was spent."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from server.pool.fair_queue import FairScheduler


class QueueFull(Exception):
    """There is no place in the queue, or another owner, for whom less was drawn, was given it."""


class DrawingTurn:
    """A place in the queue. owners: see `DrawingQueue.wait_for_turn`."""

    def __init__(self, owners: list[str]) -> None:
        self.owners = owners
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class DrawingQueue:
    """One drawing at a time, and at most `limit` that wait, a quarter of them for one owner. clock: returns seconds."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._waiting: list[DrawingTurn] = []  # by arrival
        self._is_drawing = False
        self._scheduler = FairScheduler()  # by seconds of drawing

    @asynccontextmanager
    async def wait_for_turn(self, owners: list[str]) -> AsyncIterator[None]:
        """Entered when it is the turn of one of the owners. Raises QueueFull.

        owners: all who want what is drawn, one or more. Others may be added or removed while it waits: it has the best place
        of all of them, and the time is charged to all who wanted it since it began, in equal parts.
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
        turn = DrawingTurn(owners)
        if not self._is_drawing:
            self._is_drawing = True
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

    def _evict_turn_if_full(self, newcomer: DrawingTurn) -> None:
        """Take the place of who had most, where the queue is full. Raises QueueFull."""
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
        self._is_drawing = bool(waiting)
        if waiting:
            first = min(waiting, key=self._turn_start_tag)
            self._waiting.remove(first)
            if first.owners:
                self._scheduler.advance_virtual_time(self._turn_start_tag(first))
            first.granted.set_result(None)

    def _turn_start_tag(self, turn: DrawingTurn) -> float:
        """The best of its owners. A turn that nobody wants is the last."""
        return min(map(self._scheduler.start_tag, turn.owners), default=math.inf)
