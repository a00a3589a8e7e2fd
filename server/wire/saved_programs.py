"""Saved programs and series of them: their content, the replies of the interface, their lines in an archive, and how
they are embedded in another site's page (oEmbed 1.0, of type `rich`).
"""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gradbox.wire.api import MAX_INPUT
from gradbox.wire.base import FailFastList, Model, RequestModel
from gradbox.wire.trace import Focus

Text = Annotated[str, AfterValidator(lambda text: text.encode("utf-8", "replace").decode())]
"""Text in which lone surrogates, which no database stores, are replaced by question marks."""

DisplayText = Annotated[Text, AfterValidator(lambda text: CONTROL_CHARACTERS_PATTERN.sub(" ", text))]
"""Text in which control characters (except tabs and line ends) and those of text direction are replaced by blanks."""

CONTROL_CHARACTERS_PATTERN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

Id = Annotated[str, Field(pattern="^[256789dfhjkmnprtvwx]{10,64}$", examples=["7kd5h2n9xt"])]
Language = Literal["en", "zh"]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class RunSettings(RequestModel):
    """How the program is run."""

    seed: int = Field(default=0, ge=0, le=2**32 - 1, strict=True)
    device: Literal["cpu", "cuda"] = "cpu"
    focus: Focus | None = Field(default=None, examples=[None])
    input: Text = Field(default="", max_length=MAX_INPUT)


class Content(RequestModel):
    """Everything that a permalink shows except the trace, which follows from it. `source` is stored as pasted.

    parent: the id of the saved program from which this one was forked
    language: of the texts
    """

    source: Text = Field(examples=["a = torch.tensor([1., 2.])\nb = a.clone()\n"])
    title: DisplayText = Field(default="", max_length=200)
    description: DisplayText = Field(default="", max_length=2000)
    note: DisplayText = Field(default="", max_length=2000)
    language: Language = "en"
    parent: Id | None = Field(default=None, examples=[None])
    settings: RunSettings = RunSettings()


class Versions(Model):
    """The versions that made a trace."""

    torch: str
    numpy: str
    python: str
    tracer: str


class SavedProgramReply(Content):
    """A saved program.

    created: ISO 8601, UTC
    """

    id: Id
    url: str
    created: str
    versions: Versions


class Rerun(Model):
    """The result of running a saved program again.

    step: the first one that differs
    differs: the parts of the result that differ
    repeatable: whether the program is expected to give the same result each time
    """

    id: Id
    changed: bool
    differs: list[Literal["steps", "printed", "outcome"]]
    step: int | None = None
    repeatable: bool
    was: Versions
    now: Versions


class ArchiveRecord(Model):
    """A line of an archive.

    content: in canonical JSON
    digest: the SHA-256 of the content
    trace: gzipped, in base64
    created, removed: milliseconds since 1970. A removed program has neither content nor trace.
    """

    id: Id
    digest: Digest
    created: int
    versions: Versions
    content: str | None = None
    trace: str | None = None
    removed: int | None = None
    reason: str | None = None


class OEmbed(Model):
    """The reply of the oEmbed endpoint.

    width, height: of the frame in `html`, in pixels
    cache_age: in seconds
    """

    version: Literal["1.0"] = "1.0"
    type: Literal["rich"] = "rich"
    title: str
    provider_name: Literal["Gradbox"] = "Gradbox"
    provider_url: str
    cache_age: int
    html: str
    width: int
    height: int
    thumbnail_url: str
    thumbnail_width: int
    thumbnail_height: int


MAX_PROGRAMS = 40
"""The most programs of a series."""

MAX_NOTE = 2000
"""The most characters of a note."""

EXAMPLE_PROGRAM = "62dw6t77wr"
"""The id of the example program of `POST /api/scenarios`."""

NoteStep = Annotated[int, Field(ge=0, le=10**6, strict=True)]


class SeriesItem(RequestModel):
    """A program of a series.

    program: the id of a saved program, which may occur in a series more than once
    note: plain text; addresses in it are shown as links
    step: where the note is shown, counted from 0 as `i` in the trace; null for the whole program
    """

    program: Id = Field(examples=[EXAMPLE_PROGRAM])
    note: DisplayText = Field(default="", max_length=MAX_NOTE, examples=["What does clone() copy?"])
    step: NoteStep | None = Field(default=None, examples=[None])


class SeriesContent(RequestModel):
    """Everything that determines the address of a series.

    language: of its texts
    """

    title: DisplayText = Field(min_length=1, max_length=200, examples=["Copies and views"])
    description: DisplayText = Field(default="", max_length=2000, examples=["For the second week."])
    language: Language = "en"
    items: FailFastList[SeriesItem] = Field(
        min_length=1,
        max_length=MAX_PROGRAMS,
        examples=[[{"program": EXAMPLE_PROGRAM, "note": "What does clone() copy?\nhttps://pytorch.org", "step": 1}]],
    )


class SeriesItemReply(SeriesItem):
    """A program of a series.

    title: of the program
    available: False if the host removed the program; it then has no title
    """

    title: str
    available: bool


class SeriesReply(Model):
    """A series.

    created: ISO 8601, UTC
    """

    id: Id
    url: str
    created: str
    title: str
    description: str
    language: Language
    items: list[SeriesItemReply]


class SeriesRecord(Model):
    """A line of an archive of series.

    kind: distinguishes it from a program's record
    content: in canonical JSON
    digest: the SHA-256 of the content
    created, removed: milliseconds since 1970. A removed one has no content.
    """

    kind: Literal["series"] = "series"
    id: Id
    digest: Digest
    created: int
    content: str | None = None
    removed: int | None = None
    reason: str | None = None
