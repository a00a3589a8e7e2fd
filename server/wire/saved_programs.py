"""A saved program: its content, the reply of the interface, and its line in an archive."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gradbox.wire.api import MAX_INPUT
from gradbox.wire.base import Model, RequestModel
from gradbox.wire.trace import Focus

Text = Annotated[str, AfterValidator(lambda text: text.encode("utf-8", "replace").decode())]
"""A lone surrogate, which no database stores, is replaced by a question mark."""

DisplayText = Annotated[Text, AfterValidator(lambda text: CONTROL_CHARACTERS.sub(" ", text))]
"""Control characters other than tabs and line ends, and those of direction, are replaced by blanks."""

CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

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
    """Everything that a permalink shows except the trace, which follows from it. `source` is as pasted.

    parent: the id of the saved program that this one was forked from. language: of the texts.
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
    """A saved program. created: ISO 8601, UTC."""

    id: Id
    url: str
    created: str
    versions: Versions


class Rerun(Model):
    """The result of running a saved program again. step: the first one that differs.

    differs: the parts of the result that do. repeatable: whether the program is expected to give the same result each time.
    """

    id: Id
    changed: bool
    differs: list[Literal["steps", "printed", "outcome"]]
    step: int | None = None
    repeatable: bool
    was: Versions
    now: Versions


class ArchiveRecord(Model):
    """A line of an archive. content: canonical JSON; digest: its SHA-256. trace: gzipped, in base64.

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
