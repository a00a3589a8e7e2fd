"""The catalogue for the interface: every table with its sentences, and an example of each operation."""

import functools
import json

from server import PROJECT_FOLDER
from server.operations.operand_kinds import KINDS, SAMPLES, OperationRow
from server.operations.rows import (
    BACKWARD,
    COPY,
    CREATE,
    GRAPH,
    IN_PLACE,
    MATH,
    MODULE,
    OPTIMIZERS,
    PYTHON,
    REDUCE,
    SHARE,
    VIEW,
)
from server.wire.operations import Group, Operand, Operation, Operations
from server.wire.saved_programs import Language

TABLES: dict[Group, tuple[OperationRow, ...]] = {
    "create": CREATE,
    "copy": COPY,
    "share": SHARE,
    "view": VIEW,
    "in-place": IN_PLACE,
    "math": MATH,
    "reduce": REDUCE,
    "graph": GRAPH,
    "backward": BACKWARD,
    "module": MODULE,
    "optimizer": OPTIMIZERS,
    "python": PYTHON,
}
EXAMPLE_RESULT_NAME = "y"
"""The name of the result in an example."""


def operation_sentences(language: Language) -> dict[str, str]:
    """Return a sentence for each operation, by name."""
    path = PROJECT_FOLDER / f"static/locales/operations.{language}.json"
    texts: dict[str, str] = json.loads(path.read_text("utf-8"))
    return texts


def example_program(row: OperationRow) -> str:
    """Return a program that runs the operation: its imports, a sample of each operand, and the statement."""
    lines = ["import torch", *(f"import {module}" for module in row.imports), ""]
    values = {"out": EXAMPLE_RESULT_NAME}
    for hole in row.holes:
        values[hole.name] = hole.proposed or hole.name
        sample = hole.sample or SAMPLES[hole.kind]
        if hole.proposed is None and sample is not None:
            lines += sample.replace("{name}", hole.name).split("\n")
    statement = row.template.format_map(values).split("\n")
    if row.inside is not None:
        statement = [row.inside, *(f"    {line}" for line in statement)]
    return "\n".join([*lines, *statement]) + "\n"


@functools.cache
def create_catalogue(language: Language) -> Operations:
    """Create the catalogue with the sentences of a language."""
    texts = operation_sentences(language)
    operations = [
        Operation(
            name=row.name,
            group=group,
            template=row.template,
            operands=[Operand(name=hole.name, kind=hole.kind, proposed=hole.proposed) for hole in row.holes],
            imports=list(row.imports),
            sentence=texts[row.name],
            siblings=list(row.siblings),
            example=example_program(row),
        )
        for group, rows in TABLES.items()
        for row in rows
    ]
    return Operations(operations=operations, kinds=list(KINDS))
