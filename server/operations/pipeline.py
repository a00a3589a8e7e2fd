"""The source text of a pipeline, whose items are operations of the catalogue with their operands.

Operands are checked character by character, because only a child parses Python (decision 0001).
"""

import keyword
import re
from collections.abc import Sequence

from gradbox.wire.api import PipelineItem
from server.operations.catalogue import EXAMPLE_RESULT_NAME, TABLES
from server.operations.operand_kinds import OperationRow, TemplatePlaceholder
from server.wire.problems import ProblemError

ROW_BY_NAME = {row.name: row for rows in TABLES.values() for row in rows}
OUT_PLACEHOLDER = "{out}"
STRING_PATTERN = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
PATH_PATTERN = re.compile(r"([^\W\d]\w*)(?:\.\w+|\[[\w'\": ,-]*\])*")
"""A name followed by attributes and indices."""
NUMBER_PATTERN = re.compile(r"[+-]?[\w.]+(?:e[+-]?\d+)?")
BRACKET_PATTERN = re.compile(r"([()\[\]{}])")
OPENING_BRACKETS = frozenset("([{")
FORBIDDEN_PATTERN = re.compile(r"[#;\\'\"]")
BRACKET_PAIRS = {")": "(", "]": "[", "}": "{"}
CONSTANTS = {"None", "True", "False", "torch"}


def pipeline_source(items: Sequence[PipelineItem]) -> str:
    """Return the program: its imports, and a statement for each item. Raises ProblemError (422), whose field names the
    item."""
    rows = [_operation_row(item, k) for k, item in enumerate(items)]
    modules = dict.fromkeys(module for row in rows for module in row.imports)
    known_names = CONSTANTS | {module.split(" ")[-1] for module in modules}
    proposals = ProposedNames(known_names, {item.name for item in items if item.name})
    statements = []
    for k, (item, row) in enumerate(zip(items, rows, strict=True)):
        values = {hole.name: _operand_text(item, row, hole, k, known_names) for hole in row.holes}
        values["out"] = _result_name(item, row, k, proposals)
        statements.append(row.template.format_map(values))
        known_names |= {values["out"], *(values[hole.name] for hole in row.holes if hole.kind == "name")}
        if row.name == "del":
            known_names -= set(values.values())
            proposals.first = 1  # one of them may have become free
    return "\n".join(["import torch", *(f"import {module}" for module in modules), "", *statements]) + "\n"


def minimum_source_size(items: Sequence[PipelineItem]) -> int:
    """Return how many bytes of the program the operands alone take."""
    operands = (
        value.strip() if isinstance(value, str) else str(value) for item in items for value in item.operands.values()
    )
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in operands)


class ProposedNames:
    """Proposes names for unnamed results.

    known, chosen: the names in use
    first: the number to begin with
    """

    def __init__(self, known: set[str], chosen: set[str]) -> None:
        self._known, self._chosen = known, chosen
        self.first = 1

    def next_name(self) -> str:
        """Return `y`, or the first of `y2`, `y3`, … that is free."""
        while (name := self._numbered_name(self.first)) in self._known or name in self._chosen:
            self.first += 1
        return name

    @staticmethod
    def _numbered_name(number: int) -> str:
        return EXAMPLE_RESULT_NAME if number == 1 else f"{EXAMPLE_RESULT_NAME}{number}"


def _item_error(index: int, part: str, message: str) -> ProblemError:
    field = f"pipeline.{index}.{part}"
    return ProblemError(422, "invalid", f"{field}: {message}", field=field)


def _operation_row(item: PipelineItem, index: int) -> OperationRow:
    """Return the operation of an item after checking that it has all operands of the item."""
    row = ROW_BY_NAME.get(item.operation)
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


def _operand_text(
    item: PipelineItem, row: OperationRow, hole: TemplatePlaceholder, index: int, known_names: set[str]
) -> str:
    """Return the text of an operand: one expression, which may begin only with a known name."""
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


def _result_name(item: PipelineItem, row: OperationRow, index: int, proposals: ProposedNames) -> str:
    """Return the result's name, or "" if the operation has no result."""
    if OUT_PLACEHOLDER not in row.template:
        if item.name is not None:
            raise _item_error(index, "name", f"{row.name} has no result to name")
        return ""
    if item.name is not None:
        return _check_result_name(item.name, index, "name")
    return proposals.next_name()


def _check_result_name(text: str, index: int, part: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise _item_error(index, part, f"{text[:100]!r} is not a name")
    return text


def _text_outside_brackets(text: str) -> str:
    """Return the text outside strings and brackets, with a "?" if brackets don't match."""
    stack: list[str] = []
    found: list[str] = []
    for part in BRACKET_PATTERN.split(STRING_PATTERN.sub("s", text)):
        if part in OPENING_BRACKETS:
            stack.append(part)
        elif part in BRACKET_PAIRS:
            if not stack or stack.pop() != BRACKET_PAIRS[part]:
                found.append("?")
        elif not stack:
            found.append(part)
    return "".join(found) + ("?" if stack else "")


def is_one_expression(text: str, commas: bool) -> bool:
    """Return whether a text is one expression, so that it stays in its place in a template.

    commas: whether it may be several, such as sizes
    """
    if not text or not text.isprintable() or FORBIDDEN_PATTERN.search(STRING_PATTERN.sub("s", text)):
        return False
    top = _text_outside_brackets(text)
    return "?" not in top and (commas or "," not in top) and not re.search(r"(?<![=!<>])=(?!=)", top)


def has_operator(text: str) -> bool:
    """Return whether a part of the text could be taken for the operand, as with `a + b` in `{a}.clone()`."""
    return re.search(r"[^\w.]", _text_outside_brackets(text)) is not None
