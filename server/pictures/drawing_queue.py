"""Whose drawing is next: of those who wait, the owner for whom the least time was spent lately."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

HALF_LIFE = 60.0
"""Seconds after which half of the time spent for an owner is forgotten."""

MAX_OWNERS = 10_000
"""Owners whose time is remembered; those who had a drawing longest ago are forgotten first."""


class QueueFull(Exception):
    """There is no place in the queue, or another owner, for whom less was drawn, was given it."""


class Turn:
    """A place in the queue."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class DrawingQueue:
    """One drawing at a time, and at most `limit` that wait, a quarter of them for one owner. clock: returns seconds."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._waiting: list[Turn] = []  # by arrival
        self._is_drawing = False
        self._recent_seconds: OrderedDict[str, tuple[float, float]] = OrderedDict()  # owner -> seconds, as of when

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        """Entered when it is this owner's turn. Raises QueueFull."""
        await self._wait_for_turn(owner)
        began = self._clock()
        try:
            yield
        finally:
            self._charge(owner, self._clock() - began)
            self._grant_next()

    def recent_seconds(self, owner: str) -> float:
        """Seconds of drawing for this owner, those of long ago counting less."""
        seconds, at = self._recent_seconds.get(owner, (0.0, 0.0))
        return seconds * math.exp2((at - self._clock()) / HALF_LIFE)

    async def _wait_for_turn(self, owner: str) -> None:
        if not self._is_drawing:
            self._is_drawing = True
            return
        self._make_room(owner)
        turn = Turn(owner)
        self._waiting.append(turn)
        try:
            await turn.granted
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif not turn.granted.cancelled() and turn.granted.exception() is None:  # granted in the same moment
                self._grant_next()
            raise

    def _make_room(self, owner: str) -> None:
        """Take the place of who had most, where the queue is full. Raises QueueFull."""
        if sum(turn.owner == owner for turn in self._waiting) >= max(1, self._limit // 4):
            raise QueueFull
        if len(self._waiting) < self._limit:
            return
        last = max(reversed(self._waiting), key=lambda turn: self.recent_seconds(turn.owner))
        if self.recent_seconds(last.owner) <= self.recent_seconds(owner):
            raise QueueFull
        self._waiting.remove(last)
        last.granted.set_exception(QueueFull())

    def _grant_next(self) -> None:
        waiting = [turn for turn in self._waiting if not turn.granted.done()]
        self._is_drawing = bool(waiting)
        if waiting:
            first = min(waiting, key=lambda turn: self.recent_seconds(turn.owner))
            self._waiting.remove(first)
            first.granted.set_result(None)

    def _charge(self, owner: str, seconds: float) -> None:
        self._recent_seconds[owner] = (self.recent_seconds(owner) + seconds, self._clock())
        self._recent_seconds.move_to_end(owner)
        while len(self._recent_seconds) > MAX_OWNERS:
            self._recent_seconds.popitem(last=False)
