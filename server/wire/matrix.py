"""The matrix of what operations do to a tensor: the programs that ask torch, what they answered, and the whole of
it."""

from typing import Literal

from gradbox.wire.base import FailFastList, Model

Tensor = Literal["leaf", "node", "plain"]
Memory = Literal["contiguous", "strided"]
Mode = Literal["grad", "no_grad", "inference_mode"]
Verdict = Literal["yes", "no", "not_applicable", "raises"]


class AnswerJob(Model):
    """Programs of the server's own that one child runs one after the other, each by itself, without a recorder."""

    programs: list[str]


class Answer(Model):
    """What a program printed, and where it raised, at which of its lines and with what message."""

    printed: str = ""
    line: int | None = None
    raised: str | None = None


class Answers(Model):
    answers: FailFastList[Answer]


class MatrixCell(Model):
    """The verdict of one question in one situation.

    detail: what the program printed besides, or what torch said
    """

    verdict: Verdict
    detail: str = ""


class MatrixVersions(Model):
    """What the matrix was measured on, and when: the date and time in UTC."""

    torch: str
    numpy: str
    python: str
    measured: str


class Measurement(Model):
    """All cells, by operation, situation and property.

    digest: of the programs that were run
    """

    versions: MatrixVersions
    digest: str
    cells: dict[str, dict[str, dict[str, MatrixCell]]]


class MatrixProperty(Model):
    """A column: what is asked of `b`, and the lines that ask it.

    In these, `{root}` is `w`, of which `a` is made, in situations of a node, else `a`; `{written}` is the operation's.
    """

    name: str
    heading: str
    meaning: str
    ask: str


class MatrixOperation(Model):
    """A row: the statement, and its cells by situation and property.

    written: what of `b` is written to ask `counter`
    """

    name: str
    group: str
    statement: str
    siblings: list[str]
    written: str = "b"
    cells: dict[str, dict[str, MatrixCell]]


class MatrixDocument(Model):
    """The matrix as `/matrix.json` gives it. A situation is named `tensor.memory.mode`."""

    versions: MatrixVersions
    input: str
    situations: list[str]
    properties: list[MatrixProperty]
    operations: list[MatrixOperation]
