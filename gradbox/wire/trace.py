"""The trace: a run step by step, and how it ended."""

import re
from typing import Annotated, Any, Literal, NotRequired, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from typing_extensions import TypedDict

from gradbox.wire.base import FailFastList, Fields, Index, Model, RequestModel, Uid, Value, closed_typed_dict
from gradbox.wire.entities import ENTITY_ADAPTERS, CellList, CodePlace, Summary
from gradbox.wire.events import LogEntry
from gradbox.wire.gradient_check import GradientCheck
from gradbox.wire.limits import Limit
from gradbox.wire.program import Program, Refusal, Repair
from gradbox.wire.rounds import TrainingRounds

SCHEMA = 1
"""Raised by any change that does more than add; `gradbox.wire.schema` then learns to read the old schema."""


MAX_LOOPS = 1000
"""Loops whose iterations a focus counts."""

MAX_NESTED_LOOPS = 64
"""Loops around a statement. Python compiles at most twenty nested blocks."""


def limit_loop_counts(value: Any) -> Any:
    """Reject too many counts at once, before a dictionary with numbers as keys is made, which could be slow."""
    if isinstance(value, dict):
        if len(value) > MAX_LOOPS:
            raise ValueError(f"it counts the iterations of {len(value)} loops; {MAX_LOOPS} are allowed")
        if not all(isinstance(loop, int) or _STATEMENT_PATTERN.fullmatch(loop) for loop in value):
            raise ValueError("its names are the numbers of statements")
    return value


_STATEMENT_PATTERN = re.compile(r"[0-9]{1,7}", re.ASCII)

LoopCounts = Annotated[dict[Annotated[int, Field(ge=0, le=10**7)], Index], BeforeValidator(limit_loop_counts)]
"""Iterations by the statement of their loop. Multiples of 2^61 - 1 share one hash, so a dictionary of many such numbers
takes quadratic time."""


class Focus(RequestModel):
    """What a run shows that would otherwise be left out: an iteration of a loop, or elements of a large storage.

    loop: the statement of the loop
    iteration: the counts from 0 of the loops around it and, last, its own
    storage: the elements [from, to) of this storage, from that step on; its uid is the one in the same program's trace
    counts: for each loop's statement, which iteration of the whole run, from 1, is shown
    repeatable: whether the program printed and ended as in the run before
    """

    loop: Index | None = None
    iteration: Annotated[list[Index], Field(fail_fast=True, max_length=MAX_NESTED_LOOPS)] | None = None
    storage: Uid | None = None
    step: Index = 0
    from_: Index | None = Field(alias="from", default=None)
    to: Index | None = None
    counts: LoopCounts | None = None
    repeatable: bool | None = None

    @field_validator("iteration", mode="before")
    @classmethod
    def iteration_as_list(cls, value: Any) -> Any:
        """Accept a number as the iteration of an outermost loop."""
        return [value] if type(value) is int else value

    @model_validator(mode="after")
    def check_single_target(self) -> "Focus":
        """Require exactly one target with all of its parts."""
        targets = [(self.loop, self.iteration), (self.storage, self.from_, self.to), (self.counts,)]
        named = [parts for parts in targets if any(part is not None for part in parts)]
        if len(named) != 1 or any(part is None for part in named[0]):
            raise ValueError("give loop and iteration, or storage, from and to")
        return self


MAX_REGIONS, MAX_ARGUMENTS = 1000, 1000
"""The most regions, and command-line arguments, that a runtime lists."""


class Region(Model):
    """A part of a run that was recorded, while the rest was not.

    name: the name that the program or its user gave it
    first_line, last_line: of the source, if it is a range of lines
    iteration: of the outermost loop, from 0, if it is an iteration
    step: its first step
    """

    name: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    iteration: int | None = None
    step: int | None = None


class Runtime(Model):
    """What ran the program.

    device_name: the maker's name of the processor or the GPU
    input: what `input()` and `sys.stdin` could read, if it was not empty
    worker: the name of the worker that ran it, if there are workers on other machines
    recorded: "own process" if no confined child ran it, but a process of its user, with the user's files, imports and
        arguments. Such a program is not run again from its trace.
    regions: the recorded parts of the run, if not all of it was recorded
    arguments: what followed the file on the command line
    """

    torch: str
    numpy: str
    python: str
    tracer: str
    device: str
    device_name: str | None = None
    seed: int
    hash_seed: int
    threads: int
    limits: dict[str, int | float]
    input: str | None = None
    worker: str | None = None
    recorded: Literal["own process"] | None = None
    regions: Annotated[list[Region], Field(fail_fast=True, max_length=MAX_REGIONS)] | None = None
    arguments: Annotated[list[str], Field(fail_fast=True, max_length=MAX_ARGUMENTS)] | None = None


@closed_typed_dict
class Grad(TypedDict):
    """A gradient as it passed: its elements in logical order, or a summary of them."""

    shape: FailFastList[int]
    dtype: str
    layout: str
    cells: NotRequired[CellList | None]
    summary: NotRequired[Summary | None]
    storage: NotRequired[Uid | None]


