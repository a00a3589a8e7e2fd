"""Long loops are thinned, not cut: which iterations are recorded, and whether the program is in one that is not.

The first iterations are recorded whole. Once a good part of what a trace may hold is used up, the intervals between
recorded ones grow, the faster the less room is left, so that the end of any loop is reached with room to spare.
"""

import math
from collections.abc import Callable
from types import FrameType
from typing import Any

from server.worker.instrument import Statements

WHOLE, MOST = 0.4, 0.9
"""The share of a trace's room that is filled without leaving anything out, and the share that loops may fill at all."""

FOCUSED = 0.15, 0.5
"""The same where a run is to show certain iterations."""

RESERVE = 0.1
"""Room that is never counted on."""

MARGIN = 1.5
"""How many times the last iteration's cost must still be there for another one."""

POWER = 6
"""How much faster intervals grow than room is lost: n times less room, n to this power times longer intervals."""


class Schedule:
    """When an iteration is due.

    spent: the share of the trace's room that is used. focus: `{"loop", "iteration"}` with the counts of the loop and
    those around it, outermost first; or `{"counts"}`, how often each loop has begun an iteration in the whole run.
    """

    def __init__(self, spent: Callable[[], float], focus: dict[str, Any]) -> None:
        self._spent = spent
        self._counts = {int(loop): int(n) for loop, n in focus.get("counts", {}).items()}
        self._loop: int | None = focus.get("loop")
        self._path: list[int] = list(focus.get("iteration") or [])
        self._whole, self._most = FOCUSED if self._counts or self._loop is not None else (WHOLE, MOST)
        self.counts: dict[int, int] = {}
        self._next: dict[int, float] = {}
        self._gap: dict[int, float] = {}
        self._began: dict[int, float] = {}  # loop -> what was spent when the recorded iteration began that now ends
        self._cost: dict[int, float] = {}  # loop -> what its last recorded iteration took

    def due(self, loop: int, path: list[int]) -> bool:
        """Whether the iteration that begins is recorded. path: its count after those of the loops around it."""
        count, spent = self.counts[loop], self._spent()
        began = self._began.pop(loop, None)
        if began is not None:
            self._cost[loop] = spent - began
        cost = self._cost.get(loop, 0.0)
        due = spent <= self._whole or count >= self._next.get(loop, 0)
        if not self._focused(loop, path) and not (due and spent + cost * MARGIN <= self._most):
            return False
        if spent > self._whole:
            share = cost / (self._most - spent + RESERVE) if spent < self._most else 1.0
            self._gap[loop] = self._gap.get(loop, 1.0) * math.exp(POWER * share)
            self._next[loop] = count + self._gap[loop]
        self._began[loop] = spent
        return True

    def _focused(self, loop: int, path: list[int]) -> bool:
        if loop in self._counts:
            return self._counts[loop] - 1 <= self.counts[loop] <= self._counts[loop]
        if loop == self._loop:
            return path == self._path
        return 0 < len(path) < len(self._path) and path == self._path[: len(path)]


class Unseen:
    """Whether the program is in an iteration that is not recorded, and what passed meanwhile.

    quiet: called when such a stretch begins, and with False when it ends.
    """

    def __init__(self, statements: Statements, schedule: Schedule, quiet: Callable[[bool], None]) -> None:
        self._statements, self.schedule, self._quiet = statements, schedule, quiet
        self.on = False
        self._skipped = 0
        self._frame = 0  # where the loop runs; not kept, for a frame keeps its variables
        self._loop = -1
        self._asleep: dict[int, int] = {}  # generators that wait inside an unseen iteration

    def head(self, frame: FrameType, loop: int, path: list[int], over: bool, may: bool) -> bool:
        """An iteration begins, or with `over` the loop ends; whether its step is recorded. may: it can be left out."""
        if over or not (self.on or may) or self.schedule.due(loop, path):
            self.end()
            return True
        if not self.on:
            self._begin(frame, loop)
        self._skipped += 1
        return False

    def passes(self, frame: FrameType, loop: int) -> bool:
        """An iteration begins; it is counted. Whether it passes as part of another loop's that is not recorded."""
        counts = self.schedule.counts
        counts[loop] = counts.get(loop, 0) + 1
        own = id(frame) == self._frame and loop == self._loop
        return self.on and not own and not self.sees(frame, loop)

    def sees(self, frame: FrameType, i: int | None) -> bool:
        """Whether a step of statement `i` in this frame is recorded; where the loop was left, it is again."""
        if not self.on:
            return True
        if id(frame) == self._frame:
            inside = i is not None and self._loop in self._statements.loops(i, False)
        else:
            inside = self._under(frame)
        if inside:
            self._skipped += 1
            return False
        self.end()
        return True

    def _under(self, frame: FrameType | None) -> bool:
        """Whether the loop's frame is still at work below this one."""
        while frame is not None:
            if id(frame) == self._frame:
                return True
            frame = frame.f_back
        return False

    def leaves(self, frame: FrameType) -> bool:
        """Whether a `return` of this frame is recorded: it ends the loop that it stands in."""
        if self.on and id(frame) == self._frame:
            self.end()
        return self.sees(frame, None)

    def sleeps(self, frame: FrameType) -> None:
        """A generator yields: while it waits, what others do is seen."""
        if self.on and id(frame) == self._frame:
            self._asleep[self._frame] = self._loop
            self.end()

    def wakes(self, frame: FrameType) -> None:
        """A generator goes on, where it was: maybe in an iteration that is not recorded."""
        loop = self._asleep.pop(id(frame), None)
        if loop is not None and not self.on:
            self._begin(frame, loop)

    def end(self) -> None:
        if self.on:
            self.on = False
            self._quiet(False)

    def take(self) -> int:
        """How many steps passed unseen since the last one told."""
        skipped, self._skipped = self._skipped, 0
        return skipped

    def _begin(self, frame: FrameType, loop: int) -> None:
        self.on, self._frame, self._loop = True, id(frame), loop
        self._quiet(True)
