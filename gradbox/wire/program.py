"""The program of a trace: its source, its files as one source, its statements, and what was changed or refused in what
its reader pasted.
"""

from collections.abc import Iterable
from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from gradbox.wire.base import FailFastList, Fields, Model

MAX_FILES, MAX_FILE_NAME = 1000, 400
"""Files of a program, and characters of a file's name."""


class Edit(Model):
    """One replacement: lines from 1, columns from 0, in characters."""

    line: int
    col: int
    end_line: int
    end_col: int
    text: str


class Repair(Model):
    """A change that lets the program run; nobody makes it unasked. `key` and `args` say what and why.

    edits: in `source`
    pasted: the same in the pasted text, where that differs
    shape: what stands for `{shape}` in their texts until the reader says otherwise, sizes with commas between; `{n}` is
        the first of them
    """

    key: str
    args: Fields = {}
    edits: FailFastList[Edit] = []
    pasted: FailFastList[Edit] | None = None
    shape: str | None = None


class Notice(Model):
    """What the normaliser changed or points out; `kind` keys a sentence, `args` fill it; `line` of `source`."""

    line: int | None = None
    kind: str
    args: Fields = {}
    repairs: FailFastList[Repair] = []


class Statement(Model):
    """A statement of the program: lines from 1, columns from 0; `parent` and `loop` are statement indices."""

    line: int
    col: int
    end_line: int
    end_col: int
    kind: str
    parent: int | None = None
    loop: int | None = None


class ProgramFile(Model):
    """One of the files whose text makes a program's source: these lines of it, from 1, both included.

    name: as it is shown, like `pkg/model.py`
    path: where it lies, where that is told
    """

    name: Annotated[str, Field(min_length=1, max_length=MAX_FILE_NAME)]
    path: str | None = None
    first_line: int
    last_line: int


class Program(Model):
    """The normalised source; `lines[k]` is the pasted line that line k+1 of it came from.

    files: those that the source consists of, one after the other and each beginning on a line of its own; none where it
        is a single text
    """

    source: str
    files: Annotated[list[ProgramFile], Field(fail_fast=True, max_length=MAX_FILES)] = []
    pasted: str | None = None
    lines: FailFastList[int | None] = []
    statements: FailFastList[Statement] = []
    notices: FailFastList[Notice] = []

    @model_validator(mode="after")
    def check_statement_order(self) -> Self:
        """Whatever a statement stands in comes before it, so that the way outward has an end."""
        for i, statement in enumerate(self.statements):
            for outer in (statement.parent, statement.loop):
                if outer is not None and not 0 <= outer < i:
                    raise ValueError(f"statement {i} stands in statement {outer}")
        return self

    @model_validator(mode="after")
    def check_files_cover_source(self) -> Self:
        """The files have every line of the source, in order and each line once."""
        next_line = 1
        for file in self.files:
            if file.first_line != next_line or file.last_line < file.first_line:
                raise ValueError(
                    f"{file.name} has lines {file.first_line} to {file.last_line}, not from {next_line} on"
                )
            next_line = file.last_line + 1
        if self.files and next_line != line_count(self.source) + 1:
            raise ValueError(f"the files end on line {next_line - 1} of {line_count(self.source)}")
        return self


def line_count(source: str) -> int:
    """How many lines a text has; what follows its last line break is one if it is not empty."""
    return source.removesuffix("\n").count("\n") + 1


class Refusal(Model):
    """Why a program is not run: lines from 1, columns from 0; `key` and `args` say it in any language."""

    line: int
    col: int = 0
    end_col: int | None = None
    message: str
    key: str | None = None
    args: Fields = {}
    repairs: FailFastList[Repair] = []


class FileText(NamedTuple):
    """A file of a program.

    name: as it is shown
    path: where it lies, None where that is not told
    """

    name: str
    path: str | None
    text: str


def join_files(files: Iterable[FileText]) -> tuple[str, list[ProgramFile]]:
    """The source of a trace of these files, with `\\n` for line breaks, and the lines that each has in it.

    The list is empty for a single file: its lines are those of the source.
    """
    texts: list[str] = []
    listed: list[ProgramFile] = []
    last_line = 0
    for name, path, text in files:
        unix = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
        first_line, last_line = last_line + 1, last_line + unix.count("\n") + 1
        texts.append(unix)
        listed.append(ProgramFile(name=name, path=path, first_line=first_line, last_line=last_line))
    return "\n".join(texts) + "\n", listed if len(listed) > 1 else []
