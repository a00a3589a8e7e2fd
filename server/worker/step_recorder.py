"""Steps: a look at the right things, what it found, and how that is written."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from server.wire.events import EVENTS
from server.worker.instrument import Statements
from server.worker.observer import Observer
from server.worker.probes.frames import Frames
from server.worker.probes.ops import Ops
from server.worker.stack import program_frames
from server.worker.thinning import Schedule, SkippedIterations
from server.worker.uids import object_ref
from server.worker.values import values_of

INFERRED_EVENTS = frozenset(name for name, row in EVENTS.items() if row.observed)
"""Events that follow from what an observation finds."""

MAX_FAULTS = 20
"""Faults of ours that a trace tells."""


@dataclass(frozen=True)
class RunContext:
    """What a run is made of, and what it is held to.

    module: the program's globals. write: takes a finished step, returns its size in bytes. stop_at_limit: called with
    a limit's name and its value when the run has to end; it does not return. focus: see `Schedule`. displayed: the
    statements whose value is wanted as an interactive session shows it.
    """

    module: dict[str, Any]
    statements: Statements
    limits: dict[str, int | float]
    write: Callable[[dict[str, Any]], int]
    stop_at_limit: Callable[[str, float], None]
    focus: dict[str, Any]
    displayed: frozenset[int] = frozenset()


class StepRecorder:
    """The steps of one run, and what is noted until the next.

    busy: whether the recorder is at work. mute: see `SkippedIterations`.
    """

    def __init__(self, context: RunContext, busy: Callable[[], bool], mute: Callable[[bool], None]) -> None:
        self._context, self._statements, self._limits = context, context.statements, context.limits
        self.log: list[dict[str, Any]] = []
        self.count = 0
        self.line = 1
        self.display_text: str | None = None  # what a session would show of the statement's value
        self.observe_all = True  # the next step looks at all that lives
        self.saved_tensors_modified = False  # a slot was seen to turn stale, or to change silently
        self.skipped_visits = 0  # visits of a long backward that are no steps
        self._size = self._faults = 0
        self._handed_out: list[
            tuple[int, str | None]
        ] = []  # (depth, tensor or None for anything) that functions gave back
        self.skipped_iterations = SkippedIterations(self._statements, Schedule(self.share_used, context.focus), mute)
        self.observer = Observer(self.fault)
        observer = self.observer
        self.frames = Frames(
            observer.uids,
            observer.picture,
            context.module,
            observer.values,
            observer.reach,
            self._statements.handler_names,
        )
        self.ops = Ops(
            observer.tensors,
            observer.storages,
            self.append,
            lambda: busy() or self.skipped_iterations.active,
            self.fault,
        )

    def share_used(self) -> float:
        """The share of what a trace may hold that is used."""
        return max(self.count / self._limits["steps"], self._size / self._limits["trace"])

    def append(self, entry: dict[str, Any]) -> int:
        """Its place in the log."""
        self.log.append(entry)
        return len(self.log) - 1

    def fault(self, error: BaseException) -> None:
        """Something of ours went wrong: it is told, and goes no further."""
        self._faults += 1
        if self._faults <= MAX_FAULTS:
            last = traceback.extract_tb(error.__traceback__)[-1:]
            where = f" ({last[0].name}:{last[0].lineno})" if last else ""
            text = f"{type(error).__name__}: {error}"[:300] + where
            self.log.append({"kind": "event", "event": "tracer_fault", "text": text})

    def statement(self, frame: FrameType | None) -> int | None:
        """The one that runs in a frame."""
        return None if frame is None else self._statements.at(frame.f_code, frame.f_lasti)

    def record_step(
        self,
        kind: str,
        stmt: int | None,
        frame: FrameType | None,
        *,
        value: Any = None,
        encoded_value: Any = None,
        visit: dict[str, Any] | None = None,
        line: int | None = None,
        suspended: str | None = None,
        entered_frame: FrameType | None = None,
        stack: list[FrameType] | None = None,
        only_if_changed: bool = False,
        is_last: bool = False,
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
        frame_uid = self.frames.uid(frame) if frame is not None else self.frames.module_uid
        depth = self.frames.stepping_depth(frame, frame_uid)
        effects = self._statements.effects[stmt] if stmt is not None else None
        iterations = self.iterations(stmt, frame_uid, kind) if stmt is not None and frame is not None else []
        effects_unknown = self._statements.passes_mutators or (
            effects.unknown if effects is not None else kind != "end"
        )
        observe_all = self._observe_handed_out(depth) or self.observe_all or effects_unknown or is_last
        self.observe_all = False
        log = self.log
        skipped = self.skipped_iterations.take_count()
        self.observer.saved_tensors.after_unobserved = bool(skipped)
        encoded_result = [encoded_value]

        def frames(observe_all: bool) -> bool:
            known = True
            if observe_all or frame is None or effects is None:
                self.frames.observe_stack(
                    stack if stack is not None else program_frames(entered_frame or frame), suspended
                )
            else:
                known = self.frames.observe_statement(frame, effects, not iterations or not iterations[-1], suspended)
                if known and entered_frame is not None:
                    known = self.frames.observe_entered(entered_frame, frame)
            if value is not None:
                encoded_result[0] = self.observer.values.encode(value)
                if kind in ("return", "yield"):
                    self._note_handed_out(depth, encoded_result[0])
            return known

        accumulated_into = visit.get("accumulates") if visit is not None else None
        first_gradient = (
            accumulated_into is not None and self.observer.picture.state.get(accumulated_into, {}).get("grad") is None
        )
        exposes_memory = effects is not None and effects.exposes_memory
        try:
            set_, gone = self.observer.observe(
                self.count, frames, self.ops, log, self.frames.retired, observe_all, exposes_memory
            )
        except Exception as error:  # the step is told all the same, with what was found until then
            self.fault(error)
            self.observe_all = True
            set_, gone = self.observer.picture.flush()
        self._mark_inferred(log, skipped)
        if accumulated_into is not None:
            grad = self.observer.picture.state.get(accumulated_into, {}).get("grad")
            if grad is not None:
                log.append(
                    {
                        "kind": "event",
                        "event": "grad_accumulated",
                        "tensor": accumulated_into,
                        "grad": grad,
                        "first": first_gradient,
                    }
                )
        if only_if_changed and not set_ and not gone and not log:
            return
        step: dict[str, Any] = {"i": self.count, "kind": kind, "stmt": stmt, "line": line}
        if iterations:
            step["iter"] = iterations
        step["frame"], step["depth"] = frame_uid, depth
        if skipped or self.skipped_visits:
            step["skipped"], self.skipped_visits = skipped + self.skipped_visits, 0
        if encoded_result[0] is not None:
            step["value"] = encoded_result[0]
        if self.display_text is not None:
            step["shown"], self.display_text = self.display_text, None
        step["set"], step["gone"], step["log"] = set_, gone, log
        if visit is not None:
            step["visit"] = visit
        self.ops.clear()
        try:
            self._size += self._context.write(step)
        except (TypeError, ValueError) as error:  # something in it is no JSON: the step is told without it
            log.clear()
            self.fault(error)
            self._context.write({**step, "set": {}, "value": None})
        log.clear()  # a new one would take the place of a list that the program just freed
        self.count += 1
        if is_last:
            return
        if self.count >= self._limits["steps"]:
            self._context.stop_at_limit("steps", self._limits["steps"])
        if len(self.observer.tensors.uids) > self._limits["tensors"]:
            self._context.stop_at_limit("tensors", self._limits["tensors"])

    def _mark_inferred(self, log: list[dict[str, Any]], skipped: int) -> None:
        """What is found after unseen statements happened somewhere among them."""
        for entry in log:
            if entry["kind"] == "event":
                self.saved_tensors_modified = self.saved_tensors_modified or entry["event"] in (
                    "saved_stale",
                    "saved_changed_silently",
                )
                if skipped and "op" not in entry and entry["event"] in INFERRED_EVENTS:
                    entry["span"] = [self.count - 1, self.count]

    def iterations(self, stmt: int, frame_uid: str, kind: str) -> list[int]:
        """How often each loop around the statement has begun anew, outermost first."""
        counts = self.frames.iteration_counts
        loops = self._statements.loops(stmt, inside=kind == "head")
        return [counts[frame_uid, i] for i in loops if (frame_uid, i) in counts]

    def _note_handed_out(self, depth: int, encoded: Any) -> None:
        """What a function returns may be changed by its caller, on no path that the text shows."""
        object_uid = object_ref(encoded)
        if object_uid is None:
            tensor = encoded.get("ref") if type(encoded) is dict else None
            if tensor is not None or (type(encoded) is dict and "py" in encoded):
                self._handed_out.append((depth, tensor))
            return
        parts = [encoded, *values_of(self.observer.picture.state[object_uid])]
        for part in parts:
            ref = part.get("ref") if type(part) is dict else None
            if ref is not None and ref[0] == "t":
                self._handed_out.append((depth, ref))
        if self.observer.values.objects.is_referenced(object_uid):
            self._handed_out.append((depth, None))

    def _observe_handed_out(self, depth: int) -> bool:
        """Have looked at what came back from deeper frames; whether that may be anything."""
        if not self._handed_out:
            return False
        self.observer.reached_tensors += [uid for _, uid in self._handed_out if uid is not None]
        anything = any(uid is None for source_depth, uid in self._handed_out if source_depth > depth)
        self._handed_out = [(source_depth, uid) for source_depth, uid in self._handed_out if source_depth <= depth]
        return anything
