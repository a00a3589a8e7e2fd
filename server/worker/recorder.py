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
from server.worker.kinds import traceback_of
from server.worker.probes.backward import Backward
from server.worker.probes.swap import Swap
from server.worker.shown import shown
from server.worker.stack import PROGRAM, outwards, stepping, too_deep
from server.worker.steps import Course, Steps

PASS = 0.3
"""The share of the steps that are left which one backward pass may take."""

NOISE = 1000
"""Entries of a step's log after which warnings are no longer added."""

DEPTH = 400
"""Python frames that the recorder may use above the program's deepest."""


class Recorder:
    """Follows one run."""

    def __init__(self, course: Course) -> None:
        self._statements, self._limits, self._full = course.statements, course.limits, course.full
        self._busy = False
        self._over = False
        self._values: dict[int, Any] = {}
        self._beside = course.beside
        self._raised: tuple[int, int] | None = None
        self._printed = 0
        self.again: dict[int, int] | None = None  # the iterations that a second run should show
        self.steps = Steps(course, lambda: self._busy, self._quiet)
        self.look, self.frames, self.ops = self.steps.look, self.steps.frames, self.steps.ops
        self.unseen = self.steps.unseen
        self.swap = Swap(self.look.tensors.names, self.look.storages, self.guard)
        self.backward = Backward(
            self.look.uids,
            self.look.graph,
            self.guard,
            self._backward_begun,
            self._visited,
            self._backward_ended,
            self._asked,
            self.look.storages,
            self._room,
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
        sys.setrecursionlimit(limit + DEPTH)
        try:
            with torch._C.DisableTorchFunction():
                yield
        except Exception as error:
            self.steps.fault(error)
        finally:
            sys.setrecursionlimit(limit)
            self._busy = False

    @contextmanager
    def closed(self) -> Iterator[None]:
        """After the program: what runs of it now is no part of the trace."""
        busy, self._busy, self._over = self._busy, True, True
        try:
            yield
        finally:
            self._busy, self._over = busy, False

    def _quiet(self, on: bool) -> None:
        """A stretch begins, or ends, in which nothing is looked at."""
        self.ops.deaf(on)
        self.backward.deaf = on
        if not on:
            self.steps.everything = self.look.storages.unheard = True

    # What the program calls

    def _step(self, i: int) -> None:
        if self.unseen.on and not self.unseen.sees(sys._getframe(1), i):
            return
        if not self._busy:
            with self.guard():
                frame = sys._getframe(1)
                self._emit("statement", i, frame, told=self._values.pop(id(frame), None))

    def _head(self, i: int, *test: Any) -> Any:
        value, frame = test[0] if test else None, sys._getframe(1)
        if self._statements.rows[i]["kind"] in LOOPS:
            if not self._begins(frame, i, bool(test) and type(value) is bool and not value):
                return value
        elif self.unseen.on and not self.unseen.sees(frame, i):
            return value
        if not self._busy:
            with self.guard():
                self._emit("head", i, frame, value=value)
        return value

    def _begins(self, frame: FrameType, i: int, over: bool) -> bool:
        """A loop's iteration begins, or the test of `while` failed: it is counted; whether the step is recorded."""
        if self.unseen.passes(frame, i):
            return False
        uid = self.frames.uid(frame)
        self.frames.counts[uid, i] = self.frames.counts.get((uid, i), -1) + 1
        path = self.steps.iterations(i, uid, "head")
        if self.unseen.on and self.again is None and not self.steps.spoilt and self.look.spoils():
            self.again = {i: self.unseen.schedule.counts[i] - 1}
        return self.unseen.head(frame, i, path, over, not self.backward.stack and not self._busy)

    def _call(self, _: int) -> None:
        if too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        if self.unseen.on and not self.unseen.sees(sys._getframe(1), None):
            return
        if not self._busy:
            with self.guard():
                frame = sys._getframe(1)
                self.frames.entered(frame)
                self._emit_call("call", frame)

    def _return(self, i: int, value: Any) -> Any:
        if self.unseen.on and not self.unseen.leaves(sys._getframe(1)):
            return value
        if not self._busy:
            with self.guard():
                self._emit("return", i, sys._getframe(1), value=value)
        return value

    def _value(self, i: int, value: Any) -> Any:
        if not self._busy and not self.unseen.on and (value is not None or i in self._beside):
            with self.guard():
                self._values[id(sys._getframe(1))] = self.look.values.encode(value)
                self.steps.shown = shown(value) if i in self._beside else None
        return value

    def _yield(self, i: int, value: Any) -> Any:
        if self.unseen.on and not self.unseen.sees(sys._getframe(1), i):
            self.unseen.sleeps(sys._getframe(1))
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
                    frame = next(f for f in outwards(sys._getframe(1)) if f.f_code.co_filename == PROGRAM)
                    self.frames.resumed(frame)
                    self.unseen.wakes(frame)
                    if self.unseen.sees(frame, self.steps.statement(frame)):
                        self._emit_call("resume", frame, value)
            return value

        if self._busy:
            return resume
        with self.guard():
            return self.frames.suspend(sys._getframe(1), resume)

    def _caught(self) -> None:
        here = sys._getframe(1)
        if self._busy or (self.unseen.on and not self.unseen.sees(here, self.steps.statement(here))):
            return
        with self.guard():
            error = sys.exc_info()[1]
            if error is None or traceback_of(error) is None:
                return
            mark = (id(error), id(traceback_of(error)))
            if mark != self._raised:
                self._raised = mark
                frame = sys._getframe(1)
                if self.frames.thrown_into(frame):
                    self.frames.resumed(frame)
                    self._emit_call("resume", frame)
                self._emit_raise(error, frame)

    def _loop(self, i: int) -> None:
        if not self._busy:
            with self.guard():
                self.frames.counts.pop((self.frames.uid(sys._getframe(1)), i), None)

    def _lambda(self) -> None:
        if too_deep():
            raise RecursionError("maximum recursion depth exceeded")
        self.steps.everything = True

    # What else happens

    def out(self, stream: str, text: str) -> None:
        """The program printed."""
        if not text or self._over:
            return
        room = int(self._limits["output"]) - self._printed
        self._printed += len(text)
        last = self.steps.log[-1] if self.steps.log else None
        told = text[: max(room, 0)]
        told = told if told.isascii() else told.encode("utf-8", "backslashreplace").decode()
        if last is not None and last["kind"] == "out" and last["stream"] == stream:
            last["text"] += told
        else:
            self.steps.log.append({"kind": "out", "stream": stream, "text": told})
        if room < len(text):
            self.stop("output", self._limits["output"])

    def warned(self, category: str, text: str) -> None:
        if len(self.steps.log) < NOISE:
            self.steps.log.append({"kind": "event", "event": "warning", "category": category, "text": text[:2000]})

    def stop(self, limit: str, value: float) -> None:
        """A limit is reached: a last step holds what is not told yet, and the run ends here."""
        self.steps.log.append({"kind": "event", "event": "limit", "limit": limit})
        self.unseen.end()
        self.look.tensors.views.clear()
        frame = stepping(sys._getframe(1))
        if frame is not None and not self._busy:
            with self.guard():
                self._emit("statement", self.steps.statement(frame), frame, last=True)
        self._full(limit, value)

    def raised(self, error: BaseException) -> None:
        """The program ended by an exception: a step that shows every frame it went through."""
        if self.unseen.on:
            self.again = self._active(error)
            self.unseen.end()
        self.look.tensors.views.clear()
        with self.guard():
            frames = [f for f, _ in traceback.walk_tb(traceback_of(error)) if f.f_code.co_filename == PROGRAM]
            if frames:
                self._emit_raise(error, frames[-1], frames)

    def _active(self, error: BaseException) -> dict[int, int]:
        """The loops in which an exception struck, each with how often it had begun an iteration."""
        found: dict[int, int] = {}
        place = traceback_of(error)
        while place is not None:
            code = place.tb_frame.f_code
            i = self._statements.at(code, place.tb_lasti) if code.co_filename == PROGRAM else None
            for loop in self._statements.loops(i, True) if i is not None else ():
                found[loop] = self.unseen.schedule.counts.get(loop, 0)
            place = place.tb_next
        return found

    def end(self, line: int) -> None:
        """After the program: a step of its own if anything still changed."""
        self.unseen.end()
        if self.look.tensors.views.clear():
            self.steps.everything = True
        with self.guard():
            self.steps.line = line
            self._emit("end", None, None, only_news=True)

    # Backward

    def _backward_begun(self, uid: str, facts: dict[str, Any]) -> None:
        self.ops.inside += 1
        self.look.storages.light += 1
        stmt = self.steps.statement(stepping(sys._getframe(1)))
        self.look.picture.put(uid, {**facts, "stmt": stmt})

    def _asked(self, tensor: torch.Tensor) -> str:
        """The engine is about to ask a tensor for its node."""
        uid = self.look.tensors.see(tensor)
        self.look.tensors.views.settle(uid)
        return uid

    def _room(self) -> int:
        """How many steps one backward pass may take."""
        return int((1 - self.steps.spent()) * self._limits["steps"] * PASS)

    def _visited(self, visit: dict[str, Any], node: Any, told: bool) -> None:
        frame = stepping(sys._getframe(1))
        self.look.visited.append((node, visit["node"]))
        self.look.reached += [*self.look.tensors.retaining, *([visit["accumulates"]] if "accumulates" in visit else [])]
        if not told:
            self.steps.unvisited += 1
            return
        self._emit("visit", self.steps.statement(frame), frame, visit=visit)

    def _backward_ended(self, uid: str, inputs: list[str]) -> None:
        self.ops.inside -= 1
        self.look.storages.light -= 1
        self.look.reached += [*self.look.tensors.retaining, *inputs]
        self.look.ended.append(uid)

    # A step

    def _emit(self, kind: str, stmt: int | None, frame: FrameType | None, **more: Any) -> None:
        """See `Steps.take`."""
        if kind != "visit":
            self.backward.flush()
        if sys.exc_info()[0] is None:
            self._raised = None
        self.steps.take(kind, stmt, frame, **more)

    def _emit_call(self, kind: str, frame: FrameType, value: Any = None) -> None:
        """A frame begins or goes on: the step is the calling statement's, and shows the new frame."""
        caller = stepping(frame.f_back)
        self._emit(kind, self.steps.statement(caller), caller, value=value, entered=frame)

    def _emit_raise(self, error: BaseException, frame: FrameType, stack: list[FrameType] | None = None) -> None:
        line, instruction = frame.f_lineno, frame.f_lasti
        place = traceback_of(error)
        while place is not None:
            if place.tb_frame is frame:
                line, instruction = place.tb_lineno, place.tb_lasti
            place = place.tb_next
        self.steps.everything = True
        self._emit("raise", self._statements.at(frame.f_code, instruction), frame, line=line, stack=stack)
