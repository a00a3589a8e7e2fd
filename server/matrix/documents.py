"""The matrix as a page, which shows one situation and marks what differs in others, as JSON, and as CSV."""

import csv
import io
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from server.matrix.programs import (
    DEFAULT_SITUATION,
    MATRIX_QUESTIONS,
    MATRIX_ROWS,
    SITUATIONS,
    MatrixQuestion,
    MatrixRow,
    Situation,
    cell_program,
)
from server.operations.catalogue import TABLES
from server.wire.matrix import (
    MatrixCell,
    MatrixDocument,
    MatrixOperation,
    MatrixProperty,
    MatrixVersions,
    Measurement,
    Verdict,
)


@dataclass(frozen=True)
class MatrixPageCell:
    """A cell of the page.

    differs: whether it is yes in some situations and no in others
    address: the name of the cell's program
    """

    question: MatrixQuestion
    verdict: Verdict
    detail: str
    differs: bool
    address: str
    step: int


@dataclass(frozen=True)
class MatrixPageRow:
    """A row of the page.

    raises: torch's message if the operation itself raises; its cells then say nothing else
    raises_elsewhere: whether it raises in another situation
    """

    row: MatrixRow
    cells: list[MatrixPageCell]
    raises: str
    raises_elsewhere: bool


@dataclass(frozen=True)
class InapplicableProperty:
    """torch's message for a question that does not apply to some operations."""

    question: str
    message: str
    rows: list[str]


def matrix_page_groups(measured: Measurement, situation: Situation) -> list[tuple[str, list[MatrixPageRow]]]:
    """Return the rows of a situation by group."""
    rows = [matrix_page_row(measured, row, situation) for row in MATRIX_ROWS]
    return [(group, list(members)) for group, members in groupby(rows, lambda member: member.row.group)]


def matrix_page_row(measured: Measurement, row: MatrixRow, situation: Situation) -> MatrixPageRow:
    here = measured.cells[situation.key][row.name]
    cells = [matrix_page_cell(measured, row, question, situation, here[question.name]) for question in MATRIX_QUESTIONS]
    raising = [of[row.name]["handle"].verdict == "raises" for of in measured.cells.values()]
    raises = here["handle"].detail if here["handle"].verdict == "raises" else ""
    return MatrixPageRow(row, cells, raises, any(raising) and not raises)


def matrix_page_cell(
    measured: Measurement, row: MatrixRow, question: MatrixQuestion, situation: Situation, cell: MatrixCell
) -> MatrixPageCell:
    verdicts = {measured.cells[other.key][row.name][question.name].verdict for other in SITUATIONS}
    program = cell_program(row, question, situation)
    address = f"{row.name}.{question.name}.{situation.key}"
    return MatrixPageCell(
        question, cell.verdict, cell.detail, {"yes", "no"} <= verdicts, address, program.step_after_operation
    )


def property_headings() -> list[tuple[str, int]]:
    """Return the headings above the properties, and how many properties each spans."""
    return [
        (heading, len(list(members)))
        for heading, members in groupby(MATRIX_QUESTIONS, lambda question: question.heading)
    ]


def first_properties_below_headings() -> set[str]:
    """Return the first property below each heading."""
    return {next(members).name for _, members in groupby(MATRIX_QUESTIONS, lambda question: question.heading)}


def inapplicable_properties(groups: list[tuple[str, list[MatrixPageRow]]]) -> list[InapplicableProperty]:
    """Return why questions do not apply: each message of torch once, with its operations."""
    operations: dict[tuple[str, str], list[str]] = {}
    for _, rows in groups:
        for row in rows:
            for cell in row.cells:
                if cell.verdict == "not_applicable":
                    operations.setdefault((cell.question.name, cell.detail), []).append(row.row.title)
    return [InapplicableProperty(question, message, rows) for (question, message), rows in operations.items()]


def parse_cell_address(address: str) -> tuple[MatrixRow, MatrixQuestion, Situation] | None:
    """Parse the name of a cell's program, `operation.property.tensor.memory.mode`; None for any other text."""
    name, _, rest = address.partition(".")
    question_name, _, key = rest.partition(".")
    row = next((row for row in MATRIX_ROWS if row.name == name), None)
    question = next((question for question in MATRIX_QUESTIONS if question.name == question_name), None)
    situation = find_situation(key)
    return (row, question, situation) if row and question and situation else None


def find_situation(key: str) -> Situation | None:
    """Return the situation with this name, if there is one."""
    return next((situation for situation in SITUATIONS if situation.key == key), None)


def situation_choices(situation: Situation) -> list[tuple[str, list[tuple[str, Situation]]]]:
    """Return the switches, each with its values and the situation to which each value leads."""
    switches: dict[str, list[tuple[str, Situation]]] = {"tensor": [], "memory": [], "mode": []}
    for other in SITUATIONS:
        for name, values in switches.items():
            value = getattr(other, name)
            if replace(situation, **{name: value}) == other and value not in [known for known, _ in values]:
                values.append((value, other))
    return list(switches.items())


