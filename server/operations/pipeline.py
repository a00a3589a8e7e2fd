"""Source text of a pipeline: each item is an operation of the catalogue with its operands filled in.

Operands are looked at character by character: only a child parses Python (decision 0001).
"""

import itertools
import keyword
import re
from collections.abc import Iterator, Sequence

from gradbox.wire.api import PipelineItem
from server.operations.catalogue import EXAMPLE_RESULT_NAME, TABLES
from server.operations.operand_kinds import OperationRow, TemplateHole
from server.wire.problems import ProblemError

ROWS = {row.name: row for rows in TABLES.values() for row in rows}
OUT_HOLE = "{out}"
STRING_PATTERN = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
PATH_PATTERN = re.compile(r"([^\W\d]\w*)(?:\.\w+|\[[\w'\": ,-]*\])*")
"""A name, and what is reached from it by attributes and indices."""
NUMBER_PATTERN = re.compile(r"[+-]?[\w.]+(?:e[+-]?\d+)?")
BRACKET_PAIRS = {")": "(", "]": "[", "}": "{"}
CONSTANTS = {"None", "True", "False", "torch"}


def pipeline_source(items: Sequence[PipelineItem]) -> str:
    """The program: its imports, and a statement for each item. Raises ProblemError (422), whose field names the item."""
    rows = [_operation_row(item, k) for k, item in enumerate(items)]
    modules = dict.fromkeys(module for row in rows for module in row.imports)
    known_names = CONSTANTS | {module.split(" ")[-1] for module in modules}
    chosen = {item.name for item in items if item.name}
    statements = []
    for k, (item, row) in enumerate(zip(items, rows, strict=True)):
        values = {hole.name: _operand_text(item, row, hole, k, known_names) for hole in row.holes}
        values["out"] = _result_name(item, row, k, known_names | chosen)
        statements.append(row.template.format_map(values))
        known_names |= {values["out"], *(values[hole.name] for hole in row.holes if hole.kind == "name")}
        if row.name == "del":
            known_names -= set(values.values())
    return "\n".join(["import torch", *(f"import {module}" for module in modules), "", *statements]) + "\n"


def _item_error(index: int, part: str, message: str) -> ProblemError:
    field = f"pipeline.{index}.{part}"
    return ProblemError(422, "invalid", f"{field}: {message}", field=field)


def _operation_row(item: PipelineItem, index: int) -> OperationRow:
    """The operation of an item, which has no operand that the operation lacks."""
    row = ROWS.get(item.operation)
    if row is None:
        raise _item_error(
            index, "operation", f"there is no operation {item.operation!r}; GET /api/operations has them all"
        )
    names = [hole.name for hole in row.holes]
    for name in item.operands:
        if name not in names:
            has = ", ".join(names) or "none"
            raise _item_error(index, "operands", f"{row.name} has no operand {name[:100]!r}; its operands: {has}")
    return row


def _operand_text(item: PipelineItem, row: OperationRow, hole: TemplateHole, index: int, known_names: set[str]) -> str:
    """The text of an operand: one expression; where it begins with a name, one that is known there."""
    value = item.operands.get(hole.name, hole.proposed)
    part = f"operands.{hole.name}"
    if value is None:
        raise _item_error(index, part, f"{row.name} needs this operand: {hole.kind}")
    text = str(value).strip()
    if hole.kind == "name":
        return _check_result_name(text, index, part)
    if not is_one_expression(text, hole.kind == "shape"):
        raise _item_error(index, part, f"{text[:100]!r} is not one expression")
    path = PATH_PATTERN.fullmatch(text)
    if path and path[1] not in known_names:
        raise _item_error(index, part, f"no item before this one makes {path[1]!r}")
    return (
        text
        if path or hole.kind == "shape" or NUMBER_PATTERN.fullmatch(text) or not has_operator(text)
        else f"({text})"
    )


def _result_name(item: PipelineItem, row: OperationRow, index: int, taken: set[str]) -> str:
    """The name of the result; "" where the operation makes none."""
    if OUT_HOLE not in row.template:
        if item.name is not None:
            raise _item_error(index, "name", f"{row.name} has no result to name")
        return ""
    if item.name is not None:
        return _check_result_name(item.name, index, "name")
    names = (EXAMPLE_RESULT_NAME if n == 1 else f"{EXAMPLE_RESULT_NAME}{n}" for n in itertools.count(1))
    return next(name for name in names if name not in taken)


def _check_result_name(text: str, index: int, part: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise _item_error(index, part, f"{text[:100]!r} is not a name")
    return text


def _characters_outside_brackets(text: str) -> Iterator[str]:
    """The characters that are in no string and in no bracket; "?" in their place where brackets don't match."""
    stack: list[str] = []
    for character in STRING_PATTERN.sub("s", text):
        if character in "([{":
            stack.append(character)
        elif character in BRACKET_PAIRS:
            if not stack or stack.pop() != BRACKET_PAIRS[character]:
                yield "?"
        elif not stack:
            yield character
    if stack:
        yield "?"


def is_one_expression(text: str, commas: bool) -> bool:
    """Whether it stays in its place in a template. commas: whether it may be several, as sizes are."""
    if not text or not text.isprintable() or any(mark in STRING_PATTERN.sub("s", text) for mark in "#;\\'\""):
        return False
    top = "".join(_characters_outside_brackets(text))
    return "?" not in top and (commas or "," not in top) and not re.search(r"(?<![=!<>])=(?!=)", top)


def has_operator(text: str) -> bool:
    """Whether a part of it could be taken for the operand: `a + b` in `{a}.clone()`."""
    return re.search(r"[^\w.]", "".join(_characters_outside_brackets(text))) is not None
