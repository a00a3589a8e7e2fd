"""The steps of a run: what requests one, what each observes, and how it is written."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any, ClassVar, NamedTuple, Protocol

import torch

from gradbox.recorder.effects import StatementEffects
from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.loop_sampling import SkippedIterations
from gradbox.recorder.observation import Observation
from gradbox.recorder.observer import Observer
from gradbox.recorder.probes.frames import Frames
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.stack import program_frames
from gradbox.recorder.uids import referenced_object_uid, referenced_uid
from gradbox.recorder.value_encoder import contained_values
from gradbox.wire.base import Value
from gradbox.wire.entities import MAX_CELLS
from gradbox.wire.events import EVENTS, GradAccumulated
from gradbox.wire.job_records import FocusRecord
from gradbox.wire.limits import Limit
from gradbox.wire.records import StepRecord
from gradbox.wire.trace import StepKind, Visit

MAX_STRETCH_SHARE = 0.2
"""The share of a trace's room that one stretch may fill, such as a round of training or a program without loops, before
the contents of memory are reported more briefly."""

SHORT_MAX_CELLS = 32
"""Elements up to which contents are listed in full after that."""


def always_true() -> bool:
    return True


class CodeWithoutSteps(Protocol):
    """Code that runs in the process beside the code with steps."""

    def may_change_anything(self, frame: FrameType | None) -> bool:
        """Whether it may change more than the running statement shows.

        frame: the innermost frame that runs
        """

    def can_access_saved_tensors(self) -> bool:
        """Whether its text contains names through which a saved tensor can be changed without an operation."""

    def values(self) -> Iterable[Any]:
        """Values that it holds and may change at any statement."""


@dataclass(frozen=True)
class RunContext:
    """The parts of a run, and its limits.

    globals: the program's globals
    write_step: takes a finished step and returns its size in bytes
    stop_at_limit: called with a limit's name and its value when the run has to end; it does not return
    focus: see `IterationSchedule`
    displayed: the statements whose value is recorded as an interactive session shows it
    hidden_names: names of the module that are not the program's; None for all names that it had before, until they are
        bound anew
    is_recorded: whether what the current thread does is recorded
    unstepped_code: the program's code without steps, if any
    on_skipped_iteration: called with the number of an iteration that is not recorded
    """

    globals: dict[str, Any]
    statements: ProgramStatements
    limits: dict[str, int | float]
    write_step: Callable[[StepRecord], int]
    stop_at_limit: Callable[[Limit, float], None]
    focus: FocusRecord
    displayed: frozenset[int] = frozenset()
    hidden_names: frozenset[str] | None = None
    is_recorded: Callable[[], bool] = always_true
    unstepped_code: CodeWithoutSteps | None = None
    on_skipped_iteration: Callable[[int], None] | None = None


@dataclass(slots=True)
class StepRequest:
    """A request for a step of any kind."""

    kind: ClassVar[StepKind]
    stmt: int | None
    frame: FrameType | None


@dataclass(slots=True)
class StatementStep(StepRequest):
    """A step after a statement.

    encoded_value: the value of a bare expression
    is_last: the run ends with it
    """

    kind: ClassVar[StepKind] = "statement"
    encoded_value: Value = None
    is_last: bool = False


@dataclass(slots=True)
class ValueStep(StepRequest):
    """A step with a value that is not encoded yet, or None."""

    value: Any = None


@dataclass(slots=True)
class HeadStep(ValueStep):
    """A step before the body of a loop, a branch, a `with` or a `match`.

    value: the value of the test or the subject
    """

    kind: ClassVar[StepKind] = "head"


@dataclass(slots=True)
class ReturnStep(ValueStep):
    kind: ClassVar[StepKind] = "return"


@dataclass(slots=True)
class YieldStep(ValueStep):
    """The step of a generator that yields.

    suspended: the uid of the frame that yields
    """

    kind: ClassVar[StepKind] = "yield"
    suspended: str | None = None


@dataclass(slots=True)
class CallStep(ValueStep):
    """A step at the beginning of a function; it belongs to the calling statement.

    entered: the function's frame
    """

    kind: ClassVar[StepKind] = "call"
    entered: FrameType | None = None


@dataclass(slots=True)
class ResumeStep(CallStep):
    """A step at which a generator resumes.

    value: what was sent to it
    """

    kind: ClassVar[StepKind] = "resume"


@dataclass(slots=True)
class RaiseStep(StepRequest):
    """A step at which a statement raised.

    stack: the frames that the exception passed through; None for those that run
    """

    kind: ClassVar[StepKind] = "raise"
    line: int = 0
    stack: list[FrameType] | None = None


@dataclass(slots=True)
class VisitStep(StepRequest):
    """A step for a node that the engine ran."""

    kind: ClassVar[StepKind] = "visit"
    visit: Visit


@dataclass(slots=True)
class EndStep(StepRequest):
    """A step after the program. It is left out if nothing has changed since the last step."""

    kind: ClassVar[StepKind] = "end"
    line: int = 0


@dataclass(slots=True)
class BeginStep(StepRequest):
    """A step with what exists when the recording begins."""

    kind: ClassVar[StepKind] = "begin"
    line: int = 0


INFERRED_EVENTS = frozenset(name for name, row in EVENTS.items() if row.observed)
"""Events that are derived from what an observation finds."""


KINDS_MADE_BY_STATEMENTS = ("storage", "tensor", "array", "node", "object")
"""Kinds of entities that are always made by some statement."""


class StepPosition(NamedTuple):
    """The position of a step: its line, its frame, the frames below that, and the counts of the loops around it."""

    line: int
    frame_uid: str
    depth: int
    iterations: list[int]


class StepRecorder:
    """The steps of one run.

    count: how many steps were recorded
    line: the line of the last step
    saved_tensors_modified: whether a slot was seen to become stale or to change silently
    full_observations: how many steps have observed everything
    """

    def __init__(
        self,
        run: RunContext,
        context: ProbeContext,
        observer: Observer,
        frames: Frames,
        skipped_iterations: SkippedIterations,
    ) -> None:
        self._run, self._statements, self._limits = run, run.statements, run.limits
        self._context, self._observer, self._frames = context, observer, frames
        self._skipped_iterations = skipped_iterations
        self.count = 0
        self.line = 1
        self.full_observations = 0
        self.saved_tensors_modified = False
        self._size = self._stretch_began = 0
        self._last_visit_place: tuple[str, int | None] | None = (
            None  # frame and statement, if the last step was a visit
        )
        self._returned: list[tuple[int, str | None]] = []  # (depth, tensor or None for anything) of what was returned

    def begin_contents_stretch(self) -> None:
        """Begin a stretch whose contents may be reported in full again: an iteration of a loop outside of modules."""
        self._stretch_began = self._size

    def _shorten_contents_of_large_stretch(self, observation: Observation) -> None:
        """Report contents more briefly if a single stretch takes a large share of the room, because the end matters
        more."""
        share = (self._size - self._stretch_began) / self._limits["trace"]
        max_cells = MAX_CELLS if share < MAX_STRETCH_SHARE else SHORT_MAX_CELLS
        if max_cells < self._context.max_cells:
            observation.append_log_entry({"kind": "event", "event": "contents_summarized", "elements": max_cells})
        self._context.max_cells = max_cells

    def trace_share_used(self) -> float:
        """The share of the trace's room that is used."""
        return max(self.count / self._limits["steps"], self._size / self._limits["trace"])

    def statement_at_frame(self, frame: FrameType | None) -> int | None:
        """The statement that runs in a frame."""
        return None if frame is None else self._statements.statement_at(frame.f_code, frame.f_lasti)

    def enclosing_iteration_counts(self, stmt: int, frame_uid: str, kind: str) -> list[int]:
        """How often each loop around the statement has begun an iteration since it was entered, outermost first."""
        counts = self._frames.iteration_counts
        loops = self._statements.enclosing_loops(stmt, include_self=kind == "head")
        return [counts[frame_uid, i] for i in loops if (frame_uid, i) in counts]

    def record_step(self, request: StepRequest) -> None:
        """Observe what the request needs, and write the step."""
        observation = self._context.observation
        self._shorten_contents_of_large_stretch(observation)
        inside = self._context.is_within_operation()
        if inside:
            observation.mark_ops_unobserved()
        position = self._step_position(request)
        self.line = position.line
        is_last = isinstance(request, StatementStep) and request.is_last
        self._decide_whether_to_observe_all(request, position, observation, is_last)
        accumulated_into = request.visit.get("accumulates") if isinstance(request, VisitStep) else None
        had_grad = (
            accumulated_into is not None and self._context.delta.tensor_state(accumulated_into).get("grad") is not None
        )
        value, failed = self._observe_step(request, position, observation)
        if isinstance(request, BeginStep):
            self._mark_entities_existing(observation)
        set_, gone = self._context.delta.take_pending_changes()
        self._note_modified_saved_tensors(observation)
        self._mark_inferred_events(observation)
        if accumulated_into is not None:
            self._log_grad_accumulated(observation, accumulated_into, not had_grad)
        if isinstance(request, EndStep) and not (set_ or gone or observation.log):
            return
        step: StepRecord = {"i": self.count, "kind": request.kind, "stmt": request.stmt, "line": position.line}  # type: ignore[typeddict-item]
        if position.iterations:
            step["iter"] = position.iterations
        step["frame"], step["depth"] = position.frame_uid, position.depth
        if observation.skipped_steps or observation.skipped_visits:
            step["skipped"] = observation.skipped_steps + observation.skipped_visits
            step["skipped_nodes"] = observation.skipped_visits
        if value is not None:
            step["value"] = value
        if observation.displayed_repr is not None:
            step["shown"] = observation.displayed_repr
        step["set"], step["gone"], step["log"] = set_, gone, observation.log
        if isinstance(request, VisitStep):
            step["visit"] = request.visit
        self._last_visit_place = (position.frame_uid, request.stmt) if isinstance(request, VisitStep) else None
        self._write_step(step, observation)
        observation.reset_for_next_step(after_fault=failed)
        if inside:  # the next step may be back outside
            observation.mark_ops_unobserved()
        self.count += 1
        if not is_last:
            self._stop_at_limits()

    def _step_position(self, request: StepRequest) -> StepPosition:
        stmt, frame = request.stmt, request.frame
        if isinstance(request, RaiseStep | EndStep | BeginStep):
            line = request.line
        else:
            line = self._statements.rows[stmt]["line"] if stmt is not None else self.line
        uid = self._frames.uid_of(frame) if frame is not None else self._frames.module_uid
        depth = self._frames.stepping_depth(frame, uid)
        iterations = (
            self.enclosing_iteration_counts(stmt, uid, request.kind) if stmt is not None and frame is not None else []
        )
        return StepPosition(line, uid, depth, iterations)

    def _decide_whether_to_observe_all(
        self, request: StepRequest, position: StepPosition, observation: Observation, is_last: bool
    ) -> None:
        """Decide whether to observe everything: if a hook asked for it, or the text does not tell what the statement
        may change."""
        effects = self._statements.effects[request.stmt] if request.stmt is not None else None
        unknown = effects.may_change_anything if effects is not None else not isinstance(request, EndStep)
        returned_anything = self._enqueue_returned_values(position.depth, observation)
        observation.observe_all = (
            returned_anything
            or observation.everything_requested
            or unknown
            or self._statements.passes_mutating_methods
            or is_last
        )
        observation.unstepped_code_ran = not observation.observe_all and self._unstepped_code_may_change_anything()
        observation.observe_all = observation.observe_all or observation.unstepped_code_ran
        self.full_observations += observation.observe_all
        observation.everything_requested = False
        observation.exposes_memory = effects is not None and effects.exposes_memory
        observation.skipped_steps = self._skipped_iterations.take_skipped_step_count()
        if observation.skipped_steps and self._may_text_reach_into_graph():
            # tensors may have gone to other storages unobserved
            observation.storages_rebound = observation.slots_unobserved = True
        observation.slots_unobserved = observation.slots_unobserved or unknown or is_last

    def _may_text_reach_into_graph(self) -> bool:
        """Whether a statement, or code without steps, may change a saved tensor other than by an operation."""
        unstepped = self._run.unstepped_code
        return self._statements.can_access_saved_tensors or (
            unstepped is not None and unstepped.can_access_saved_tensors()
        )

    def _unstepped_code_may_change_anything(self) -> bool:
        unstepped = self._run.unstepped_code
        return unstepped is not None and unstepped.may_change_anything(sys._getframe())

    def _observe_step(
        self, request: StepRequest, position: StepPosition, observation: Observation
    ) -> tuple[Value, bool]:
        """The step's value, and whether the observation failed. After a failure the step has what was found
        until then."""
        value: Value = request.encoded_value if isinstance(request, StatementStep) else None

        def observe_frames(observe_all: bool) -> bool:
            nonlocal value
            sufficient = self._observe_frames(request, position, observe_all)
            if isinstance(request, ValueStep) and request.value is not None:
                value = self._observer.values.encode(request.value)
                if isinstance(request, ReturnStep | YieldStep):
                    self._note_returned_value(position.depth, value)
            return sufficient

        try:
            self._observer.observe(observation, observe_frames)
        except Exception as error:
            self._context.report_recorder_fault(error)
            return value, True
        return value, False

    def _observe_frames(self, request: StepRequest, position: StepPosition, observe_all: bool) -> bool:
        """Observe the frames, all of them or those of the step. Returns whether that is enough."""
        frame = request.frame
        entered = request.entered if isinstance(request, CallStep) else None
        suspended = request.suspended if isinstance(request, YieldStep) else None
        effects = self._statements.effects[request.stmt] if request.stmt is not None else None
        if observe_all or frame is None or effects is None:
            stack = request.stack if isinstance(request, RaiseStep) else None
            self._frames.observe_stack(stack if stack is not None else program_frames(entered or frame), suspended)
            return True
        if self._ran_only_engine(request, position, effects):
            return True
        first_iteration = not position.iterations or not position.iterations[-1]
        sufficient = self._frames.observe_statement_effects(frame, effects, first_iteration, suspended)
        if sufficient and entered is not None:
            sufficient = self._frames.observe_entered_frame(entered)
        if sufficient and self._run.unstepped_code is not None:
            for value in self._run.unstepped_code.values():
                self._observer.reachability.observe_value(value)
            sufficient = not self._observer.reachability.incomplete
        return sufficient

    def _ran_only_engine(self, request: StepRequest, position: StepPosition, effects: StatementEffects) -> bool:
        """Whether, since the previous visit of the same backward, no Python ran that could change what the statement's
        names lead to. The visits themselves report what the engine changes, and a net of a thousand modules that the
        statement names would otherwise be searched at every visit."""
        observation = self._context.observation
        if not isinstance(request, VisitStep) or self._last_visit_place != (position.frame_uid, request.stmt):
            return False
        return not (
            self._run.unstepped_code is not None
            or effects.exposes_memory
            or self._statements.can_access_saved_tensors
            or observation.skipped_steps
            or observation.ops_outside_engine
            or observation.ops_unobserved
            or any(isinstance(node, torch._C._FunctionBase) for node, _ in observation.visited_nodes)
            or any(entry.get("event") == "hook_ran" for entry in observation.log)
        )

    def _mark_entities_existing(self, observation: Observation) -> None:
        """Mark what was found as not made by this step, and drop the events that say it was."""
        observation.log[:] = [entry for entry in observation.log if entry.get("event") == "tracer_fault"]
        delta = self._context.delta
        for uid, facts in list(delta.state.items()):
            if facts["kind"] in KINDS_MADE_BY_STATEMENTS:
                delta.update_entity(uid, {"existed": True})

    def _log_grad_accumulated(self, observation: Observation, tensor: str, first: bool) -> None:
        grad = self._context.delta.tensor_state(tensor).get("grad")
        if grad is not None:
            event: GradAccumulated = {
                "kind": "event",
                "event": "grad_accumulated",
                "tensor": tensor,
                "grad": grad,
                "first": first,
            }
            observation.append_log_entry(event)

    def _note_modified_saved_tensors(self, observation: Observation) -> None:
        modified = ("saved_stale", "saved_changed_silently")
        if any(entry["kind"] == "event" and entry["event"] in modified for entry in observation.log):
            self.saved_tensors_modified = True

    def _mark_inferred_events(self, observation: Observation) -> None:
        """Mark events that were found after unrecorded statements with the span in which they happened."""
        if not observation.skipped_steps:
            return
        for entry in observation.log:
            if entry["kind"] == "event" and "op" not in entry and entry["event"] in INFERRED_EVENTS:
                entry["span"] = (self.count - 1, self.count)

    def _write_step(self, step: StepRecord, observation: Observation) -> None:
        try:
            self._size += self._run.write_step(step)
        except (TypeError, ValueError) as error:  # something in it is no JSON: the step is written without it
            observation.log.clear()
            self._context.report_recorder_fault(error)
            self._run.write_step({**step, "set": {}, "value": None})

    def _stop_at_limits(self) -> None:
        if self.count >= self._limits["steps"]:
            self._run.stop_at_limit("steps", self._limits["steps"])
        if len(self._observer.tensors.uids) > self._limits["tensors"]:
            self._run.stop_at_limit("tensors", self._limits["tensors"])

    def _note_returned_value(self, depth: int, encoded: Value) -> None:
        """Note what a function returns: its caller may change it on a path that the text does not show."""
        object_uid = referenced_object_uid(encoded)
        if object_uid is None:
            tensor = referenced_uid(encoded)
            if tensor is not None or (type(encoded) is dict and "py" in encoded):
                self._returned.append((depth, tensor))
            return
        facts = self._context.delta.object_state(object_uid)
        for part in [encoded, *(contained_values(facts) if facts is not None else ())]:
            ref = referenced_uid(part)
            if ref is not None and ref[0] == "t":
                self._returned.append((depth, ref))
        if self._observer.values.objects.is_referenced(object_uid):
            self._returned.append((depth, None))

    def _enqueue_returned_values(self, depth: int, observation: Observation) -> bool:
        """Enqueue what deeper frames returned. Returns whether that may be anything."""
        if not self._returned:
            return False
        observation.reached_tensors += [uid for _, uid in self._returned if uid is not None]
        anything = any(uid is None for source_depth, uid in self._returned if source_depth > depth)
        self._returned = [(source_depth, uid) for source_depth, uid in self._returned if source_depth <= depth]
        return anything
