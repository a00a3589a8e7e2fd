"""Thins long loops instead of cutting them: which iterations are recorded, and whether the program is in one that is
not.

The first iterations are recorded completely. Once a good part of the trace's room is used, the intervals between
recorded iterations grow, and the faster the less room is left, so that the end of any loop is reached with room to
spare.
"""

import math
from collections.abc import Callable
from types import FrameType

from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.introspection import traceback_of
from gradbox.recorder.stack import is_program_code
from gradbox.wire.job_records import FocusRecord

UNTHINNED_SHARE, MAX_SHARE = 0.4, 0.9
"""The share of a trace's room that is filled without leaving anything out, and the share that loops may fill at all."""

MAX_SHARE_AT_LAST_ITERATION = 0.95
"""The share up to which the very last iteration is recorded, for which room was reserved. The rest is for what follows
the loops."""

FOCUSED_SHARES = 0.15, 0.5
"""The same two shares for a run that is to show certain iterations."""

RESERVED_SHARE = 0.1
"""Room that is never counted as available."""

ITERATION_COST_MARGIN = 1.5
"""How many times the last iteration's cost must still be available for another one."""

GAP_EXPONENT = 6
"""How much faster intervals grow than room shrinks: with n times less room, intervals are longer by n to this power."""


class IterationSchedule:
    """Decides which iterations are recorded.

    share_used: returns the share of the trace's room that is used
    focus: `{"loop", "iteration"}` with the counts of the loops around it and its own, outermost first; or `{"counts"}`,
        which iteration of each loop, counted over the whole run, is recorded
    counts: for each loop, how many iterations have begun in the whole run
    counts_at_entry: how many had begun when the loop was entered
    ends_run: set if the iteration that begins is the last one of its loop and of the loops around it
    """

    def __init__(self, share_used: Callable[[], float], focus: FocusRecord) -> None:
        self._share_used = share_used
        self._counts = {int(loop): int(n) for loop, n in focus.get("counts", {}).items()}
        self._loop: int | None = focus.get("loop")
        self._path: list[int] = list(focus.get("iteration", []))
        self._unthinned_share, self._max_share = (
            FOCUSED_SHARES if self._counts or self._loop is not None else (UNTHINNED_SHARE, MAX_SHARE)
        )
        self.counts: dict[int, int] = {}
        self.counts_at_entry: dict[int, int] = {}
        self._last_counts: dict[int, int] = {}  # loop -> its count in the last iteration, where that is known
        self.ends_run = False
        self._next_due: dict[int, float] = {}
        self._gap: dict[int, float] = {}
        self._spent_at_start: dict[int, float] = {}  # loop -> what was spent when its recorded iteration began
        self._cost: dict[int, float] = {}  # loop -> what its last recorded iteration took

    def enter_loop(self, loop: int, length: int | None) -> None:
        """Note that a loop is entered.

        length: how many iterations it will have unless it is left early; None if not known
        """
        self.counts_at_entry[loop] = self.counts.get(loop, 0)
        if length is None:
            self._last_counts.pop(loop, None)
        else:
            self.set_length(loop, length)

    def set_length(self, loop: int, length: int) -> None:
        """Set how many iterations a running loop will have unless it is left early."""
        self._last_counts[loop] = self.counts_at_entry.get(loop, 0) + length

    def is_last_iteration(self, loop: int) -> bool:
        """Whether the running iteration is the last one of the loop, as far as known."""
        return self.counts.get(loop) == self._last_counts.get(loop, 0)

    def is_iteration_due(self, loop: int, path: list[int]) -> bool:
        """Whether the iteration that begins is recorded.

        path: the counts of the loops around it and then its own
        """
        count, spent = self.counts[loop], self._share_used()
        spent_at_start = self._spent_at_start.pop(loop, None)
        if spent_at_start is not None:
            self._cost[loop] = spent - spent_at_start
        cost = self._cost.get(loop, 0.0)
        is_due = spent <= self._unthinned_share or count >= self._next_due.get(loop, 0)
        ends_run, self.ends_run = self.ends_run, False
        if not self._is_iteration_focused(loop, path) and not (
            (is_due or ends_run) and spent + cost * ITERATION_COST_MARGIN <= self._allowed_share(loop, cost, ends_run)
        ):
            return False
        if spent > self._unthinned_share:
            share = cost / (self._max_share - spent + RESERVED_SHARE) if spent < self._max_share else 1.0
            self._gap[loop] = self._gap.get(loop, 1.0) * math.exp(GAP_EXPONENT * share)
            self._next_due[loop] = count + self._gap[loop]
        self._spent_at_start[loop] = spent
        return True

    def _allowed_share(self, loop: int, cost: float, ends_run: bool) -> float:
        """The share that may be used at the end of an iteration, so that the last one still has room if it is known."""
        if loop not in self._last_counts or loop not in self._cost:
            return self._max_share
        return MAX_SHARE_AT_LAST_ITERATION if ends_run else self._max_share - cost * ITERATION_COST_MARGIN

    def _is_iteration_focused(self, loop: int, path: list[int]) -> bool:
        if loop in self._counts:
            return self._counts[loop] - 1 <= self.counts[loop] <= self._counts[loop]
        if loop == self._loop:
            return path == self._path
        return 0 < len(path) < len(self._path) and path == self._path[: len(path)]


