"""Calls that pass without steps: one statement calls a function of the project over and over, as a loader calls
`__getitem__` for each sample.

What such a call does is part of the calling statement, like code of a module without steps.
"""

import inspect
from types import FrameType

from gradbox.recorder import stack
from gradbox.recorder.recorder import Recorder

MAX_CALLS = 16
"""Calls with steps of one function by one execution of a statement."""

_SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

Statement = tuple[str, int | None, tuple[int, ...]]
"""A running statement: its frame's uid, its index, and the counts of the loops around it."""


class UnsteppedCalls:
    """Counts the calls of one session and decides which ones pass without steps."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[Statement, int]] = {}  # by the id of the code
        self._has_passed = False

    def runs_without_steps(self, frame: FrameType, recorder: Recorder) -> bool:
        """Whether the call that begins with this frame passes without steps, by itself or within another one
        that does."""
        if stack.is_unstepped_call_running(frame.f_back):
            return True
        code = frame.f_code
        caller = stack.innermost_stepping_frame(frame.f_back)
        if caller is None or code.co_flags & _SUSPENDABLE or recorder.is_skipping_iterations:
            return False
        running, uid = recorder.steps.statement_at_frame(caller), recorder.frames.uid_of(caller)
        counts = () if running is None else recorder.steps.enclosing_iteration_counts(running, uid, "statement")
        statement = uid, running, tuple(counts)
        before, count = self._counts.get(id(code), (statement, 0))
        count = count + 1 if before == statement else 1
        self._counts[id(code)] = statement, count
        if count <= MAX_CALLS:
            return False
        stack.unstepped_calls[:] = [(id(frame), code)]
        self._has_passed = True
        return True

    def take_has_run_unstepped(self, frame: FrameType | None) -> bool:
        """Whether a call has passed since this was last asked, or is passing now.

        frame: the innermost frame that runs
        """
        passed, self._has_passed = self._has_passed, stack.is_unstepped_call_running(frame)
        return passed
