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
    Statements,
)
from server.worker.look import Look
from server.worker.names import referred
from server.worker.probes.backward import Backward
from server.worker.probes.frames import Frames
from server.worker.probes.ops import Ops
from server.worker.probes.swap import Swap
from server.worker.shown import shown
from server.worker.stack import PROGRAM, outwards, own, stepping, too_deep
from server.worker.thinning import Schedule, Unseen
from server.worker.values import values_of

_FOUND = """
storage_allocated storage_freed written version_bumped saved saved_stale saved_changed_silently saved_detached path_cut
graph_released
"""
FOUND = frozenset(_FOUND.split())
"""Events that follow from what a look finds."""

PASS = 0.3
"""The share of the steps that are left which one backward pass may take."""

NOISE = 1000
"""Entries of a step's log after which warnings are no longer added."""

DEPTH = 400
"""Python frames that the recorder may use above the program's deepest."""


class Recorder:
    """Steps of one run.

    module: the program's globals. write: takes a finished step. full: called with a limit's name and its value when
    the run has to end; it does not return. beside: the statements whose value is wanted as a session shows it.
    """

    def __init__(
        self,
        module: dict[str, Any],
        statements: Statements,
        limits: dict[str, int | float],
        write: Callable[[dict[str, Any]], int],
        full: Callable[[str, float], None],
        focus: dict[str, Any] | None = None,
        beside: frozenset[int] = frozenset(),
    ) -> None:
        self._statements, self._limits, self._write, self._full = statements, limits, write, full
        self._busy = False
        self._over = False
        self._log: list[dict[str, Any]] = []
        self._values: dict[int, Any] = {}
        self._beside = beside
        self._shown: str | None = None
        self._raised: tuple[int, int] | None = None
        self._faults = 0
        self._printed = 0
        self._size = 0
        self.unseen = Unseen(statements, Schedule(self._spent, focus), self._quiet)
        self.again: dict[int, int] | None = None  # the iterations that a second run should show
        self._unvisited = 0  # visits of a long backward that are no steps
        self._spoilt = False  # a slot was seen to turn stale, or to change silently
        self.count = 0
        self.line = 1
        self.look = Look(self._fault)
        self.frames = Frames(
            self.look.uids, self.look.picture, module, self.look.values, self.look.reach, statements.fading
        )
        self._everything = True  # the next step looks at all that lives
        self._came: list[tuple[int, str | None]] = []  # (depth, tensor or None for anything) that functions gave back
        self.ops = Ops(
            self.look.tensors, self.look.storages, self._append, lambda: self._busy or self.unseen.on, self._fault
        )
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
            self._fault(error)
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

    def _fault(self, error: BaseException) -> None:
        self._faults += 1
        if self._faults <= 20:
            last = traceback.extract_tb(error.__traceback__)[-1:]
            where = f" ({last[0].name}:{last[0].lineno})" if last else ""
            text = f"{type(error).__name__}: {error}"[:300] + where
            self._log.append({"kind": "event", "event": "tracer_fault", "text": text})

    def _append(self, entry: dict[str, Any]) -> int:
        self._log.append(entry)
        return len(self._log) - 1

    def _spent(self) -> float:
        """The share of what a trace may hold that is used."""
        return max(self.count / self._limits["steps"], self._size / self._limits["trace"])

    def _quiet(self, on: bool) -> None:
        """A stretch begins, or ends, in which nothing is looked at."""
        self.ops.deaf(on)
        self.backward.deaf = on
        if not on:
            self._everything = self.look.storages.unheard = True

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
        path = self._iterations(i, uid, "head")
        if self.unseen.on and self.again is None and not self._spoilt and self.look.spoils():
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
                self._shown = shown(value) if i in self._beside else None
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
                    if self.unseen.sees(frame, self._statement(frame)):
                        self._emit_call("resume", frame, value)
            return value

        if self._busy:
            return resume
        with self.guard():
            return self.frames.suspend(sys._getframe(1), resume)

    def _caught(self) -> None:
        here = sys._getframe(1)
        if self._busy or (self.unseen.on and not self.unseen.sees(here, self._statement(here))):
            return
        with self.guard():
            error = sys.exc_info()[1]
            if error is None or error.__traceback__ is None:
                return
            mark = (id(error), id(error.__traceback__))
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
        self._everything = True

    # What else happens

    def out(self, stream: str, text: str) -> None:
        """The program printed."""
        if not text or self._over:
            return
        room = int(self._limits["output"]) - self._printed
        self._printed += len(text)
        last = self._log[-1] if self._log else None
        told = text[: max(room, 0)]
        told = told if told.isascii() else told.encode("utf-8", "backslashreplace").decode()
        if last is not None and last["kind"] == "out" and last["stream"] == stream:
            last["text"] += told
        else:
            self._log.append({"kind": "out", "stream": stream, "text": told})
        if room < len(text):
            self.stop("output", self._limits["output"])

    def warned(self, category: str, text: str) -> None:
        if len(self._log) < NOISE:
            self._log.append({"kind": "event", "event": "warning", "category": category, "text": text[:2000]})

    def stop(self, limit: str, value: float) -> None:
        """A limit is reached: a last step holds what is not told yet, and the run ends here."""
        self._log.append({"kind": "event", "event": "limit", "limit": limit})
        self.unseen.end()
        self.look.tensors.views.clear()
        frame = stepping(sys._getframe(1))
        if frame is not None and not self._busy:
            with self.guard():
                self._emit("statement", self._statement(frame), frame, last=True)
        self._full(limit, value)

    def raised(self, error: BaseException) -> None:
        """The program ended by an exception: a step that shows every frame it went through."""
        if self.unseen.on:
            self.again = self._active(error)
            self.unseen.end()
        self.look.tensors.views.clear()
        with self.guard():
            frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if f.f_code.co_filename == PROGRAM]
            if frames:
                self._emit_raise(error, frames[-1], frames)

    def _active(self, error: BaseException) -> dict[int, int]:
        """The loops in which an exception struck, each with how often it had begun an iteration."""
        found: dict[int, int] = {}
        place = error.__traceback__
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
        self.look.tensors.views.clear()
        self._everything = True
        with self.guard():
            self.line = line
            self._emit("end", None, None, only_news=True)

    # Backward

    def _backward_begun(self, uid: str, facts: dict[str, Any]) -> None:
        self.ops.inside += 1
        self.look.storages.light += 1
        stmt = self._statement(stepping(sys._getframe(1)))
        self.look.picture.put(uid, {**facts, "stmt": stmt})

    def _asked(self, tensor: torch.Tensor) -> str:
        """The engine is about to ask a tensor for its node."""
        uid = self.look.tensors.see(tensor)
        self.look.tensors.views.settle(uid)
        return uid

    def _room(self) -> int:
        """How many steps one backward pass may take."""
        return int((1 - self._spent()) * self._limits["steps"] * PASS)

    def _visited(self, visit: dict[str, Any], node: Any, told: bool) -> None:
        frame = stepping(sys._getframe(1))
        self.look.visited.append((node, visit["node"]))
        self.look.reached += [*self.look.tensors.retaining, *([visit["accumulates"]] if "accumulates" in visit else [])]
        if not told:
            self._unvisited += 1
            return
        self._emit("visit", self._statement(frame), frame, visit=visit)

    def _backward_ended(self, uid: str, inputs: list[str]) -> None:
        self.ops.inside -= 1
        self.look.storages.light -= 1
        self.look.reached += [*self.look.tensors.retaining, *inputs]
        self.look.ended.append(uid)

    # A step

    def _statement(self, frame: FrameType | None) -> int | None:
        return None if frame is None else self._statements.at(frame.f_code, frame.f_lasti)

    def _emit_call(self, kind: str, frame: FrameType, value: Any = None) -> None:
        """A frame begins or goes on: the step is the calling statement's, and shows the new frame."""
        caller = stepping(frame.f_back)
        self._emit(kind, self._statement(caller), caller, value=value, entered=frame)

    def _emit_raise(self, error: BaseException, frame: FrameType, stack: list[FrameType] | None = None) -> None:
        line, instruction = frame.f_lineno, frame.f_lasti
        place = error.__traceback__
        while place is not None:
            if place.tb_frame is frame:
                line, instruction = place.tb_lineno, place.tb_lasti
            place = place.tb_next
        self._everything = True
        self._emit("raise", self._statements.at(frame.f_code, instruction), frame, line=line, stack=stack)

    def _emit(
        self,
        kind: str,
        stmt: int | None,
        frame: FrameType | None,
        *,
        value: Any = None,
        told: Any = None,
        visit: dict[str, Any] | None = None,
        line: int | None = None,
        suspended: str | None = None,
        entered: FrameType | None = None,
        stack: list[FrameType] | None = None,
        only_news: bool = False,
        last: bool = False,
    ) -> None:
        if kind != "visit":
            self.backward.flush()
        if sys.exc_info()[0] is None:
            self._raised = None
        if line is None:
            line = self._statements.rows[stmt]["line"] if stmt is not None else self.line
        self.line = line
        uid = self.frames.uid(frame) if frame is not None else self.frames.module_uid
        under = self.frames.depth(frame, uid)
        said = self._statements.mentions[stmt] if stmt is not None else None
        iterations = self._iterations(stmt, uid, kind) if stmt is not None and frame is not None else []
        unknown = frame is None or said is None or said.anything or self._statements.untraceable
        everything = self._came_back(under) or self._everything or unknown or last
        self._everything = False
        log = self._log
        skipped = self.unseen.take()
        self.look.saved.late = bool(skipped)
        value_told = [told]

        def frames(everything: bool) -> bool:
            known = True
            if everything or frame is None or said is None:
                self.frames.look(stack if stack is not None else own(entered or frame), suspended)
            else:
                known = self.frames.step(frame, said, not iterations or not iterations[-1], suspended)
                if known and entered is not None:
                    known = self.frames.enter(entered, frame)
            if value is not None:
                value_told[0] = self.look.values.encode(value)
                if kind in ("return", "yield"):
                    self._gives_back(under, value_told[0])
            return known

        target = visit.get("accumulates") if visit is not None else None
        first = target is not None and self.look.picture.state.get(target, {}).get("grad") is None
        opens = said is not None and said.opens
        try:
            set_, gone = self.look.take(self.count, frames, self.ops, log, self.frames.over, everything, opens)
        except Exception as error:  # the step is told all the same, with what was found until then
            self._fault(error)
            self._everything = True
            set_, gone = self.look.picture.take()
        self._events(log, skipped)
        if target is not None:
            grad = self.look.picture.state.get(target, {}).get("grad")
            if grad is not None:
                log.append(
                    {"kind": "event", "event": "grad_accumulated", "tensor": target, "grad": grad, "first": first}
                )
        if only_news and not set_ and not gone and not log:
            return
        step: dict[str, Any] = {"i": self.count, "kind": kind, "stmt": stmt, "line": line}
        if iterations:
            step["iter"] = iterations
        step["frame"], step["depth"] = uid, under
        if skipped or self._unvisited:
            step["skipped"], self._unvisited = skipped + self._unvisited, 0
        if value_told[0] is not None:
            step["value"] = value_told[0]
        if self._shown is not None:
            step["shown"], self._shown = self._shown, None
        step["set"], step["gone"], step["log"] = set_, gone, log
        if visit is not None:
            step["visit"] = visit
        self.ops.clear()
        try:
            self._size += self._write(step)
        except (TypeError, ValueError) as error:  # something in it is no JSON: the step is told without it
            log.clear()
            self._fault(error)
            self._write({**step, "set": {}, "value": None})
        log.clear()  # a new one would take the place of a list that the program just freed
        self.count += 1
        if self.count >= self._limits["steps"] and not last:
            self._full("steps", self._limits["steps"])

    def _events(self, log: list[dict[str, Any]], skipped: int) -> None:
        """What is found after unseen statements happened somewhere among them."""
        for entry in log:
            if entry["kind"] == "event":
                self._spoilt = self._spoilt or entry["event"] in ("saved_stale", "saved_changed_silently")
                if skipped and "op" not in entry and entry["event"] in FOUND:
                    entry["span"] = [self.count - 1, self.count]

    def _iterations(self, stmt: int, uid: str, kind: str) -> list[int]:
        """How often each loop around the statement has begun anew, outermost first."""
        counts = self.frames.counts
        loops = self._statements.loops(stmt, inside=kind == "head")
        return [counts[uid, i] for i in loops if (uid, i) in counts]

    def _gives_back(self, under: int, told: Any) -> None:
        """What a function returns may be changed by its caller, on no path that the text shows."""
        which = referred(told)
        if which is None:
            tensor = told.get("ref") if type(told) is dict else None
            if tensor is not None or (type(told) is dict and "py" in told):
                self._came.append((under, tensor))
            return
        inner = [told, *values_of(self.look.picture.state[which])]
        for part in inner:
            ref = part.get("ref") if type(part) is dict else None
            if ref is not None and ref[0] == "t":
                self._came.append((under, ref))
        if self.look.values.objects.told(which):
            self._came.append((under, None))

    def _came_back(self, under: int) -> bool:
        """Have looked at what came back from deeper frames; whether that may be anything."""
        if not self._came:
            return False
        self.look.reached += [uid for _, uid in self._came if uid is not None]
        anything = any(uid is None for depth, uid in self._came if depth > under)
        self._came = [(depth, uid) for depth, uid in self._came if depth <= under]
        return anything