class SkippedIterations:
    """Whether the program is in an iteration that is not recorded, and what has passed meanwhile.

    set_recording_paused: called with True when such a stretch begins, and with False when it ends
    """

    def __init__(
        self, statements: ProgramStatements, schedule: IterationSchedule, set_recording_paused: Callable[[bool], None]
    ) -> None:
        self._statements, self.schedule, self._set_recording_paused = statements, schedule, set_recording_paused
        self.active = False
        self._skipped_steps = 0
        self._frame = 0  # where the loop runs; not kept, for a frame keeps its variables
        self._loop = -1
        self._suspended: dict[int, int] = {}  # generators that wait inside an unseen iteration

    def begin_iteration(self, frame: FrameType, loop: int, path: list[int], loop_ended: bool, may_skip: bool) -> bool:
        """Note that an iteration begins. Returns whether its step is recorded.

        path: see `IterationSchedule.is_iteration_due`
        loop_ended: the loop ends instead
        may_skip: whether the iteration may be left out
        """
        if loop_ended or not (self.active or may_skip) or self.schedule.is_iteration_due(loop, path):
            self.end_skipping()
            return True
        if not self.active:
            self._begin_skipping(frame, loop)
        self._skipped_steps += 1
        return False

    def count_iteration(self, frame: FrameType, loop: int) -> bool:
        """Count an iteration that begins. Returns whether it is part of another loop's unrecorded iteration."""
        counts = self.schedule.counts
        counts[loop] = counts.get(loop, 0) + 1
        same_loop = id(frame) == self._frame and loop == self._loop
        return self.active and not same_loop and not self.should_record_step(frame, loop)

    def should_record_step(self, frame: FrameType, i: int | None) -> bool:
        """Whether a step of statement `i` in this frame is recorded. Recording resumes once the loop was left."""
        if not self.active:
            return True
        if id(frame) == self._frame:
            inside = i is not None and self._loop in self._statements.enclosing_loops(i, False)
        else:
            inside = self._is_inside_loop_frame(frame)
        if inside:
            self._skipped_steps += 1
            return False
        self.end_skipping()
        return True

    def _is_inside_loop_frame(self, frame: FrameType | None) -> bool:
        """Whether the loop's frame still runs below this one."""
        while frame is not None:
            if id(frame) == self._frame:
                return True
            frame = frame.f_back
        return False

    def should_record_return(self, frame: FrameType) -> bool:
        """Whether a `return` of this frame is recorded, because it ends the loop that contains it."""
        if self.active and id(frame) == self._frame:
            self.end_skipping()
        return self.should_record_step(frame, None)

    def suspend_generator(self, frame: FrameType) -> None:
        """Note that a generator yields. While it is suspended, what others do is recorded."""
        if self.active and id(frame) == self._frame:
            self._suspended[self._frame] = self._loop
            self.end_skipping()

    def resume_generator(self, frame: FrameType) -> None:
        """Note that a generator resumes where it was, maybe in an iteration that is not recorded."""
        loop = self._suspended.pop(id(frame), None)
        if loop is not None and not self.active:
            self._begin_skipping(frame, loop)

    def end_skipping(self) -> None:
        if self.active:
            self.active = False
            self._set_recording_paused(False)

    def iteration_counts_where_raised(self, error: BaseException) -> dict[int, int]:
        """The loops in which an exception was raised, each with how many iterations it had begun."""
        iterations: dict[int, int] = {}
        position = traceback_of(error)
        while position is not None:
            code = position.tb_frame.f_code
            i = self._statements.statement_at(code, position.tb_lasti) if is_program_code(code) else None
            for loop in self._statements.enclosing_loops(i, True) if i is not None else ():
                iterations[loop] = self.schedule.counts.get(loop, 0)
            position = position.tb_next
        return iterations

    def take_skipped_step_count(self) -> int:
        """How many steps have passed unrecorded since the last recorded one; resets the count."""
        skipped_steps, self._skipped_steps = self._skipped_steps, 0
        return skipped_steps

    def _begin_skipping(self, frame: FrameType, loop: int) -> None:
        self.active, self._frame, self._loop = True, id(frame), loop
        self._set_recording_paused(True)
