"""The recorder: called by the instrumented program, it asks for a step wherever one is due.

Recording changes nothing that the program can see: no user code runs, nothing is kept alive, a fault of the recorder
goes no further and is reported as an event. What is observed of each kind of thing is the probes' business.
"""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from gradbox.recorder import instrument
from gradbox.recorder.displayhook import display_text
from gradbox.recorder.introspection import position_in, traceback_of
from gradbox.recorder.observer import Observer
from gradbox.recorder.probes.backward import Backward
from gradbox.recorder.probes.frames import Frames
from gradbox.recorder.probes.jit import Jit
from gradbox.recorder.probes.ops import Ops
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.swap import SwapTensors
from gradbox.recorder.replacements import Replacements
from gradbox.recorder.stack import (
    frames_outward,
    hide_recorder_frames,
    is_program,
    program_line,
    stepping_frame,
    too_deep,
)
from gradbox.recorder.step_recorder import (
    BeginStep,
    CallStep,
    EndStep,
    HeadStep,
    RaiseStep,
    ResumeStep,
    ReturnStep,
    RunContext,
    StatementStep,
    StepRecorder,
    StepRequest,
    VisitStep,
    YieldStep,
)
from gradbox.recorder.streams import OutputLog, Stream
from gradbox.recorder.thinning import Schedule, SkippedIterations
from gradbox.wire.base import Value
from gradbox.wire.events import Event
from gradbox.wire.limits import Limit
from gradbox.wire.trace import Visit

STEP_SHARE_PER_BACKWARD = 0.3
"""The share of the steps that are left which one backward pass may take."""


