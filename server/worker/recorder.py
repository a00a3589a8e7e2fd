"""The recorder: called by the instrumented program, it looks at what changed and writes a step.

Looking changes nothing that the program can see: no user code runs, nothing is kept alive, every fault of ours is
fenced and told as an event. What to see of each kind of thing is the probes' business; when to look is decided here.
"""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

from server.worker.displayhook import display_text
from server.worker.instrument import (
    CALL,
    CAUGHT,
    HEAD,
    LAMBDA,
    LOOP,
    LOOPS,
    RESUME,
    RETURN,
    STEP,
    VALUE,
    YIELD,
)
from server.worker.introspection import traceback_of
from server.worker.probes.backward import Backward
from server.worker.probes.swap import Swap
from server.worker.stack import PROGRAM, frames_outward, stepping_frame, too_deep
from server.worker.step_recorder import RunContext, StepRecorder

BACKWARD_SHARE = 0.3
"""The share of the steps that are left which one backward pass may take."""

MAX_WARNED_LOG = 1000
"""Entries of a step's log after which warnings are no longer added."""

RECURSION_ALLOWANCE = 400
"""Python frames that the recorder may use above the program's deepest."""


class Recorder:
    """Follows one run."""

    def __init__(self, context: RunContext) -> None:
        self._statements, self._limits, self._stop_at_limit = context.statements, context.limits, context.stop_at_limit
        self._busy = False
        self._closed = False
        self._expression_values: dict[int, Any] = {}
        self._displayed = context.displayed
        self._last_raised: tuple[int, int] | None = None
        self._printed_chars = 0
        self.focus_counts: dict[int, int] | None = None  # the iterations that a second run should show
        self.steps = StepRecorder(context, lambda: self._busy, self._mute)
        self.observer, self.frames, self.ops = self.steps.observer, self.steps.frames, self.steps.ops
        self.skipped_iterations = self.steps.skipped_iterations
        self.swap = Swap(self.observer.tensors.uids, self.observer.storages, self.guard)
        self.backward = Backward(
            self.observer.uids,
            self.observer.graph,
            self.guard,
            self._begin_backward,
            self._record_visit,
            self._end_backward,
            self._uid_of_queried,
            self.observer.storages,
            self._step_budget,
        )

    def hooks(self) -> dict[str, Callable[..., Any]]:
        """What the instrumented program calls, by name."""
        return {
            STEP: self._step,
            HEAD: self._head,
            CALL: self._call,
            RETURN: self._return,
            VALUE: self._value,
            YIELD: self._yield,
            RESUME: self._resume,
            CAUGHT: self._caught,
            LOOP: self._loop,
            LAMBDA: self._lambda,
        }

    @contextmanager
    def guard(self) -> Iterator[None]:
        """The recorder at work: its own torch calls are not recorded, its faults do not reach the program."""
        if self._busy:
            yield
            return
        limit = sys.getrecursionlimit()
        self._busy = True
        sys.setrecursionlimit(limit + RECURSION_ALLOWANCE)
        try:
            with torch._C.DisableTorchFunction():
                yield
        except Exception as error:
            self.steps.fault(error)
        finally:
            sys.setrecursionlimit(limit)
            self._busy = False

    @contextmanager
    def program_over(self) -> Iterator[None]:
        """After the program: what runs of it now is no part of the trace."""
        busy, self._busy, self._closed = self._busy, True, True
        try:
            yield
        finally:
            self._busy, self._closed = busy, False

    def _mute(self, on: bool) -> None:
        """A stretch begins, or ends, in which nothing is looked at."""
        self.ops.mute(on)
        self.backward.muted = on
        if not on:
            self.steps.observe_all = self.observer.storages.ops_unobserved = True

    # What the program calls

    def _step(self, i: int) -> None:
        if self.skipped_iterations.active and not self.skipped_iterations.is_recorded(sys._getframe(1), i):
            return
        if not self._busy:
            with self.guard():
                frame = sys._getframe(1)
                self._emit("statement", i, frame, encoded_value=self._expression_values.pop(id(frame), None))

    def _head(self, i: int, *test: Any) -> Any:
        value, frame = test[0] if test else None, sys._getframe(1)
        if self._statements.rows[i]["kind"] in LOOPS:
            if not self._begin_iteration(frame, i, bool(test) and type(value) is bool and not value):
                return value
        elif self.skipped_iterations.active and not self.skipped_iterations.is_recorded(frame, i):
            return value
        if not self._busy:
            with self.guard():
                self._emit("head", i, frame, value=value)
        return value

    def _begin_iteration(self, frame: FrameType, i: int, loop_ended: bool) -> bool:
        """A loop's iteration begins, or the test of `while` failed: it is counted; whether the step is recorded."""
        if self.skipped_iterations.count_iteration(frame, i):
            return False
        uid = self.frames.uid(frame)
        self.frames.iteration_counts[uid, i] = self.frames.iteration_counts.get((uid, i), -1) + 1
        path = self.steps.iterations(i, uid, "head")
        if (
            self.skipped_iterations.active
            and self.focus_counts is None
            and not self.steps.saved_tensors_modified
            and self.observer.saved_tensors_modified()
        ):
            self.focus_counts = {i: self.skipped_iterations.schedule.counts[i] - 1}
        return self.skipped_iterations.begin_iteration(
            frame, i, path, loop_ended, not self.backward.stack and not self._busy
        )

    def _call(self, _: int) -> None:
        if too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        if self.skipped_iterations.active and not self.skipped_iterations.is_recorded(sys._getframe(1), None):
            return
        if not self._busy:
            with self.guard():
                frame = sys._getframe(1)
                self.frames.begin_call(frame)
                self._emit_call("call", frame)

    def _return(self, i: int, value: Any) -> Any:
        if self.skipped_iterations.active and not self.skipped_iterations.is_return_recorded(sys._getframe(1)):
            return value
        if not self._busy:
            with self.guard():
                self._emit("return", i, sys._getframe(1), value=value)
        return value

    def _value(self, i: int, value: Any) -> Any:
        if not self._busy and not self.skipped_iterations.active and (value is not None or i in self._displayed):
            with self.guard():
                self._expression_values[id(sys._getframe(1))] = self.observer.values.encode(value)
                self.steps.display_text = display_text(value) if i in self._displayed else None
        return value

    def _yield(self, i: int, value: Any) -> Any:
        if self.skipped_iterations.active and not self.skipped_iterations.is_recorded(sys._getframe(1), i):
            self.skipped_iterations.suspend(sys._getframe(1))
            return value
        if not self._busy:
            with self.guard():
                frame = sys._getframe(1)
                self._emit("yield", i, frame, value=value, suspended=self.frames.uid(frame))
        return value

    def _resume(self, _: int) -> Callable[[Any], Any]:
        def resume(value: Any) -> Any:
            if not self._busy:
                with self.guard():
                    frame = next(f for f in frames_outward(sys._getframe(1)) if f.f_code.co_filename == PROGRAM)
                    self.frames.resume(frame)
                    self.skipped_iterations.resume(frame)
                    if self.skipped_iterations.is_recorded(frame, self.steps.statement(frame)):
                        self._emit_call("resume", frame, value)
            return value

        if self._busy:
            return resume
        with self.guard():
            return self.frames.suspend(sys._getframe(1), resume)

    def _caught(self) -> None:
        frame = sys._getframe(1)
        if self._busy or (
            self.skipped_iterations.active
            and not self.skipped_iterations.is_recorded(frame, self.steps.statement(frame))
        ):
            return
        with self.guard():
            error = sys.exc_info()[1]
            if error is None or traceback_of(error) is None:
                return
            mark = (id(error), id(traceback_of(error)))
            if mark != self._last_raised:
                self._last_raised = mark
                if self.frames.was_woken_by_exception(frame):
                    self.frames.resume(frame)
                    self._emit_call("resume", frame)
                self._emit_raise(error, frame)

    def _loop(self, i: int) -> None:
        if not self._busy:
            with self.guard():
                self.frames.iteration_counts.pop((self.frames.uid(sys._getframe(1)), i), None)

    def _lambda(self) -> None:
        if too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        self.steps.observe_all = True

    # What else happens

    def write_output(self, stream: str, text: str) -> None:
        """The program printed."""
        if not text or self._closed:
            return
        room = int(self._limits["output"]) - self._printed_chars
        self._printed_chars += len(text)
        is_last = self.steps.log[-1] if self.steps.log else None
        is_step = text[: max(room, 0)]
        is_step = is_step if is_step.isascii() else is_step.encode("utf-8", "backslashreplace").decode()
        if is_last is not None and is_last["kind"] == "out" and is_last["stream"] == stream:
            is_last["text"] += is_step
        else:
            self.steps.log.append({"kind": "out", "stream": stream, "text": is_step})
        if room < len(text):
            self.reach_limit("output", self._limits["output"])

    def record_warning(self, category: str, text: str) -> None:
        if len(self.steps.log) < MAX_WARNED_LOG:
            self.steps.log.append({"kind": "event", "event": "warning", "category": category, "text": text[:2000]})

    def reach_limit(self, limit: str, value: float) -> None:
        """A limit is reached: a last step holds what is not told yet, and the run ends here."""
        self.steps.log.append({"kind": "event", "event": "limit", "limit": limit})
        self.skipped_iterations.end()
        self.observer.tensors.stale_views.clear_all()
        frame = stepping_frame(sys._getframe(1))
        if frame is not None and not self._busy:
            with self.guard():
                self._emit("statement", self.steps.statement(frame), frame, is_last=True)
        self._stop_at_limit(limit, value)

    def record_exception(self, error: BaseException) -> None:
        """The program ended by an exception: a step that shows every frame it went through."""
        if self.skipped_iterations.active:
            self.focus_counts = self._active_loops(error)
            self.skipped_iterations.end()
        self.observer.tensors.stale_views.clear_all()
        with self.guard():
            frames = [f for f, _ in traceback.walk_tb(traceback_of(error)) if f.f_code.co_filename == PROGRAM]
            if frames:
                self._emit_raise(error, frames[-1], frames)

    def _active_loops(self, error: BaseException) -> dict[int, int]:
        """The loops in which an exception struck, each with how often it had begun an iteration."""
        iterations: dict[int, int] = {}
        position = traceback_of(error)
        while position is not None:
            code = position.tb_frame.f_code
            i = self._statements.at(code, position.tb_lasti) if code.co_filename == PROGRAM else None
            for loop in self._statements.loops(i, True) if i is not None else ():
                iterations[loop] = self.skipped_iterations.schedule.counts.get(loop, 0)
            position = position.tb_next
        return iterations

    def record_end(self, line: int) -> None:
        """After the program: a step of its own if anything still changed."""
        self.skipped_iterations.end()
        if self.observer.tensors.stale_views.clear_all():
            self.steps.observe_all = True
        with self.guard():
            self.steps.line = line
            self._emit("end", None, None, only_if_changed=True)

    # Backward

    def _begin_backward(self, uid: str, facts: dict[str, Any]) -> None:
        self.ops.running_backwards += 1
        self.observer.storages.running_backwards += 1
        stmt = self.steps.statement(stepping_frame(sys._getframe(1)))
        self.observer.picture.update(uid, {**facts, "stmt": stmt})

    def _uid_of_queried(self, tensor: torch.Tensor) -> str:
        """The engine is about to ask a tensor for its node."""
        uid = self.observer.tensors.register(tensor)
        self.observer.tensors.stale_views.mark_current(uid)
        return uid

    def _step_budget(self) -> int:
        """How many steps one backward pass may take."""
        return int((1 - self.steps.share_used()) * self._limits["steps"] * BACKWARD_SHARE)

    def _record_visit(self, visit: dict[str, Any], node: Any, is_step: bool) -> None:
        frame = stepping_frame(sys._getframe(1))
        self.observer.visited_nodes.append((node, visit["node"]))
        self.observer.reached_tensors += [
            *self.observer.tensors.retaining_grad,
            *([visit["accumulates"]] if "accumulates" in visit else []),
        ]
        if not is_step:
            self.steps.skipped_visits += 1
            return
        self._emit("visit", self.steps.statement(frame), frame, visit=visit)

    def _end_backward(self, uid: str, inputs: list[str]) -> None:
        self.ops.running_backwards -= 1
        self.observer.storages.running_backwards -= 1
        self.observer.reached_tensors += [*self.observer.tensors.retaining_grad, *inputs]
        self.observer.ended_backwards.append(uid)

    # A step

    def _emit(self, kind: str, stmt: int | None, frame: FrameType | None, **more: Any) -> None:
        """See `Steps.take`."""
        if kind != "visit":
            self.backward.flush()
        if sys.exc_info()[0] is None:
            self._last_raised = None
        self.steps.record_step(kind, stmt, frame, **more)

    def _emit_call(self, kind: str, frame: FrameType, value: Any = None) -> None:
        """A frame begins or goes on: the step is the calling statement's, and shows the new frame."""
        caller = stepping_frame(frame.f_back)
        self._emit(kind, self.steps.statement(caller), caller, value=value, entered_frame=frame)

    def _emit_raise(self, error: BaseException, frame: FrameType, stack: list[FrameType] | None = None) -> None:
        line, instruction = frame.f_lineno, frame.f_lasti
        position = traceback_of(error)
        while position is not None:
            if position.tb_frame is frame:
                line, instruction = position.tb_lineno, position.tb_lasti
            position = position.tb_next
        self.steps.observe_all = True
        self._emit("raise", self._statements.at(frame.f_code, instruction), frame, line=line, stack=stack)
