"""Requests to the processes that assemble traces and that draw, and their replies: a line of JSON each.

After the line comes what it announces: a child's lines, a trace or a drawing.
"""

from typing import Literal

from pydantic import Field

from gradbox.wire.api import Job
from gradbox.wire.base import Model
from gradbox.wire.limits import Limit
from gradbox.wire.trace import Focus, Outcome, Status

LARGE_TRACE_BYTES = 500_000
"""Bytes of lines past which a trace is assembled in a process of its own."""


class Usage(Model):
    """What a run used, as the server and the zygote measured it; None where neither did."""

    wall_ms: float = 0.0
    cpu_ms: float | None = None
    peak_bytes: int | None = None


class AssemblyRequest(Model):
    """The lines of a child that ran a job, `size` bytes of them, are to become a trace.

    versions: of the libraries
    outcome: as the parent saw it; None where the child's own last line says it
    log_text: whether an invalid line's text is told
    worker: the name of the one that ran it, "" for this machine
    own_process: it was no confined child that ran it, but a process of the program's user
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
    """What the server itself reads of a trace, whose gzipped JSON follows in `size` bytes.

    status, limit: of its outcome deterministic: see `HeaderLine` cacheable: whether the same program would give this
        trace again result: a digest of what the program printed and how it ended again: the focus of another run that
        would show more rejected: what the log says of a line that was not valid, "" where all were
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
        "series_file",
        "findings",
        "summary",
        "looked_for",
        "reading",
        "tables",
        "film",
        "markdown",
    ]
    | ComparisonKind
)
Theme = Literal["light", "dark"]
MovingFormat = Literal["webp", "gif"]


class DrawRequest(Model):
    """What to draw. Of a comparison, two traces by side; of a series' file, all that it holds.

    step: counted from 0; None is the one that the page opens with, or no step for a loom; of a comparison the place,
        None where the two part
    png: a PNG instead of an SVG
    moving: a film as WebP or GIF instead of an SVG
    body: the markup of the offline file
    note, address: what it says of the program
    size: bytes of the gzipped trace
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


class DrawReply(Model):
    """The answer of the renderer's process.

    size: bytes of the drawing, which follow
    steps: the number of steps, if there is no step of the requested number
    failed: why nothing was drawn
    ends: whether the process ends with this reply
    """

    size: int = 0
    steps: int | None = None
    failed: str | None = None
    ends: bool = False
