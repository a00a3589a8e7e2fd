"""The program of a trace: its source, its files joined into one source, its statements, and what was changed or refused
in the pasted text."""

from collections.abc import Iterable
from types import UnionType
from typing import Annotated, NamedTuple, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

from gradbox.wire.base import FailFastList, Fields, Model

MAX_FILES, MAX_FILE_NAME = 1000, 400
"""The most files of a program, and the most characters of a file's name."""

MAX_NODE_TEXT = 1000
"""The most characters of a name, a path or a string in a statement's syntax tree. A statement with more has no tree."""


class Edit(Model):
    """One replacement. Lines count from 1, columns from 0, in characters."""

    line: int
    col: int
    end_line: int
    end_col: int
    text: str


class Repair(Model):
    """A change that lets the program run; it is only made on request. `key` and `args` say what and why.

    edits: in `source`
    pasted: the same edits in the pasted text, if that differs
    shape: the text for `{shape}` in the edits until the reader enters another, sizes with commas between them; `{n}` is
        the first of them
    """

    key: str
    args: Fields = {}
    edits: FailFastList[Edit] = []
    pasted: FailFastList[Edit] | None = None
    shape: str | None = None


class Notice(Model):
    """Something that the normaliser changed or points out. `kind` names a sentence, `args` are its arguments, `line` is
    in `source`."""

    line: int | None = None
    kind: str
    args: Fields = {}
    repairs: FailFastList[Repair] = []


NodePath = Annotated[str, Field(max_length=MAX_NODE_TEXT)]
NodeWord = Annotated[StrictStr, Field(max_length=40)]
LiteralValue = StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=MAX_NODE_TEXT)] | None


def _require_all_values_of_kind(kinds: type | UnionType) -> BeforeValidator:
    """Of a million invalid values one is reported; `fail_fast` does it for dictionaries only since pydantic 2.14."""

    def reject_first_other(values: object) -> object:
        if isinstance(values, dict) and not all(isinstance(value, kinds) for value in values.values()):
            raise ValueError("a value of another kind")
        return values

    return BeforeValidator(reject_first_other)


class StatementSyntax(Model):
    """The nodes of a statement's syntax tree, each before those in it, as columns: item k of each list is of node k.

    Node 0 is the statement. Of a block there is its head alone; of a class also the statements of its body that have
    no row of their own.

    kinds, fields: the kind of node, and the field of its parent that has it, as Python's `ast` calls them. What holds
    no nodes is not listed (contexts, operators, `arguments`): parameters are in the fields `args`, `posonlyargs`,
    `vararg`, `kwonlyargs` and `kwarg` of their function itself, each with its `annotation` and its `default`. Keys
    and values of a dictionary alternate; a value without a key is unpacked.

    parents: by number; -1 for the statement.

    starts, ends: characters of the source, counted from the statement's beginning; decorators stand before it.
    Brackets around an expression are not of it.

    values: of a name, an attribute, a parameter, a keyword and a definition what it is called (`global a, b`: `a,b`);
    of a literal its value, where it is a short string, a number that JSON has, a bool or None; of operations the
    operator, of comparisons those between the operands with commas; of `from … import` the module, with its dots, and
    of each imported name what it is bound to; of a list, tuple or set how many literals at its end are not listed.

    paths: of a name that the program doesn't bind itself, and of an imported one, the dotted path that it leads to,
    as the import has it: `torch.nn.functional` for `F`, `builtins.print` for `print`. Absent where a name has another
    meaning too.
    """

    kinds: FailFastList[NodeWord]
    fields: FailFastList[NodeWord]
    parents: FailFastList[StrictInt]
    starts: FailFastList[StrictInt]
    ends: FailFastList[StrictInt]
    values: Annotated[dict[str, LiteralValue], _require_all_values_of_kind(str | int | float | None)] = {}
    paths: Annotated[dict[str, NodePath], _require_all_values_of_kind(str)] = {}

    @model_validator(mode="after")
    def check_nodes(self) -> Self:
        """Each list has an item a node, and whatever a node is in comes before it."""
        count = len(self.kinds)
        if not count or any(len(column) != count for column in (self.fields, self.parents, self.starts, self.ends)):
            raise ValueError("its columns differ in length")
        if self.parents[0] != -1 or any(not 0 <= parent < k for k, parent in enumerate(self.parents[1:], 1)):
            raise ValueError("a node stands in none that comes before it")
        numbers = {str(number) for number in range(count)}
        if not numbers.issuperset(self.values) or not numbers.issuperset(self.paths):
            raise ValueError("a value is of no node")
        return self


class Statement(Model):
    """A statement of the program. Lines count from 1, columns from 0; `parent` and `loop` are indices of statements."""

    line: int
    col: int
    end_line: int
    end_col: int
    kind: str
    parent: int | None = None
    loop: int | None = None
    syntax: StatementSyntax | None = None


class ProgramFile(Model):
    """One of the files whose text makes up a program's source: lines `first_line` to `last_line`, counted from 1, both
    included.

    name: the displayed name, like `pkg/model.py`
    path: where the file is, if that is told
    """

    name: Annotated[str, Field(min_length=1, max_length=MAX_FILE_NAME)]
    path: str | None = None
    first_line: int
    last_line: int


class Program(Model):
    """The normalised source; `lines[k]` is the pasted line that line k+1 of it came from.

    files: the files that make up the source, one after the other, each beginning on a new line; none if it is a single
        text
    """

    source: str
    files: Annotated[list[ProgramFile], Field(fail_fast=True, max_length=MAX_FILES)] = []
    pasted: str | None = None
    lines: FailFastList[int | None] = []
    statements: FailFastList[Statement] = []
    notices: FailFastList[Notice] = []

    @model_validator(mode="after")
    def check_statement_order(self) -> Self:
        """Require that enclosing statements come first, so that following them outwards ends."""
        for i, statement in enumerate(self.statements):
            for outer in (statement.parent, statement.loop):
                if outer is not None and not 0 <= outer < i:
                    raise ValueError(f"statement {i} stands in statement {outer}")
        return self

    @model_validator(mode="after")
    def check_files_cover_source(self) -> Self:
        """Require that the files contain every line of the source, in order and once."""
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
    """The number of lines of a text. What follows its last line break counts if it is not empty."""
    return source.removesuffix("\n").count("\n") + 1


class Refusal(Model):
    """Why a program is not run. Lines count from 1, columns from 0; `key` and `args` express it in any language."""

    line: int
    col: int = 0
    end_col: int | None = None
    message: str
    key: str | None = None
    args: Fields = {}
    repairs: FailFastList[Repair] = []


class FileText(NamedTuple):
    """A file of a program.

    name: the displayed name
    path: where the file is; None if that is not told
    """

    name: str
    path: str | None
    text: str


def join_files(files: Iterable[FileText]) -> tuple[str, list[ProgramFile]]:
    """The source of a trace of these files, with `\\n` as line break, and the lines of each file in it.

    The list is empty for a single file, whose lines are those of the source.
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
