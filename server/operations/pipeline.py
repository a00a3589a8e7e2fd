"""Source text of a pipeline: each item is an operation of the catalogue with its operands filled in.

Operands are looked at character by character: only a child parses Python (decision 0001).
"""

import itertools
import keyword
import re
from collections.abc import Iterator, Sequence

from server.operations.catalogue import RESULT, TABLES
from server.operations.table import Hole, OperationRow
from server.wire.api import PipelineItem
from server.wire.problems import ProblemError

ROWS = {row.name: row for rows in TABLES.values() for row in rows}
OUT = "{out}"
STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
PATH = re.compile(r"([^\W\d]\w*)(?:\.\w+|\[[\w'\": ,-]*\])*")
"""A name, and what is reached from it by attributes and indices."""
NUMBER = re.compile(r"[+-]?[\w.]+(?:e[+-]?\d+)?")
PAIRS = {")": "(", "]": "[", "}": "{"}
CONSTANTS = {"None", "True", "False", "torch"}


def source_of(items: Sequence[PipelineItem]) -> str:
    """The program: its imports, and a statement for each item. Raises ProblemError (422), whose field names the item."""
    rows = [_operation_row(item, k) for k, item in enumerate(items)]
    modules = dict.fromkeys(module for row in rows for module in row.imports)
    known = CONSTANTS | {module.split(" ")[-1] for module in modules}
    chosen = {item.name for item in items if item.name}
    statements = []
    for k, (item, row) in enumerate(zip(items, rows, strict=True)):
        values = {hole.name: _operand(item, row, hole, k, known) for hole in row.holes}
        values["out"] = _result_name(item, row, k, known | chosen)
        statements.append(row.template.format_map(values))
        known |= {values["out"], *(values[hole.name] for hole in row.holes if hole.kind == "name")}
        if row.name == "del":
            known -= set(values.values())
    return "\n".join(["import torch", *(f"import {module}" for module in modules), "", *statements]) + "\n"


def _problem(k: int, part: str, message: str) -> ProblemError:
    field = f"pipeline.{k}.{part}"
    return ProblemError(422, "invalid", f"{field}: {message}", field=field)


def _operation_row(item: PipelineItem, k: int) -> OperationRow:
    """The operation of an item, which has no operand that the operation lacks."""
    row = ROWS.get(item.operation)
    if row is None:
        raise _problem(k, "operation", f"there is no operation {item.operation!r}; GET /api/operations has them all")
    names = [hole.name for hole in row.holes]
    for name in item.operands:
        if name not in names:
            has = ", ".join(names) or "none"
            raise _problem(k, "operands", f"{row.name} has no operand {name[:100]!r}; its operands: {has}")
    return row


def _operand(item: PipelineItem, row: OperationRow, hole: Hole, k: int, known: set[str]) -> str:
    """The text of an operand: one expression; where it begins with a name, one that is known there."""
    value = item.operands.get(hole.name, hole.proposed)
    part = f"operands.{hole.name}"
    if value is None:
        raise _problem(k, part, f"{row.name} needs this operand: {hole.kind}")
    text = str(value).strip()
    if hole.kind == "name":
        return _checked_name(text, k, part)
    if not is_one_expression(text, hole.kind == "shape"):
        raise _problem(k, part, f"{text[:100]!r} is not one expression")
    path = PATH.fullmatch(text)
    if path and path[1] not in known:
        raise _problem(k, part, f"no item before this one makes {path[1]!r}")
    return text if path or hole.kind == "shape" or NUMBER.fullmatch(text) or not has_operator(text) else f"({text})"


def _result_name(item: PipelineItem, row: OperationRow, k: int, taken: set[str]) -> str:
    """The name of the result; "" where the operation makes none."""
    if OUT not in row.template:
        if item.name is not None:
            raise _problem(k, "name", f"{row.name} has no result to name")
        return ""
    if item.name is not None:
        return _checked_name(item.name, k, "name")
    names = (RESULT if n == 1 else f"{RESULT}{n}" for n in itertools.count(1))
    return next(name for name in names if name not in taken)


def _checked_name(text: str, k: int, part: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise _problem(k, part, f"{text[:100]!r} is not a name")
    return text


def _outside_brackets(text: str) -> Iterator[str]:
    """The characters that are in no string and in no bracket; "?" in their place where brackets don't match."""
    stack: list[str] = []
    for character in STRING.sub("s", text):
        if character in "([{":
            stack.append(character)
        elif character in PAIRS:
            if not stack or stack.pop() != PAIRS[character]:
                yield "?"
        elif not stack:
            yield character
    if stack:
        yield "?"


def is_one_expression(text: str, commas: bool) -> bool:
    """Whether it stays in its place in a template. commas: whether it may be several, as sizes are."""
    if not text or not text.isprintable() or any(mark in STRING.sub("s", text) for mark in "#;\\'\""):
        return False
    top = "".join(_outside_brackets(text))
    return "?" not in top and (commas or "," not in top) and not re.search(r"(?<![=!<>])=(?!=)", top)


def has_operator(text: str) -> bool:
    """Whether a part of it could be taken for the operand: `a + b` in `{a}.clone()`."""
    return re.search(r"[^\w.]", "".join(_outside_brackets(text))) is not None
