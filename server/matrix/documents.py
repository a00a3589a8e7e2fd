"""The matrix as JSON and as CSV."""

import csv
import io
from typing import Any

from server.matrix.programs import DEFAULT_SITUATION, SITUATIONS
from server.matrix.questions import QUESTIONS, Question
from server.matrix.rows import ROWS, MatrixRow
from server.operations.catalogue import TABLES
from server.wire.matrix import MatrixCell, MatrixDocument, MatrixOperation, MatrixProperty, MatrixVersions, Measurement

INPUT_DESCRIPTION = (
    "a: float32 of shape (2, 3), complex64 where the statement says so; the device is asked with a tensor on meta"
)
CSV_COLUMNS = ("operation", "group", "statement", "tensor", "memory", "mode", "property", "verdict", "detail")
MATRIX_SIBLINGS = {row.name: row.siblings for rows in TABLES.values() for row in rows}
"""Of the catalogue's operations."""


def matrix_siblings(name: str) -> list[str]:
    """Rows of the matrix that are siblings of this one in the catalogue."""
    names = {row.name for row in ROWS}
    return [sibling for sibling in MATRIX_SIBLINGS.get(name, ()) if sibling in names]


def json_document(measured: Measurement, messages: dict[str, str]) -> bytes:
    """messages: the page's, for what each property means."""
    document = MatrixDocument(
        versions=measured.versions,
        input=INPUT_DESCRIPTION,
        situations=[situation.key for situation in SITUATIONS],
        properties=[describe(question, messages[f"matrix_{question.name}_why"]) for question in QUESTIONS],
        operations=[
            matrix_operation(row, {key: cells[row.name] for key, cells in measured.cells.items()}) for row in ROWS
        ],
    )
    return document.model_dump_json(exclude_defaults=True).encode()


def describe(question: Question, meaning: str) -> MatrixProperty:
    return MatrixProperty(name=question.name, heading=question.heading, meaning=meaning, ask=question.ask)


def matrix_operation(row: MatrixRow, cells: dict[str, dict[str, MatrixCell]]) -> MatrixOperation:
    """cells: of this operation, by situation and property."""
    return MatrixOperation(
        name=row.name,
        group=row.group,
        statement=row.statement,
        siblings=matrix_siblings(row.name),
        written=row.written,
        cells=cells,
    )


def csv_document(measured: Measurement) -> bytes:
    """One line for each cell, below a line of names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in ROWS:
        for situation in SITUATIONS:
            when = situation.tensor, situation.memory, situation.mode
            for name, cell in measured.cells[situation.key][row.name].items():
                writer.writerow((row.name, row.group, row.statement, *when, name, cell.verdict, cell.detail))
    return text.getvalue().encode()


def shortened_json() -> dict[str, Any]:
    """An example of the document, with one cell."""
    clone = next(row for row in ROWS if row.name == "clone")
    document = MatrixDocument(
        versions=MatrixVersions(torch="2.13.0+cpu", numpy="2.4.6", python="3.11.7", measured="2026-11-22T20:14Z"),
        input=INPUT_DESCRIPTION,
        situations=[DEFAULT_SITUATION.key],
        properties=[describe(QUESTIONS[0], "Is b another Python object than a?")],
        operations=[matrix_operation(clone, {DEFAULT_SITUATION.key: {QUESTIONS[0].name: MatrixCell(verdict="yes")}})],
    )
    return document.model_dump(exclude_defaults=True)


def shortened_csv() -> str:
    """An example of the lines, with one cell."""
    line = (
        "clone",
        "copy",
        "b = a.clone()",
        DEFAULT_SITUATION.tensor,
        DEFAULT_SITUATION.memory,
        DEFAULT_SITUATION.mode,
        QUESTIONS[0].name,
        "yes",
        "",
    )
    return ",".join(CSV_COLUMNS) + "\n" + ",".join(line) + "\n"
