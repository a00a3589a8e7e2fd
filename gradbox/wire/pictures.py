"""Requests to the renderer's process and its replies: a line of JSON each, followed by the trace or the drawing."""

from typing import Literal

from pydantic import Field

from gradbox.wire.base import Model

ComparisonKind = Literal["comparison", "comparison_picture", "comparison_file"]
Kind = (
    Literal["stage", "loom", "card", "thumbnail", "still", "file", "series_file", "findings", "summary", "reading"]
    | ComparisonKind
)
Theme = Literal["light", "dark"]


class DrawRequest(Model):
    """What to draw. Of a comparison, two traces by side; of a series' file, all that it holds. step: counted from 0; None is the one that the page opens with, or no step for a loom; of a
    comparison the place, None where the two part.

    png: a PNG instead of an SVG. body: the markup of the offline file. note, address: what it says of the program. size: bytes of the gzipped trace.
    """

    kind: Kind
    step: int | None = Field(default=None, ge=0)
    title: str = ""
    note: str = ""
    address: str = ""
    theme: Theme = "light"
    language: str = "en"
    png: bool = False
    body: str = ""
    size: int = 0


class DrawReply(Model):
    """size: bytes of the drawing, which follow. steps: the number of steps, if there is no step of the requested number.

    failed: why nothing was drawn. ends: whether the process ends with this reply.
    """

    size: int = 0
    steps: int | None = None
    failed: str | None = None
    ends: bool = False
