"""A recorder's jobs and its fault line, as plain dictionaries.

This module does not need pydantic, so a process that records can start without it.
"""

from typing import Literal, NotRequired, final

from typing_extensions import TypedDict

FocusRecord = TypedDict(
    "FocusRecord",
    {
        "loop": int,
        "iteration": list[int],
        "storage": str,
        "step": int,
        "from": int,
        "to": int,
        "counts": dict[str, int],
        "repeatable": bool,
    },
    total=False,
)
"""The fields of `trace.Focus` as a child reads them: JSON turns the keys of `counts` into strings."""


class GradientCheckOptionsRecord(TypedDict):
    """`gradient_check.GradientCheckOptions`, as a child reads it."""

    elements: int
    backward: NotRequired[int]
    samples: NotRequired[bool]


@final
class JobRecord(TypedDict):
    """`api.Job`, as a child reads it."""

    source: str
    device: NotRequired[Literal["cpu", "cuda"]]
    seed: NotRequired[int]
    limits: NotRequired[dict[str, int | float]]
    focus: NotRequired[FocusRecord]
    input: NotRequired[str]
    check: NotRequired[GradientCheckOptionsRecord]


@final
class AnswerJobRecord(TypedDict):
    """`matrix.AnswerJob`, as a child reads it."""

    programs: list[str]


class AnswerRecord(TypedDict):
    """`matrix.Answer`, as a child writes it."""

    printed: str
    line: NotRequired[int]
    raised: NotRequired[str]


ChildJob = JobRecord | AnswerJobRecord
"""The job of a child."""


class FaultLine(TypedDict):
    """What a child writes instead of an outcome if the recorder itself failed."""

    fault: str
