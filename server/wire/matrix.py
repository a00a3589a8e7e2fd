"""The matrix of what operations do to a tensor: the programs that ask torch, their answers, and the whole document."""

from typing import Literal

from gradbox.wire.base import FailFastList, Model

Tensor = Literal["leaf", "node", "plain"]
Memory = Literal["contiguous", "strided"]
Mode = Literal["grad", "no_grad", "inference_mode"]
Verdict = Literal["yes", "no", "not_applicable", "raises"]


class AnswerJob(Model):
    """Programs of the server's own that one child runs independently, one after the other, without a recorder."""

    programs: list[str]


class Answer(Model):
    """What a program printed, and the line and message with which it raised, if it did."""

    printed: str = ""
    line: int | None = None
    raised: str | None = None


class Answers(Model):
    answers: FailFastList[Answer]


class MatrixCell(Model):
    """The verdict of one question in one situation.

    detail: what else the program printed, or torch's message
    """

    verdict: Verdict
    detail: str = ""


class MatrixVersions(Model):
    """The versions with which the matrix was measured, and the date and time in UTC."""

    torch: str
    numpy: str
    python: str
    measured: str


class Measurement(Model):
    """All cells by operation, situation and property.

    digest: a digest of the programs
    """

    versions: MatrixVersions
    digest: str
    cells: dict[str, dict[str, dict[str, MatrixCell]]]


class MatrixProperty(Model):
    """A column: a question about `b`, and the lines that ask it.

    In the lines, `{root}` is `w`, from which `a` is made, if `a` is a node's result, and otherwise `a`; `{written}` is
    the operation's.
    """

    name: str
    heading: str
    meaning: str
    ask: str


class MatrixOperation(Model):
    """A row: the statement, and its cells by situation and property.

    written: the part of `b` that the question `counter` writes
    """

    name: str
    group: str
    statement: str
    siblings: list[str]
    written: str = "b"
    cells: dict[str, dict[str, MatrixCell]]


class MatrixDocument(Model):
    """The matrix in `/matrix.json`. A situation is named `tensor.memory.mode`."""

    versions: MatrixVersions
    input: str
    situations: list[str]
    properties: list[MatrixProperty]
    operations: list[MatrixOperation]
