"""What is asked of the process that draws, and what it answers: a line of JSON each, with a trace after the first."""

from typing import Literal

from pydantic import Field

from server.wire.base import Model

Kind = Literal["stage", "loom", "card", "file"]
Theme = Literal["light", "dark"]


class DrawRequest(Model):
    """What is to be made of a trace. step: counted from 0; None is the one that a reader is shown first.

    png: made from the picture, instead of it. body: the offline file's own markup, ours. size: bytes of the trace, gzipped.
    """

    kind: Kind
    step: int | None = Field(default=None, ge=0)
    title: str = ""
    theme: Theme = "light"
    language: str = "en"
    png: bool = False
    body: str = ""
    size: int = 0


class DrawReply(Model):
    """size: bytes of what was made, which follow. steps: how many there are, where the one asked for is not among them.

    failed: why nothing was made.
    """

    size: int = 0
    steps: int | None = None
    failed: str | None = None