class Recorder:
    """Follows one run.

    focus_counts: `Focus.counts` of a second run that would show what this one skipped; None where there is no need.
    """

    def __init__(self, run: RunContext) -> None:
        self._run, self._statements, self._limits = run, run.statements, run.limits
        self._context = context = ProbeContext()
        self._guard = context.guard
        self._closed = False
        self._expression_values: dict[int, Value] = {}  # frame -> the value of its bare expression
        self._last_raised: tuple[int, ...] | None = None
        self._output = OutputLog(context, int(run.limits["output"]))
        self.focus_counts: dict[int, int] | None = None
        self.observer = observer = Observer(context, run.focus, run.statements.may_expose_memory())
        self.frames = Frames(
            context, run.globals, observer.values, observer.reachability, run.statements.handler_names, run.hidden_names
        )
        self._skipped = SkippedIterations(run.statements, Schedule(self._share_used, run.focus), self._set_muted)
        self.steps = StepRecorder(run, context, observer, self.frames, self._skipped)
        self.ops = Ops(context, observer.tensors, observer.storages, lambda: not self._skipped.active)
        self.jit, self.replacements = Jit(context, self.ops.forget_uninitialized), Replacements(context)
        self.swap = SwapTensors(context, observer.tensors.uids, observer.storages)
        self.backward = Backward(
            context, observer.node_uids, observer.tensors, observer.storages, self, run.is_recorded
        )

    def hooks(self) -> dict[str, Callable[..., Any]]:
        """What the instrumented program calls, by name."""
        return {
            instrument.STEP: self.on_step,
            instrument.HEAD: self.on_head,
            instrument.CALL: self.on_call,
            instrument.RETURN: self.on_return,
            instrument.VALUE: self.on_value,
            instrument.YIELD: self.on_yield,
            instrument.RESUME: self.on_resume,
            instrument.CAUGHT: self.on_caught,
            instrument.LOOP: self.on_loop,
            instrument.LAMBDA: self.on_lambda,
        }

    @contextmanager
    def after_program(self) -> Iterator[None]:
        """After the program: what runs of it now is no part of the trace."""
        closed, self._closed = self._closed, True
        try:
            with self._guard.unrecorded():
                yield
        finally:
            self._closed = closed

    def _share_used(self) -> float:
        return self.steps.share_used()

    def _set_muted(self, muted: bool) -> None:
        """A stretch begins, or ends, in which nothing is observed."""
        self.ops.set_muted(muted)
        self.backward.set_muted(muted)
        if not muted:
            observation = self._context.observation
            observation.everything_requested = observation.ops_unobserved = True

    def close(self) -> None:
        """Record nothing any more, from within a step too: a limit is reached, and the program goes on."""
        self._closed = True
        self._guard.close()
        self._skipped.active = False
        self.ops.set_muted(True)
        self.backward.set_muted(True)

    # What the program calls. frame: where it is; None for that of the caller

    def on_step(self, i: int, *, frame: FrameType | None = None) -> None:
        frame = frame or sys._getframe(1)
        if self._skipped.active and not self._skipped.is_recorded(frame, i):
            return
        if not self._guard.busy:
            with self._guard():
                self._record_step(StatementStep(i, frame, self._expression_values.pop(id(frame), None)))

    def on_head(self, i: int, *test: Any, frame: FrameType | None = None) -> Any:
        value, frame = test[0] if test else None, frame or sys._getframe(1)
        if self._statements.rows[i]["kind"] in instrument.LOOPS:
            if not self._begin_iteration(frame, i, bool(test) and type(value) is bool and not value):
                return value
        elif self._skipped.active and not self._skipped.is_recorded(frame, i):
            return value
        if not self._guard.busy:
            with self._guard():
                self._record_step(HeadStep(i, frame, value))
        return value

    def _begin_iteration(self, frame: FrameType, i: int, loop_ended: bool) -> bool:
        """A loop's iteration begins, or the test of `while` failed: it is counted; whether the step is recorded."""
        if self._skipped.count_iteration(frame, i):
            return False
        path = self.steps.iteration_path(i, self.frames.begin_iteration(frame, i), "head")
        if (
            self._skipped.active
            and self.focus_counts is None
            and not self.steps.saved_tensors_modified
            and self.observer.saved_tensors_modified()
        ):
            self.focus_counts = {i: self._skipped.schedule.counts[i] - 1}
        return self._skipped.begin_iteration(
            frame, i, path, loop_ended, not self.backward.running_passes and not self._guard.busy
        )

    def on_call(self, _: int, *, frame: FrameType | None = None) -> None:
        if frame is None:
            if too_deep():
                raise RecursionError("maximum recursion depth exceeded")
            frame = sys._getframe(1)
        if self._skipped.active and not self._skipped.is_recorded(frame, None):
            return
        if not self._guard.busy:
            with self._guard():
                self.frames.begin_call(frame)
                self._record_call(frame)

    def on_return(self, i: int, value: Any, *, frame: FrameType | None = None) -> Any:
        frame = frame or sys._getframe(1)
        if self._skipped.active and not self._skipped.is_return_recorded(frame):
            return value
        if not self._guard.busy:
            with self._guard():
                self._record_step(ReturnStep(i, frame, value))
        return value

    def on_value(self, i: int, value: Any, *, frame: FrameType | None = None) -> Any:
        if not self._guard.busy and not self._skipped.active and (value is not None or i in self._run.displayed):
            with self._guard():
                self._expression_values[id(frame or sys._getframe(1))] = self.observer.values.encode(value)
                observation = self._context.observation
                observation.display_text = display_text(value) if i in self._run.displayed else None
        return value

    def on_yield(self, i: int, value: Any, *, frame: FrameType | None = None) -> Any:
        frame = frame or sys._getframe(1)
        if self._skipped.active and not self._skipped.is_recorded(frame, i):
            self._skipped.suspend(frame)
            return value
        if not self._guard.busy:
            with self._guard():
                self._record_step(YieldStep(i, frame, value, self.frames.uid_of(frame)))
        return value

    def on_resume(self, _: int, *, frame: FrameType | None = None) -> Callable[[Any], Any]:
        def resume(value: Any) -> Any:
            if not self._guard.busy:
                with self._guard():
                    waiting = next(f for f in frames_outward(sys._getframe(1)) if is_program(f.f_code))
                    self.frames.resume(waiting)
                    self._skipped.resume(waiting)
                    if self._skipped.is_recorded(waiting, self.steps.statement(waiting)):
                        self._record_resume(waiting, value)
            return value

        if self._guard.busy:
            return resume
        with self._guard():
            return self.frames.suspend(frame or sys._getframe(1), resume)
        return resume

    def on_caught(self, *, frame: FrameType | None = None) -> None:
        frame, error = frame or sys._getframe(1), sys.exc_info()[1]
        hide_recorder_frames(error)
        if self._guard.busy or (
            self._skipped.active and not self._skipped.is_recorded(frame, self.steps.statement(frame))
        ):
            return
        with self._guard():
            top = None if error is None else traceback_of(error)
            if error is None or top is None:
                return
            mark = (id(error), id(top), id(top.tb_frame), top.tb_lasti)  # of two that died one may have the other's id
            if mark != self._last_raised:
                self._last_raised = mark
                if self.frames.was_woken_by_exception(frame):
                    self.frames.resume(frame)
                    self._record_resume(frame)
                self._record_raise(error, frame)

    def on_loop(self, i: int, *, frame: FrameType | None = None) -> None:
        if not self._guard.busy:
            with self._guard():
                self.frames.enter_loop(frame or sys._getframe(1), i)

    def on_lambda(self, *, frame: FrameType | None = None) -> None:
        if frame is None and too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        self._context.observation.everything_requested = True

    def record_begin(self, frame: FrameType | None, line: int) -> None:
        """Before the first statement: a step with what is there already. frame: the innermost of the program's that run."""
        with self._guard():
            observation = self._context.observation
            observation.everything_requested = observation.past_unknown = True
            self._record_step(BeginStep(None, frame, line))

    # What else happens

    def write_output(self, stream: Stream, text: str) -> None:
        """The program printed."""
        if not text or self._closed:
            return
        if not self._output.log_output(stream, text):
            self.reach_limit("output", self._limits["output"])

    def record_warning(self, category: str, text: str) -> None:
        """The program was warned."""
        self._output.log_warning(category, text)

    def append_event(self, event: Event) -> None:
        """Something happened that belongs to the step that comes next."""
        self._context.observation.append(event)

    def reach_limit(self, limit: Limit, value: float) -> None:
        """A limit is reached: a last step holds what is not reported yet, and the run ends here."""
        self._context.observation.append({"kind": "event", "event": "limit", "limit": limit})
        self._skipped.end()
        self.observer.stale_views.clear_all()
        frame = stepping_frame(sys._getframe(1))
        if frame is not None and not self._guard.busy:
            with self._guard():
                self._record_step(StatementStep(self.steps.statement(frame), frame, is_last=True))
        self._run.stop_at_limit(limit, value)

    def record_exception(self, error: BaseException) -> None:
        """The program ended by an exception: a step that shows every frame it went through."""
        if self._skipped.active:
            self.focus_counts = self._skipped.counts_where_raised(error)
            self._skipped.end()
        self.observer.stale_views.clear_all()
        with self._guard():
            frames = [f for f, _ in traceback.walk_tb(traceback_of(error)) if is_program(f.f_code)]
            if frames:
                self._record_raise(error, frames[-1], frames)

    def record_end(self, line: int, frame: FrameType | None = None) -> None:
        """After the program: a step of its own if anything still changed. frame: in which the program goes on, unrecorded."""
        self._skipped.end()
        if self.observer.stale_views.clear_all():
            self._context.observation.everything_requested = True
        with self._guard():
            if frame is not None:
                self.frames.recorded_lines[id(frame)] = line
            self._record_step(EndStep(None, frame, line))
            self.frames.recorded_lines.clear()

    # Backward

    def running_statement(self) -> int | None:
        """The statement that runs, by its index."""
        return self.steps.statement(stepping_frame(sys._getframe(1)))

    def step_budget(self) -> int:
        """How many steps one backward pass may take."""
        return int((1 - self.steps.share_used()) * self._limits["steps"] * STEP_SHARE_PER_BACKWARD)

    def record_visit(self, visit: Visit) -> None:
        """Record a step for the visit of a node."""
        frame = stepping_frame(sys._getframe(1))
        self._record_step(VisitStep(self.steps.statement(frame), frame, visit))

    # A step

    def _record_step(self, request: StepRequest) -> None:
        if self._closed:
            return
        if not isinstance(request, VisitStep):
            self.backward.record_finished_visits()
        if sys.exc_info()[0] is None:
            self._last_raised = None
        self.steps.record_step(request)

    def _record_call(self, frame: FrameType) -> None:
        """A frame begins: the step is the calling statement's, and shows the new frame."""
        caller = stepping_frame(frame.f_back)
        self._record_step(CallStep(self.steps.statement(caller), caller, entered=frame))

    def _record_resume(self, frame: FrameType, value: Any = None) -> None:
        """A generator's frame goes on: the step is the statement's that woke it. value: what was sent to it."""
        caller = stepping_frame(frame.f_back)
        self._record_step(ResumeStep(self.steps.statement(caller), caller, value, frame))

    def _record_raise(self, error: BaseException, frame: FrameType, stack: list[FrameType] | None = None) -> None:
        line, instruction = position_in(error, frame)
        self._context.observation.everything_requested = True
        stmt, source_line = self._statements.statement_at(frame.f_code, instruction), program_line(frame.f_code, line)
        self._record_step(RaiseStep(stmt, frame, source_line, stack))
