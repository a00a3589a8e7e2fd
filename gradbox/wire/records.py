"""The dictionaries that the tracer writes, with the keys and values of the models of `trace`, for the type checker.

A test keeps the two consistent. Entities, values, events and visits are declared once for both: in `entities`, `base`,
`events`, and as `Visit` and `Grad` in `trace`.
"""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from gradbox.wire.base import Value
from gradbox.wire.entities import CodePlace, Entity
from gradbox.wire.events import LogEntry
from gradbox.wire.limits import Limit
from gradbox.wire.rounds import TrainingRounds
from gradbox.wire.trace import Status, StepKind, Visit


class StatementSyntaxRecord(TypedDict):
    """What a statement mentions; see `program.StatementSyntax`."""

    kinds: list[str]
    fields: list[str]
    parents: list[int]
    starts: list[int]
    ends: list[int]
    values: dict[str, bool | int | float | str | None]
    paths: dict[str, str]


class StatementRecord(TypedDict):
    """A statement of the program: lines from 1, columns from 0; `parent` and `loop` are statement indices."""

    line: int
    col: int
    end_line: int
    end_col: int
    kind: str
    parent: int | None
    loop: int | None
    syntax: NotRequired[StatementSyntaxRecord]


class ProgramFileRecord(TypedDict):
    """One of the files whose text makes the source; see `trace.ProgramFile`."""

    name: str
    path: NotRequired[str | None]
    first_line: int
    last_line: int


class ProgramRecord(TypedDict):
    """The normalised source, its statements, and the notices of the normaliser, dumped."""

    source: str
    files: NotRequired[list[ProgramFileRecord]]
    pasted: NotRequired[str | None]
    lines: list[int | None]
    statements: list[StatementRecord]
    notices: list[dict[str, Any]]


class RegionRecord(TypedDict):
    """A recorded part of a run; see `trace.Region`."""

    name: NotRequired[str | None]
    first_line: NotRequired[int | None]
    last_line: NotRequired[int | None]
    iteration: NotRequired[int | None]
    step: NotRequired[int | None]


class RuntimeRecord(TypedDict):
    torch: str
    numpy: str
    python: str
    tracer: str
    device: str
    device_name: NotRequired[str | None]
    seed: int
    hash_seed: int
    threads: int
    limits: dict[str, int | float]
    input: NotRequired[str]
    worker: NotRequired[str]
    recorded: NotRequired[Literal["own process"]]
    regions: NotRequired[list[RegionRecord]]
    arguments: NotRequired[list[str]]


class HeaderRecord(TypedDict):
    """The first line from a worker, under the key `header`."""

    schema: int
    program: ProgramRecord
    runtime: RuntimeRecord


class StepRecord(TypedDict):
    """A step, under the key `step` of its line; see `trace.Step`."""

    i: int
    kind: StepKind
    stmt: int | None
    line: int
    iter: NotRequired[list[int]]
    frame: str | None
    depth: int
    skipped: NotRequired[int]
    skipped_nodes: NotRequired[int]
    value: NotRequired[Value]
    shown: NotRequired[str | None]
    set: dict[str, Entity]
    gone: list[str]
    log: list[LogEntry]
    visit: NotRequired[Visit]


class StackEntryRecord(TypedDict):
    line: int
    frame: str


class CauseRecord(TypedDict):
    type: str
    message: str
    line: int | None


class SkippedIterationRecord(TypedDict):
    loop: int
    iteration: int


class ErrorRecord(TypedDict):
    type: str
    message: str
    line: int | None
    step: NotRequired[int | None]
    stack: NotRequired[list[StackEntryRecord]]
    cause: NotRequired[CauseRecord | None]
    place: NotRequired[CodePlace | None]
    skipped_iteration: NotRequired[SkippedIterationRecord | None]
    refusals: NotRequired[list[dict[str, Any]]]
    repairs: NotRequired[list[dict[str, Any]]]


class StoppedRecord(TypedDict):
    limit: Limit
    value: float
    line: int | None
    waited: NotRequired[float | None]


class OutcomeRecord(TypedDict):
    status: Status
    error: NotRequired[ErrorRecord | None]
    stopped: NotRequired[StoppedRecord | None]
    signal: NotRequired[int | None]


class CostRecord(TypedDict):
    wall_ms: float
    cpu_ms: float
    peak_bytes: int


class HeaderLineRecord(TypedDict):
    header: HeaderRecord
    deterministic: bool


class StepLineRecord(TypedDict):
    step: StepRecord


class OutcomeLineRecord(TypedDict):
    """The last line, if the worker lived to write it.

    again, gradient_check: see `trace.OutcomeLine`
    """

    outcome: OutcomeRecord
    cost: CostRecord
    again: NotRequired[dict[int, int]]
    gradient_check: NotRequired[dict[str, Any]]
    rounds: NotRequired[TrainingRounds]


class RoundsLineRecord(TypedDict):
    rounds: TrainingRounds


LineRecord = HeaderLineRecord | StepLineRecord | RoundsLineRecord | OutcomeLineRecord