@closed_typed_dict
class Visit(TypedDict):
    """One node run by the engine. `grad_inputs[i]` travels along the node's i-th edge."""

    backward: Uid
    node: Uid
    grad_outputs: FailFastList[Grad | None]
    grad_inputs: FailFastList[Grad | None]
    accumulates: NotRequired[Uid | None]
    failed: NotRequired[bool | None]


StepKind = Literal["begin", "statement", "head", "call", "return", "yield", "resume", "raise", "visit", "end"]
Status = Literal["finished", "raised", "stopped", "refused", "crashed", "cancelled", "lost", "running"]


class Step(Model):
    """The state after a step: apply `set`, then `gone`.

    skipped: how many steps passed unrecorded before it; skipped_nodes: how many of them are nodes that backward ran
    shown: what an interactive session shows of a bare expression's value ("" for None); only if the pasted text has an
        output to compare with, and if showing it runs none of the program's code
    """

    i: int
    kind: StepKind
    stmt: int | None = None
    line: int
    iter: FailFastList[int] | None = None
    frame: Uid | None = None
    depth: int = 0
    skipped: int | None = None
    skipped_nodes: int | None = None
    value: Value = None
    shown: str | None = None
    set: dict[Uid, Fields] = {}
    gone: FailFastList[Uid] = []
    log: FailFastList[LogEntry] = []
    visit: Visit | None = None

    @field_validator("set")
    @classmethod
    def check_entities(cls, value: dict[str, Fields]) -> dict[str, Fields]:
        """Require that each uid's fields belong to the entity that its letter names."""
        for uid, fields in value.items():
            adapter = ENTITY_ADAPTERS.get(uid[0])
            if adapter is None:
                raise ValueError(f"{uid}: no entity has this letter")
            adapter.validate_python(fields)
        return value


class StackEntry(Model):
    line: int
    frame: str


class Cause(Model):
    type: str
    message: str
    line: int | None = None


class SkippedIteration(Model):
    """An iteration that was not recorded: the statement of its loop, and its number in the whole run, from 0."""

    loop: int
    iteration: int


class Error(Model):
    """Python's own type, text and line; for `refused`, all refusals.

    place: the line of code without steps that raised it, below the program's
    skipped_iteration: the innermost loop's iteration, if it was raised in one that was not recorded
    """

    type: str
    message: str
    line: int | None = None
    step: int | None = None
    stack: FailFastList[StackEntry] = []
    cause: Cause | None = None
    place: CodePlace | None = None
    skipped_iteration: SkippedIteration | None = None
    refusals: FailFastList[Refusal] = []
    repairs: FailFastList[Repair] = []


class Stopped(Model):
    """A run that reached a limit.

    value: the limit, or of `wall` the seconds that the program had where the machine was so busy that it had fewer
    line: where the program was
    waited: of `wall`, the seconds that it waited besides because others had the processor
    """

    limit: Limit
    value: float
    line: int | None = None
    waited: float | None = None


class Outcome(Model):
    status: Status
    error: Error | None = None
    stopped: Stopped | None = None
    signal: int | None = None

    @model_validator(mode="after")
    def check_reason(self) -> Self:
        """Require a reason for every outcome that is not a normal end."""
        reason = {"finished": self, "cancelled": self, "running": self, "stopped": self.stopped}.get(
            self.status, self.error
        )
        if reason is None:
            raise ValueError(f"{self.status} without its reason")
        return self


class Cost(Model):
    wall_ms: float
    cpu_ms: float
    peak_bytes: int


class Header(Model):
    schema_: int = Field(alias="schema", default=SCHEMA)
    program: Program
    runtime: Runtime


class Trace(Header):
    """A whole run.

    rounds: of a run that trains
    """

    steps: FailFastList[Step] = []
    focus: Focus | None = None
    outcome: Outcome
    cost: Cost
    rounds: TrainingRounds | None = None


class HeaderLine(Model):
    """The first line from a worker.

    deterministic: whether nothing in the program can change its result from run to run
    """

    header: Header
    deterministic: bool = False


class StepLine(Model):
    """A step, sent as soon as it is recorded."""

    step: Step


class RoundsLine(Model):
    """The rounds of a training so far. The last such line is valid until there is an outcome."""

    rounds: TrainingRounds


class OutcomeLine(Model):
    """The last line, if the worker lived to write it.

    again: `Focus.counts` of a run that would show more
    gradient_check: of a job that asked for one
    rounds: of a training
    """

    outcome: Outcome
    cost: Cost
    again: LoopCounts | None = None
    gradient_check: GradientCheck | None = None
    rounds: TrainingRounds | None = None


Line = Annotated[HeaderLine | StepLine | RoundsLine | OutcomeLine, Field(union_mode="left_to_right")]


def trace_json(trace: Trace) -> str:
    """The trace as JSON, without the fields that are absent by default."""
    return trace.model_dump_json(by_alias=True, exclude_unset=True)


def trace_document(trace: Trace) -> dict[str, Any]:
    """The trace as plain JSON values, without the fields that are absent by default."""
    return trace.model_dump(mode="json", by_alias=True, exclude_unset=True)
