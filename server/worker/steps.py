"""Steps: a look at the right things, what it found, and how that is written."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from server.worker.instrument import Statements
from server.worker.look import Look
from server.worker.names import referred
from server.worker.probes.frames import Frames
from server.worker.probes.ops import Ops
from server.worker.stack import own
from server.worker.thinning import Schedule, Unseen
from server.worker.values import values_of

_FOUND = """
storage_allocated storage_freed written version_bumped saved saved_stale saved_changed_silently saved_detached path_cut
graph_released
"""
FOUND = frozenset(_FOUND.split())
"""Events that follow from what a look finds."""

FAULTS = 20
"""Faults of ours that a trace tells."""


@dataclass(frozen=True)
class Course:
    """What a run is made of, and what it is held to.

    module: the program's globals. write: takes a finished step, gives its bytes. full: called with a limit's name and
    its value when the run has to end; it does not return. focus: see `Schedule`. beside: the statements whose value is
    wanted as a session shows it.
    """

    module: dict[str, Any]
    statements: Statements
    limits: dict[str, int | float]
    write: Callable[[dict[str, Any]], int]
    full: Callable[[str, float], None]
    focus: dict[str, Any]
    beside: frozenset[int] = frozenset()


class Steps:
    """The steps of one run, and what is noted until the next.

    busy: whether the recorder is at work. quiet: see `Unseen`.
    """

    def __init__(self, course: Course, busy: Callable[[], bool], quiet: Callable[[bool], None]) -> None:
        self._course, self._statements, self._limits = course, course.statements, course.limits
        self.log: list[dict[str, Any]] = []
        self.count = 0
        self.line = 1
        self.shown: str | None = None  # what a session would show of the statement's value
        self.everything = True  # the next step looks at all that lives
        self.spoilt = False  # a slot was seen to turn stale, or to change silently
        self.unvisited = 0  # visits of a long backward that are no steps
        self._size = self._faults = 0
        self._came: list[tuple[int, str | None]] = []  # (depth, tensor or None for anything) that functions gave back
        self.unseen = Unseen(self._statements, Schedule(self.spent, course.focus), quiet)
        self.look = Look(self.fault)
        look = self.look
        self.frames = Frames(look.uids, look.picture, course.module, look.values, look.reach, self._statements.fading)
        self.ops = Ops(look.tensors, look.storages, self.append, lambda: busy() or self.unseen.on, self.fault)

    def spent(self) -> float:
        """The share of what a trace may hold that is used."""
        return max(self.count / self._limits["steps"], self._size / self._limits["trace"])

    def append(self, entry: dict[str, Any]) -> int:
        """Its place in the log."""
        self.log.append(entry)
        return len(self.log) - 1

    def fault(self, error: BaseException) -> None:
        """Something of ours went wrong: it is told, and goes no further."""
        self._faults += 1
        if self._faults <= FAULTS:
            last = traceback.extract_tb(error.__traceback__)[-1:]
            where = f" ({last[0].name}:{last[0].lineno})" if last else ""
            text = f"{type(error).__name__}: {error}"[:300] + where
            self.log.append({"kind": "event", "event": "tracer_fault", "text": text})

    def statement(self, frame: FrameType | None) -> int | None:
        """The one that runs in a frame."""
        return None if frame is None else self._statements.at(frame.f_code, frame.f_lasti)

    def take(
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
        """Look, and write the step.

        kind, stmt, line: as in the trace; line by itself is the statement's. frame: the program's, whose step it is.
        value: what the step hands over. told: the value of a bare expression, as told already. visit: a node's, in
        backward. suspended: the uid of a frame that yields. entered: a frame that begins. stack: frames that an
        exception went through. only_news: no step where nothing is new. last: the run ends with it.
        """
        if line is None:
            line = self._statements.rows[stmt]["line"] if stmt is not None else self.line
        self.line = line
        uid = self.frames.uid(frame) if frame is not None else self.frames.module_uid
        under = self.frames.depth(frame, uid)
        said = self._statements.mentions[stmt] if stmt is not None else None
        iterations = self.iterations(stmt, uid, kind) if stmt is not None and frame is not None else []
        unknown = self._statements.untraceable or (said.anything if said is not None else kind != "end")
        everything = self._came_back(under) or self.everything or unknown or last
        self.everything = False
        log = self.log
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
            self.fault(error)
            self.everything = True
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
        if skipped or self.unvisited:
            step["skipped"], self.unvisited = skipped + self.unvisited, 0
        if value_told[0] is not None:
            step["value"] = value_told[0]
        if self.shown is not None:
            step["shown"], self.shown = self.shown, None
        step["set"], step["gone"], step["log"] = set_, gone, log
        if visit is not None:
            step["visit"] = visit
        self.ops.clear()
        try:
            self._size += self._course.write(step)
        except (TypeError, ValueError) as error:  # something in it is no JSON: the step is told without it
            log.clear()
            self.fault(error)
            self._course.write({**step, "set": {}, "value": None})
        log.clear()  # a new one would take the place of a list that the program just freed
        self.count += 1
        if last:
            return
        if self.count >= self._limits["steps"]:
            self._course.full("steps", self._limits["steps"])
        if len(self.look.tensors.names) > self._limits["tensors"]:
            self._course.full("tensors", self._limits["tensors"])

    def _events(self, log: list[dict[str, Any]], skipped: int) -> None:
        """What is found after unseen statements happened somewhere among them."""
        for entry in log:
            if entry["kind"] == "event":
                self.spoilt = self.spoilt or entry["event"] in ("saved_stale", "saved_changed_silently")
                if skipped and "op" not in entry and entry["event"] in FOUND:
                    entry["span"] = [self.count - 1, self.count]

    def iterations(self, stmt: int, uid: str, kind: str) -> list[int]:
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
