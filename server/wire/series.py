"""A series: saved programs in an order, each with a note; the reply of the interface, and its line in an archive."""

from typing import Annotated, Literal

from pydantic import Field

from gradbox.wire.base import FailFastList, Model, RequestModel
from server.wire.saved_programs import Digest, DisplayText, Id, Language

MAX_PROGRAMS = 40
"""Programs of a series."""

MAX_NOTE = 2000
"""Characters of a note."""

EXAMPLE_PROGRAM = "62dw6t77wr"
"""The id of the program that `POST /api/scenarios` has as its example."""

NoteStep = Annotated[int, Field(ge=0, le=10**6, strict=True)]


class SeriesItem(RequestModel):
    """A program of a series. program: the id of a saved one, which may stand in a series more than once.

    note: plain text; addresses in it are shown as links. step: where the note is shown, counted from 0 as `i` in the trace;
    null for the whole program.
    """

    program: Id = Field(examples=[EXAMPLE_PROGRAM])
    note: DisplayText = Field(default="", max_length=MAX_NOTE, examples=["What does clone() copy?"])
    step: NoteStep | None = Field(default=None, examples=[None])


class SeriesContent(RequestModel):
    """All that decides on the address of a series. language: of its texts."""

    title: DisplayText = Field(min_length=1, max_length=200, examples=["Copies and views"])
    description: DisplayText = Field(default="", max_length=2000, examples=["For the second week."])
    language: Language = "en"
    items: FailFastList[SeriesItem] = Field(
        min_length=1,
        max_length=MAX_PROGRAMS,
        examples=[[{"program": EXAMPLE_PROGRAM, "note": "What does clone() copy?\nhttps://pytorch.org", "step": 1}]],
    )


class SeriesItemReply(SeriesItem):
    """title: of the program. available: False where the host removed the program; it then has no title."""

    title: str
    available: bool


class SeriesReply(Model):
    """A series. created: ISO 8601, UTC."""

    id: Id
    url: str
    created: str
    title: str
    description: str
    language: Language
    items: list[SeriesItemReply]


class SeriesRecord(Model):
    """A line of an archive of series. kind: tells it from a program's. content: canonical JSON; digest: its SHA-256.

    created, removed: milliseconds since 1970. A removed one has no content.
    """

    kind: Literal["series"] = "series"
    id: Id
    digest: Digest
    created: int
    content: str | None = None
    removed: int | None = None
    reason: str | None = None
