"""Measures the matrix: has this host's torch answer the program of every cell, and keeps what it said."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from server.matrix.programs import SITUATIONS, CellProgram, Situation, cell_program
from server.matrix.questions import QUESTIONS
from server.matrix.rows import ROWS
from server.wire.matrix import Answer, MatrixCell, MatrixVersions, Measurement

FILE_NAME = "matrix.json"
"""In the server's folder of data."""

Cells = dict[str, dict[str, MatrixCell]]
"""The cells of one situation, by operation and question."""


@cache
def cell_programs(situation: Situation) -> list[CellProgram]:
    """The programs of a situation: for each operation those of all questions."""
    return [cell_program(row, question, situation) for row in ROWS for question in QUESTIONS]


@cache
def programs_digest() -> str:
    """Of all programs: another one asks for another measurement."""
    total = hashlib.sha256()
    for situation in SITUATIONS:
        for program in cell_programs(situation):
            total.update(program.source.encode())
    return total.hexdigest()


def read_answers(situation: Situation, answers: list[Answer]) -> Cells:
    """The cells of a situation, from the answers of its programs, in their order."""
    pairs = iter(zip(cell_programs(situation), answers, strict=True))
    cells: Cells = {}
    for row in ROWS:
        read = {
            question.name: program.read(answer, question)
            for question, (program, answer) in zip(QUESTIONS, islice(pairs, len(QUESTIONS)), strict=True)
        }
        for question in QUESTIONS:
            if question.meta and read[question.name].verdict == "raises" and read["handle"].verdict != "raises":
                read[question.name].verdict = "not_applicable"
        cells[row.name] = read
    return cells


def new_measurement(versions: Mapping[str, str], cells: dict[str, Cells]) -> Measurement:
    """The whole, measured now. cells: by situation."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    named = MatrixVersions(torch=versions["torch"], numpy=versions["numpy"], python=versions["python"], measured=now)
    return Measurement(versions=named, digest=programs_digest(), cells=cells)


def load_measurement(folder: Path, versions: Mapping[str, str]) -> Measurement | None:
    """The measurement that an earlier server stored; None where there is none of these versions and programs."""
    try:
        stored = Measurement.model_validate_json((folder / FILE_NAME).read_bytes())
    except (OSError, ValidationError):
        return None
    same = stored.digest == programs_digest() and is_complete(stored)
    return stored if same and stored.versions.model_dump(exclude={"measured"}) == versions else None


def is_complete(stored: Measurement) -> bool:
    """Whether there is a cell for every situation, operation and question."""
    rows, questions = [row.name for row in ROWS], [question.name for question in QUESTIONS]
    return list(stored.cells) == [situation.key for situation in SITUATIONS] and all(
        list(cells) == rows and all(list(cell) == questions for cell in cells.values())
        for cells in stored.cells.values()
    )


def store_measurement(folder: Path, measured: Measurement) -> None:
    """Keep it for the next server with this folder. Raises OSError."""
    if folder.is_dir():
        draft = folder / f"{FILE_NAME}.new"
        draft.write_bytes(measured.model_dump_json(exclude_defaults=True).encode())
        draft.replace(folder / FILE_NAME)
