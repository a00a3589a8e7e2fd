"""A leaf while it is compared, and the rows that come of it."""

from dataclasses import dataclass, field

import torch

from gradbox.gradient_check.variation_points import VariationPoint
from gradbox.gradient_check.verdicts import (
    VERDICTS_BY_SEVERITY,
    Judgement,
    json_number,
    loses_digits,
    relative_difference,
)
from gradbox.wire.gradient_check import ElementCheck, LeafCheck


@dataclass
class Leaf:
    """A leaf as the run in float64 has it.

    values, torch_grad, double_grad: of all elements: its own, and its gradients in the program's precision and in
    float64; None where none came, no values where it can't be varied.
    """

    name: str | None
    shape: list[int]
    dtype: str
    strides: list[int]
    offset: int
    values: torch.Tensor | None
    point: VariationPoint
    in_graph: bool
    hooked: bool
    torch_grad: torch.Tensor | None = None
    double_grad: torch.Tensor | None = None
    largest_grad: float = 0.0
    rows: list[ElementCheck] = field(default_factory=list)

    def double_grad_at(self, element: int) -> float | None:
        """The gradient of an element in float64."""
        return None if self.double_grad is None else float(self.double_grad[element])


def element_check(leaf: Leaf, element: int, judgement: Judgement) -> ElementCheck:
    """An element's row."""
    slopes, verdict = judgement.slopes, judgement.verdict
    own = None if leaf.torch_grad is None else float(leaf.torch_grad[element])
    double = leaf.double_grad_at(element)
    if verdict == "agrees" and own is not None and double is not None:
        verdict = "rounding" if loses_digits(own, double, leaf.largest_grad, leaf.dtype) else verdict
    numeric = slopes.central if slopes else None
    shows_sides = slopes is not None and verdict in ("kink", "differs") and slopes.gap > 0.01 * abs(slopes.central)
    index = []
    for size in reversed(leaf.shape):
        index.append(element % size)
        element //= size
    return ElementCheck(
        index=index[::-1], torch=json_number(own), double=json_number(double), numeric=json_number(numeric), verdict=verdict,
        left=json_number(slopes.left) if slopes and shows_sides else None,
        right=json_number(slopes.right) if slopes and shows_sides else None,
        difference=relative_difference(own, numeric, slopes.noise if slopes else 0.0),
    )  # fmt: skip


def leaf_check(leaf: Leaf) -> LeafCheck:
    """A leaf with its rows, and the gravest of their verdicts."""
    worst = min(
        range(len(leaf.rows)),
        key=lambda k: (VERDICTS_BY_SEVERITY.index(leaf.rows[k].verdict), -torch_error(leaf.rows[k])),
        default=None,
    )
    size = 1
    for length in leaf.shape:
        size *= length
    return LeafCheck(
        name=leaf.name, line=leaf.point.line, shape=leaf.shape, dtype=leaf.dtype, elements=size,
        verdict="unknown" if worst is None else leaf.rows[worst].verdict, worst=worst, hooked=leaf.hooked,
        problem=leaf.point.problem, problem_line=leaf.point.problem_line, rows=leaf.rows,
    )  # fmt: skip


def torch_error(row: ElementCheck) -> float:
    """By how much torch is off: relative where it gave a value, else the whole slope."""
    if row.difference is not None:
        return row.difference
    return abs(row.numeric) if isinstance(row.numeric, float) else 0.0
