"""A run for reading in a terminal, as the page's functions tell it."""

from typing import Literal

from gradbox.wire.base import FailFastList, Model


class Sentence(Model):
    """tone: `bad` for what went wrong, `cut` for where gradients end."""

    text: str
    tone: Literal["plain", "bad", "cut"]


class Verdict(Sentence):
    """How the run ended. line: where it did, if it did not come to its end."""

    line: int | None


class Remark(Model):
    """What is said of a line, or of the whole program where `line` is null. gloss: what the message of an error means."""

    line: int | None
    text: str
    gloss: str


class NamedValue(Model):
    """The elements of a tensor, the first of many. name: with its shape where that has more than one dimension."""

    name: str
    text: str


class StepReading(Model):
    """A step. code: of its line; empty where the program is over. iteration: of the loops around it. values: of the names
    whose memory it made or wrote."""

    line: int
    depth: int
    code: str
    iteration: FailFastList[int | str]
    sentences: FailFastList[Sentence]
    values: FailFastList[NamedValue]
    printed: str


class Reading(Model):
    """A whole run."""

    verdict: Verdict
    remarks: FailFastList[Remark]
    steps: FailFastList[StepReading]
