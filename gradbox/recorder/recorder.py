"""The recorder. The instrumented program calls it, and it requests a step whenever one is due.

Recording changes nothing that the program can see: no user code runs, nothing is kept alive, and a fault of the
recorder is reported as an event and goes no further. The probes decide what is observed of each kind of thing.
"""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from gradbox.recorder import instrument
from gradbox.recorder.displayhook import displayed_repr
from gradbox.recorder.introspection import exception_position_in_frame, traceback_of
from gradbox.recorder.loop_lengths import iteration_count
from gradbox.recorder.loop_sampling import IterationSchedule, SkippedIterations
from gradbox.recorder.observer import Observer
from gradbox.recorder.probes.backward import BackwardRecorder
from gradbox.recorder.probes.frames import Frames
from gradbox.recorder.probes.function_calls import CustomFunctionCalls
from gradbox.recorder.probes.jit import UnobservedJit
from gradbox.recorder.probes.module_calls import ModuleCalls
from gradbox.recorder.probes.ops import OpRecorder
from gradbox.recorder.probes.optimizer_steps import OptimizerSteps
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.program_streams import OutputLog, Stream
from gradbox.recorder.replacements import TorchReplacements
from gradbox.recorder.stack import (
    frames_outward,
    hide_recorder_frames,
    innermost_stepping_frame,
    is_program_code,
    is_recursion_too_deep,
    is_within_module,
    to_program_line,
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
from gradbox.recorder.swap_tensors_patch import SwapTensorsPatch
from gradbox.recorder.trace_lines import raised_event
from gradbox.recorder.training_rounds import TrainingRoundLog
from gradbox.wire.base import Value
from gradbox.wire.events import Event
from gradbox.wire.limits import Limit
from gradbox.wire.trace import Visit

STEP_SHARE_PER_BACKWARD = 0.3
"""The share of the remaining steps that one backward pass may take."""


class Recorder:
    """Follows one run.

    focus_counts: `Focus.counts` of a second run that would show what this one skipped; None if there is no need
    raised_in_iteration: the innermost loop and its iteration over the whole run, from 0, if the program's exception was
        raised in an unrecorded iteration
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
        self.raised_in_iteration: tuple[int, int] | None = None
        self.observer = observer = Observer(context, run.focus, run.statements)
        self.frames = Frames(
            context,
            run.globals,
            observer.values,
            observer.reachability,
            run.statements,
            run.hidden_names,
        )
        self._skipped = SkippedIterations(
            run.statements, IterationSchedule(self._trace_share_used, run.focus), self._set_recording_paused
        )
        self.steps = StepRecorder(run, context, observer, self.frames, self._skipped)
        self.ops = OpRecorder(
            context,
            observer.tensors,
            observer.storages,
            observer.values.objects,
            lambda: not self._skipped.active,
            run.statements,
        )
        self.rounds = TrainingRoundLog(
            run.statements,
            self._skipped.schedule,
            observer.tensors.uids,
            context.delta,
            lambda: self.steps.count,
        )
        self.optimizer_steps = OptimizerSteps(context, observer.values, self.rounds, run.is_recorded)
        self.module_calls = ModuleCalls(context, observer.values.objects, observer.tensors, run.is_recorded)
        self.jit, self.replacements = (
            UnobservedJit(context, self.ops.forget_uninitialized_memory),
            TorchReplacements(context),
        )
        self.function_calls = CustomFunctionCalls(context)
        self.swap = SwapTensorsPatch(context, observer.tensors.uids, observer.storages)
        self.backward = BackwardRecorder(
            context, observer.node_uids, observer.tensors, observer.storages, self, run.is_recorded
        )

    def hooks_by_name(self) -> dict[str, Callable[..., Any]]:
        """The functions that the instrumented program calls, by name."""
        return {
            instrument.STEP_HOOK: self.on_step,
            instrument.HEAD_HOOK: self.on_head,
            instrument.CALL_HOOK: self.on_call,
            instrument.RETURN_HOOK: self.on_return,
            instrument.VALUE_HOOK: self.on_expression_value,
            instrument.YIELD_HOOK: self.on_yield,
            instrument.RESUME_HOOK: self.on_resume,
            instrument.CAUGHT_HOOK: self.on_caught,
            instrument.LOOP_HOOK: self.on_loop,
            instrument.LAMBDA_HOOK: self.on_lambda,
        }

    def storage_bytes(self) -> int:
        """Bytes of all living storages."""
        storages = (facts for facts in self._context.delta.state.values() if facts["kind"] == "storage")
        return sum(int(facts.get("nbytes") or 0) for facts in storages)

    @property
    def is_skipping_iterations(self) -> bool:
        """Whether the program is in an iteration that is not recorded."""
        return self._skipped.active

    @contextmanager
    def unrecorded_after_program(self) -> Iterator[None]:
        """Stop recording after the program: code of it that runs now is not part of the trace."""
        closed, self._closed = self._closed, True
        try:
            with self._guard.unrecorded():
                yield
        finally:
            self._closed = closed

    def _trace_share_used(self) -> float:
        return self.steps.trace_share_used()

    def _set_recording_paused(self, paused: bool) -> None:
        """Begin or end a stretch in which nothing is observed."""
        self.ops.set_recording_paused(paused)
        self.backward.set_recording_paused(paused)
        self.optimizer_steps.set_recording_paused(paused)
        self.rounds.set_recording_paused(paused)
        self.module_calls.set_recording_paused(paused)
        observation = self._context.observation
        if paused:
            with self._guard():
                self.observer.counters.keep_saved_counters_readable()
            return
        observation.everything_requested = observation.ops_unobserved = True
        observation.slots_unobserved = observation.slots_unobserved or self.backward.ran_while_paused

    def stop_recording(self) -> None:
        """Stop recording, even from within a step: a limit is reached, and the program goes on."""
        self._closed = True
        self._guard.suppress_permanently()
        self._skipped.active = False
        self.ops.set_recording_paused(True)
        self.backward.set_recording_paused(True)

    # What the program calls. frame: where it is; None for that of the caller

    def on_step(self, i: int, *, frame: FrameType | None = None) -> None:
        frame = frame or sys._getframe(1)
        if self._skipped.active and not self._skipped.should_record_step(frame, i):
            return
        if not self._guard.busy:
            with self._guard():
                self._record_step(StatementStep(i, frame, self._expression_values.pop(id(frame), None)))

    def on_head(self, i: int, *test: Any, frame: FrameType | None = None) -> Any:
        value, frame = test[0] if test else None, frame or sys._getframe(1)
        if self._statements.rows[i]["kind"] in instrument.LOOP_STATEMENT_KINDS:
            if not self._begin_loop_iteration(frame, i, bool(test) and type(value) is bool and not value):
                return value
        elif self._skipped.active and not self._skipped.should_record_step(frame, i):
            return value
        if not self._guard.busy:
            with self._guard():
                self._record_step(HeadStep(i, frame, value))
        return value

    def _begin_loop_iteration(self, frame: FrameType, i: int, loop_ended: bool) -> bool:
        """Count an iteration that begins, or the failed test of a `while`. Returns whether its step is recorded."""
        if self._skipped.count_iteration(frame, i):
            return False
        path = self.steps.enclosing_iteration_counts(i, self.frames.count_iteration(frame, i), "head")
        if (
            self._skipped.active
            and self.focus_counts is None
            and not self.steps.saved_tensors_modified
            and self.observer.has_modified_saved_tensors()
        ):
            self.focus_counts = {i: self._skipped.schedule.counts[i] - 1}
        if self._skipped.schedule.is_last_iteration(i):
            self._skipped.schedule.ends_run = self.rounds.are_all_loops_ending(frame)
        is_recorded = self._skipped.begin_iteration(
            frame, i, path, loop_ended, not self.backward.running_passes and not self._guard.busy
        )
        if is_recorded and not is_within_module(frame):
            self.steps.begin_contents_stretch()
        if not is_recorded and self._run.on_skipped_iteration is not None:
            self._run.on_skipped_iteration(path[-1])
        return is_recorded

    def on_call(self, _: int, *, frame: FrameType | None = None) -> None:
        if frame is None:
            if is_recursion_too_deep():
                raise RecursionError("maximum recursion depth exceeded")
            frame = sys._getframe(1)
        if self._skipped.active and not self._skipped.should_record_step(frame, None):
            return
        if not self._guard.busy:
            with self._guard():
                self.frames.retire_reused_frame(frame)
                self._record_call(frame)

    def on_return(self, i: int, value: Any, *, frame: FrameType | None = None) -> Any:
        frame = frame or sys._getframe(1)
        if self._skipped.active and not self._skipped.should_record_return(frame):
            return value
        if not self._guard.busy:
            with self._guard():
                self._record_step(ReturnStep(i, frame, value))
        return value

    def on_expression_value(self, i: int, value: Any, *, frame: FrameType | None = None) -> Any:
        if not self._guard.busy and not self._skipped.active and (value is not None or i in self._run.displayed):
            with self._guard():
                self._expression_values[id(frame or sys._getframe(1))] = self.observer.values.encode(value)
                observation = self._context.observation
                observation.displayed_repr = displayed_repr(value) if i in self._run.displayed else None
        return value

    def on_yield(self, i: int, value: Any, *, frame: FrameType | None = None) -> Any:
        frame = frame or sys._getframe(1)
        if self._skipped.active and not self._skipped.should_record_step(frame, i):
            self._skipped.suspend_generator(frame)
            return value
        if not self._guard.busy:
            with self._guard():
                self._record_step(YieldStep(i, frame, value, self.frames.uid_of(frame)))
        return value

    def on_resume(self, _: int, *, frame: FrameType | None = None) -> Callable[[Any], Any]:
        def resume(value: Any) -> Any:
            if not self._guard.busy:
                with self._guard():
                    waiting = next(f for f in frames_outward(sys._getframe(1)) if is_program_code(f.f_code))
                    self.frames.resume_frame(waiting)
                    self._skipped.resume_generator(waiting)
                    if self._skipped.should_record_step(waiting, self.steps.statement_at_frame(waiting)):
                        self._record_resume(waiting, value)
            return value

        if self._guard.busy:
            return resume
        with self._guard():
            return self.frames.suspend_frame(frame or sys._getframe(1), resume)
        return resume

    def on_caught(self, *, frame: FrameType | None = None) -> None:
        frame, error = frame or sys._getframe(1), sys.exc_info()[1]
        hide_recorder_frames(error)
        if self._guard.busy or (
            self._skipped.active and not self._skipped.should_record_step(frame, self.steps.statement_at_frame(frame))
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
                    self.frames.resume_frame(frame)
                    self._record_resume(frame)
                self._context.observation.append_log_entry(raised_event(error))
                self._record_raise(error, frame)

    def on_loop(self, i: int, iterable: Any = None, *, frame: FrameType | None = None) -> Any:
        if not self._guard.busy:
            with self._guard():
                self._skipped.schedule.enter_loop(i, iteration_count(iterable))
                self.frames.reset_iteration_count(frame or sys._getframe(1), i)
        return iterable

    def register_loop_iterator(self, i: int, iterator: Any) -> None:
        """Note from what a `for` has taken its first item: an iterator, or anything else if it is not known."""
        if not self._guard.busy:
            with self._guard():
                count = iteration_count(iterator)
                if count is not None:
                    self._skipped.schedule.set_length(i, count + 1)

    def on_lambda(self, *, frame: FrameType | None = None) -> None:
        if frame is None and is_recursion_too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        self._context.observation.everything_requested = True

    def record_begin_step(self, frame: FrameType | None, line: int) -> None:
        """Record a step with what exists before the first statement.

        frame: the program's innermost frame that runs
        """
        with self._guard():
            observation = self._context.observation
            observation.everything_requested = observation.past_unknown = True
            self._record_step(BeginStep(None, frame, line))

    # What else happens

    def record_output(self, stream: Stream, text: str) -> None:
        """Record what the program printed."""
        if not text or self._closed:
            return
        self.rounds.on_output(text)
        if not self._output.log_output(stream, text):
            self.end_run_at_limit("output", self._limits["output"])

    def record_warning(self, category: str, text: str) -> None:
        """Record a warning."""
        self._output.log_warning(category, text)

    def append_event(self, event: Event) -> None:
        """Add an event to the step that comes next."""
        self._context.observation.append_log_entry(event)

    def end_run_at_limit(self, limit: Limit, value: float) -> None:
        """End the run at a limit, with a last step that holds what is not reported yet."""
        self._context.observation.append_log_entry({"kind": "event", "event": "limit", "limit": limit})
        self._skipped.end_skipping()
        self.observer.stale_views.mark_all_current()
        frame = innermost_stepping_frame(sys._getframe(1))
        if frame is not None and not self._guard.busy:
            with self._guard():
                self._record_step(StatementStep(self.steps.statement_at_frame(frame), frame, is_last=True))
        self._run.stop_at_limit(limit, value)

    def record_exception(self, error: BaseException) -> None:
        """Record the exception that ended the program, in a step that shows every frame it passed through."""
        if self._skipped.active:
            self.focus_counts = counts = self._skipped.iteration_counts_where_raised(error)
            if counts:
                innermost = list(counts)[-1]
                self.raised_in_iteration = innermost, counts[innermost] - 1
            self._skipped.end_skipping()
        self.observer.stale_views.mark_all_current()
        with self._guard():
            self.backward.report_other_threads()
            frames = [f for f, _ in traceback.walk_tb(traceback_of(error)) if is_program_code(f.f_code)]
            self.backward.report_unseen_failure(error)
            if frames:
                self._record_raise(error, frames[-1], frames)

    def record_end_step(self, line: int, frame: FrameType | None = None) -> None:
        """Record a last step after the program if anything has changed since.

        frame: the frame in which the program goes on, unrecorded
        """
        self._skipped.end_skipping()
        if self.observer.stale_views.mark_all_current():
            self._context.observation.everything_requested = True
        with self._guard():
            self.backward.report_other_threads()
            if frame is not None:
                self.frames.recorded_lines[id(frame)] = line
            self._record_step(EndStep(None, frame, line))
            self.frames.recorded_lines.clear()

    # Backward

    def note_backward(self, roots: Any) -> None:
        """The engine is about to run and to accumulate gradients, whether or not that is recorded."""
        frame = sys._getframe(1)
        self.rounds.note_backward(roots, frame, self.steps.statement_at_frame(innermost_stepping_frame(frame)))

    def running_statement_index(self) -> int | None:
        """The index of the running statement."""
        return self.steps.statement_at_frame(innermost_stepping_frame(sys._getframe(1)))

    def backward_step_budget(self) -> int:
        """How many steps one backward pass may take."""
        return int((1 - self.steps.trace_share_used()) * self._limits["steps"] * STEP_SHARE_PER_BACKWARD)

    def record_visit(self, visit: Visit) -> None:
        """Record a step for the visit of a node."""
        frame = innermost_stepping_frame(sys._getframe(1))
        self._record_step(VisitStep(self.steps.statement_at_frame(frame), frame, visit))

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
        """Record that a frame begins. The step belongs to the calling statement and shows the new frame."""
        caller = innermost_stepping_frame(frame.f_back)
        if caller is None:  # what comes with the call was made before, or by code that is not the program's
            self._context.observation.past_unknown = True
        self._record_step(CallStep(self.steps.statement_at_frame(caller), caller, entered=frame))

    def _record_resume(self, frame: FrameType, value: Any = None) -> None:
        """Record that a generator's frame resumes. The step belongs to the statement that resumed it.

        value: what was sent to it
        """
        caller = innermost_stepping_frame(frame.f_back)
        self._record_step(ResumeStep(self.steps.statement_at_frame(caller), caller, value, frame))

    def _record_raise(self, error: BaseException, frame: FrameType, stack: list[FrameType] | None = None) -> None:
        line, instruction = exception_position_in_frame(error, frame)
        self._context.observation.everything_requested = True
        stmt, source_line = (
            self._statements.statement_at(frame.f_code, instruction),
            to_program_line(frame.f_code, line),
        )
        self._record_step(RaiseStep(stmt, frame, source_line, stack))
