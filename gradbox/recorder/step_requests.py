"""The kinds of step that the recorder asks for, each with what it needs.

`stmt` is the index of the statement whose step it is, `frame` the program's frame; None where there is none.
"""

from dataclasses import dataclass
from types import FrameType
from typing import Any, ClassVar

from gradbox.wire.base import Value
from gradbox.wire.trace import StepKind, Visit


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step of any kind."""

    kind: ClassVar[StepKind]
    stmt: int | None
    frame: FrameType | None


@dataclass(frozen=True, slots=True)
class StatementStep(StepRequest):
    """After a statement. encoded_value: the value of a bare expression. is_last: the run ends with it."""

    kind: ClassVar[StepKind] = "statement"
    encoded_value: Value = None
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class ValueStep(StepRequest):
    """A step that hands over a value, which is not encoded yet; None for none."""

    value: Any = None


@dataclass(frozen=True, slots=True)
class HeadStep(ValueStep):
    """Before the body of a loop, a branch, a `with` or a `match`. value: of the test or the subject."""

    kind: ClassVar[StepKind] = "head"


@dataclass(frozen=True, slots=True)
class ReturnStep(ValueStep):
    kind: ClassVar[StepKind] = "return"


@dataclass(frozen=True, slots=True)
class YieldStep(ValueStep):
    """suspended: the uid of the frame that yields."""

    kind: ClassVar[StepKind] = "yield"
    suspended: str | None = None


@dataclass(frozen=True, slots=True)
class CallStep(ValueStep):
    """A function begins; the step is the calling statement's. entered: the function's frame."""

    kind: ClassVar[StepKind] = "call"
    entered: FrameType | None = None


@dataclass(frozen=True, slots=True)
class ResumeStep(CallStep):
    """A generator goes on. value: what was sent to it."""

    kind: ClassVar[StepKind] = "resume"


@dataclass(frozen=True, slots=True)
class RaiseStep(StepRequest):
    """A statement raised at a line. stack: the frames that the exception went through; None for those that run."""

    kind: ClassVar[StepKind] = "raise"
    line: int = 0
    stack: list[FrameType] | None = None


@dataclass(frozen=True, slots=True)
class VisitStep(StepRequest):
    """The engine ran a node."""

    kind: ClassVar[StepKind] = "visit"
    visit: Visit


@dataclass(frozen=True, slots=True)
class EndStep(StepRequest):
    """After the program; there is no such step where nothing changed since the last one."""

    kind: ClassVar[StepKind] = "end"
    line: int = 0


@dataclass(frozen=True, slots=True)
class BeginStep(StepRequest):
    """What is there when the recording begins."""

    kind: ClassVar[StepKind] = "begin"
    line: int = 0
