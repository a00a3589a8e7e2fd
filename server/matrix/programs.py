"""The program of each cell: an input in one of 18 situations, the operation, and the question."""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import get_args

from server.matrix.questions import ROOT_HOLE, WRITTEN_HOLE, Question
from server.matrix.rows import MatrixRow, Number
from server.wire.matrix import Answer, MatrixCell, Memory, Mode, Tensor

VALUES, TRANSPOSED_VALUES = ((1, 2, 3), (4, 5, 6)), ((1, 4), (2, 5), (3, 6))


@dataclass(frozen=True)
class Situation:
    """What `a` is, how its memory lies, and in which mode the operation runs."""

    tensor: Tensor = "leaf"
    memory: Memory = "contiguous"
    mode: Mode = "grad"

    @property
    def key(self) -> str:
        return f"{self.tensor}.{self.memory}.{self.mode}"


SITUATIONS = tuple(Situation(*parts) for parts in product(get_args(Tensor), get_args(Memory), get_args(Mode)))
DEFAULT_SITUATION = SITUATIONS[0]


@dataclass(frozen=True)
class CellProgram:
    """source: the program. operation, question: the first line of each of the two. step: after the operation."""

    source: str
    operation: int
    question: int

    @property
    def step(self) -> int:
        """The index of the trace's step: one for each line before the question that is not blank."""
        return sum(bool(line) for line in self.source.split("\n")[: self.question - 1]) - 1

    def read(self, answer: Answer, question: Question) -> MatrixCell:
        """What an answer of this program means for its cell."""
        if answer.line is None:
            verdict, _, detail = answer.printed.partition(" ")
            return MatrixCell(verdict="yes" if verdict == "True" else "no", detail=detail)
        message = answer.raised or ""
        if self.operation <= answer.line < self.question:
            return MatrixCell(verdict="raises", detail=message)
        refused = answer.line >= self.question and message.startswith("RuntimeError")
        return MatrixCell(verdict=question.refusal if refused else "not_applicable", detail=message)


def cell_program(row: MatrixRow, question: Question, situation: Situation) -> CellProgram:
    """The program that answers a question about an operation in a situation."""
    root = "w" if situation.tensor == "node" else "a"
    lines = ["import torch", *(f"import {module}" for module in row.imports), ""]
    lines += input_lines(row.number, question.meta, situation)
    lines += question.setup.split("\n") if question.setup else []
    operation = len(lines) + 1
    statement = row.statement.split("\n")
    if situation.mode != "grad":
        statement = [f"with torch.{situation.mode}():", *(f"    {line}" for line in statement)]
    lines += statement
    ask = question.ask.replace(ROOT_HOLE, root).replace(WRITTEN_HOLE, row.written).split("\n")
    return CellProgram("\n".join([*lines, *ask]) + "\n", operation, len(lines) + 1)


@cache
def input_lines(number: Number, meta: bool, situation: Situation) -> tuple[str, ...]:
    """Lines that make `a`, as float32 or complex64 of shape (2, 3). meta: on the device `meta`."""
    rows = VALUES if situation.memory == "contiguous" else TRANSPOSED_VALUES
    if meta:
        dtype = "dtype=torch.complex64, " if number == "complex" else ""
        made = f'torch.ones({len(rows)}, {len(rows[0])}, {dtype}device="meta")'
    else:
        form = "{0}." if number == "real" else "{0}+1j"
        made = f"torch.tensor([{', '.join('[' + ', '.join(form.format(x) for x in line) + ']' for line in rows)}])"
    if situation.memory == "strided":
        made += ".t().clone()"
    if situation.tensor != "plain":
        if situation.memory == "strided":
            made += ".requires_grad_()"
        else:
            made = f"{made[:-1]}, requires_grad=True)"
    return (f"w = {made}", "a = w * 1") if situation.tensor == "node" else (f"a = {made}",)
