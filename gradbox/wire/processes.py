"""Requests to the processes that assemble traces and draw pictures, and their replies: one line of JSON each.

After the line comes the data that it announces: a child's lines, a trace or a drawing.
"""

from typing import Literal

from pydantic import Field

from gradbox.wire.api import Job
from gradbox.wire.base import Model
from gradbox.wire.limits import Limit
from gradbox.wire.trace import Focus, Outcome, Status

LARGE_TRACE_BYTES = 500_000
"""Bytes of lines from which on a trace is assembled in a process of its own."""


class Usage(Model):
    """What a run used, as measured by the server and the zygote; None if neither measured it."""

    wall_ms: float = 0.0
    cpu_ms: float | None = None
    peak_bytes: int | None = None


class AssemblyRequest(Model):
    """A request to make a trace from the lines of a child that ran a job; `size` bytes of lines follow.

    versions: of the libraries
    outcome: as the parent observed it; None if the child's own last line tells it
    log_text: whether the text of an invalid line is reported
    worker: the name of the worker that ran it, "" for this machine
    own_process: a process of the program's user ran it, not a confined child
    compared_result: the `result` of the run that this one repeats
    """

    job: Job
    versions: dict[str, str] = {}
    outcome: Outcome | None = None
    usage: Usage = Usage()
    log_text: bool = False
    compared_result: str | None = None
    worker: str = ""
    own_process: bool = False
    size: int = 0


class AssemblyReply(Model):
    """The facts of a trace that the server itself reads; the trace follows as gzipped JSON of `size` bytes.

    status, limit: of its outcome
    deterministic: see `HeaderLine`
    cacheable: whether the same program would give this trace again
    result: a digest of what the program printed and how it ended
    again: the focus of another run that would show more
    rejected: the log message about an invalid line, "" if all were valid
    """

    status: Status
    limit: Limit | None = None
    deterministic: bool = False
    cacheable: bool = False
    result: str = ""
    again: Focus | None = None
    rejected: str = ""
    size: int = 0


ComparisonKind = Literal["comparison", "comparison_picture", "comparison_file"]
DrawingKind = (
    Literal[
        "stage",
        "loom",
        "card",
        "thumbnail",
        "still",
        "file",
        "answers",
        "series_file",
        "findings",
        "summary",
        "looked_for",
        "reading",
        "tables",
        "film",
        "markdown",
        "headline",
        "plain",
    ]
    | ComparisonKind
)
Theme = Literal["light", "dark"]
MovingFormat = Literal["webp", "gif"]


class DrawRequest(Model):
    """What to draw: from one trace, from two traces for a comparison, or from the data of a series file.

    step: counted from 0. None is the step that the page opens with, or no step for a loom. For a comparison it is the
        place, and None the place where the two diverge.
    png: draw a PNG instead of an SVG
    moving: draw a film as WebP or GIF instead of an SVG
    body: the markup of the offline file
    note, address: what the picture says about the program
    size: bytes of the gzipped trace
    seconds: the most that it may take
    """

    kind: DrawingKind
    step: int | None = Field(default=None, ge=0)
    title: str = ""
    note: str = ""
    address: str = ""
    theme: Theme = "light"
    language: str = "en"
    png: bool = False
    moving: MovingFormat | None = None
    body: str = ""
    size: int = 0
    seconds: float = 8.0


class DrawReply(Model):
    """The renderer's reply.

    size: bytes of the drawing that follows
    steps: the number of steps, if the requested step does not exist
    failed: why nothing was drawn
    late: whether it would have taken more seconds than it may
    ends: whether the process ends with this reply
    """

    size: int = 0
    steps: int | None = None
    failed: str | None = None
    late: bool = False
    ends: bool = False