CARD_WORDS = {
    "yes": "yes",
    "no": "no",
    "not_applicable": "not_applicable",
    "raises": "raises",
    "open": "open",
    "siblings": "siblings",
    "everywhere": "everywhere",
    "depends": "depends",
    "and": "and",
    "failed": "failed",
    "tensor": "on_tensor",
    "memory": "on_memory",
    "mode": "on_mode",
    "leaf": "leaf",
    "node": "node",
    "plain": "plain",
    "contiguous": "contiguous_memory",
    "strided": "strided_memory",
    "grad": "grad_mode",
    "no_grad": "no_grad_mode",
    "inference_mode": "inference_mode_mode",
}
"""The texts on the card of a cell, by their names in the page's script."""


def cell_card_words(messages: dict[str, str]) -> dict[str, str]:
    """Return the texts on a cell's card, in the language of the messages."""
    return {name: messages[f"matrix_{key}"] for name, key in CARD_WORDS.items()}


INPUT_DESCRIPTION = (
    "a: float32 of shape (2, 3), complex64 where the statement says so; the device is asked with a tensor on meta"
)
CSV_COLUMNS = ("operation", "group", "statement", "tensor", "memory", "mode", "property", "verdict", "detail")
MATRIX_SIBLINGS = {row.name: row.siblings for rows in TABLES.values() for row in rows}
"""The siblings of each operation in the catalogue."""


def matrix_siblings(name: str) -> list[str]:
    """Return the rows of the matrix that are this row's siblings in the catalogue."""
    names = {row.name for row in MATRIX_ROWS}
    return [sibling for sibling in MATRIX_SIBLINGS.get(name, ()) if sibling in names]


def matrix_as_json(measured: Measurement, messages: dict[str, str]) -> bytes:
    """Return the matrix as JSON.

    messages: the page's sentences, for the meaning of each property
    """
    document = MatrixDocument(
        versions=measured.versions,
        input=INPUT_DESCRIPTION,
        situations=[situation.key for situation in SITUATIONS],
        properties=[
            describe_property(question, messages[f"matrix_{question.name}_why"]) for question in MATRIX_QUESTIONS
        ],
        operations=[
            matrix_operation(row, {key: cells[row.name] for key, cells in measured.cells.items()})
            for row in MATRIX_ROWS
        ],
    )
    return document.model_dump_json(exclude_defaults=True).encode()


def describe_property(question: MatrixQuestion, meaning: str) -> MatrixProperty:
    return MatrixProperty(name=question.name, heading=question.heading, meaning=meaning, ask=question.ask)


def matrix_operation(row: MatrixRow, cells: dict[str, dict[str, MatrixCell]]) -> MatrixOperation:
    """Return an operation for the JSON document.

    cells: the operation's cells by situation and property
    """
    return MatrixOperation(
        name=row.name,
        group=row.group,
        statement=row.statement,
        siblings=matrix_siblings(row.name),
        written=row.written,
        cells=cells,
    )


def matrix_as_csv(measured: Measurement) -> bytes:
    """Return a line of names, and below it a line for each cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in MATRIX_ROWS:
        for situation in SITUATIONS:
            when = situation.tensor, situation.memory, situation.mode
            for name, cell in measured.cells[situation.key][row.name].items():
                writer.writerow((row.name, row.group, row.statement, *when, name, cell.verdict, cell.detail))
    return text.getvalue().encode()


def example_of_json() -> dict[str, Any]:
    """Return an example of the document with one cell."""
    clone = next(row for row in MATRIX_ROWS if row.name == "clone")
    document = MatrixDocument(
        versions=MatrixVersions(torch="2.13.0+cpu", numpy="2.4.6", python="3.11.7", measured="2026-11-22T20:14Z"),
        input=INPUT_DESCRIPTION,
        situations=[DEFAULT_SITUATION.key],
        properties=[describe_property(MATRIX_QUESTIONS[0], "Is b another Python object than a?")],
        operations=[
            matrix_operation(clone, {DEFAULT_SITUATION.key: {MATRIX_QUESTIONS[0].name: MatrixCell(verdict="yes")}})
        ],
    )
    return document.model_dump(exclude_defaults=True)


def example_of_csv() -> str:
    """Return an example of the lines with one cell."""
    line = (
        "clone",
        "copy",
        "b = a.clone()",
        DEFAULT_SITUATION.tensor,
        DEFAULT_SITUATION.memory,
        DEFAULT_SITUATION.mode,
        MATRIX_QUESTIONS[0].name,
        "yes",
        "",
    )
    return ",".join(CSV_COLUMNS) + "\n" + ",".join(line) + "\n"
