"""Difference quotients, and what they say about a value that should be their limit. Pure arithmetic, without
tensors."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from gradbox.wire.gradient_check import ElementVerdict, FloatNumber

UNIT_STEP = 2.0**-17
"""The step for an element around 1: the error of a central quotient is then about 1e-10, and rounding errors are as
large."""

STEP_RATIO = 8.0
"""The factor by which the second step is smaller."""

ROUNDING_ERRORS = 64 * 2.0**-52
"""The relative error of a loss that a program computes in float64."""

TOLERANCE = 1e-5
"""The relative difference of quotient and gradient in float64 that does not count."""

USUAL_ROUNDING = {"float64": 1e-6, "float32": 1e-3, "float16": 5e-2, "bfloat16": 5e-2}
"""The usual rounding error of a program's gradient: its difference from that in float64, relative to the leaf's largest
gradient."""

MAX_BACKWARD_ROUNDINGS = 32
"""Roundings of the largest number in a backward by which a gradient may be off for rounding alone."""

VERDICTS_BY_SEVERITY: tuple[ElementVerdict, ...] = (
    "differs", "stale", "cut", "imprecise", "unknown", "kink", "rounding", "agrees", "unused",
)  # fmt: skip

LossAfterChange = Callable[[float], float | None]
"""The loss after an element has changed by this much; None if there is none."""


@dataclass(frozen=True)
class DifferenceQuotients:
    """The quotients to both sides and their mean.

    noise: by how much rounding may have changed them
    """

    left: float
    right: float
    noise: float

    @property
    def central_quotient(self) -> float:
        return (self.left + self.right) / 2

    @property
    def gap_between_sides(self) -> float:
        return abs(self.right - self.left)

    def agrees_with(self, value: float) -> bool:
        return (
            abs(self.central_quotient - value) <= TOLERANCE * max(abs(self.central_quotient), abs(value)) + self.noise
        )

    def encloses_value(self, value: float) -> bool:
        room = TOLERANCE * max(abs(self.left), abs(self.right)) + self.noise
        return min(self.left, self.right) - room <= value <= max(self.left, self.right) + room


@dataclass(frozen=True)
class Judgement:
    verdict: ElementVerdict
    slopes: DifferenceQuotients | None = None


def difference_step_for(value: float) -> float:
    """The step for an element of this value: a power of two, so that the element changes by exactly that."""
    size = abs(value)
    return UNIT_STEP * (2.0 ** math.floor(math.log2(size)) if math.isfinite(size) and size > 1 else 1.0)


def measure_quotients(loss_after: LossAfterChange, loss: float, step: float) -> DifferenceQuotients | None:
    """The quotients at a step; None if a loss is missing or not finite."""
    up, down = loss_after(step), loss_after(-step)
    if up is None or down is None or not all(map(math.isfinite, (up, down, loss))):
        return None
    noise = ROUNDING_ERRORS * max(abs(up), abs(down), abs(loss)) / step
    return DifferenceQuotients((loss - down) / step, (up - loss) / step, noise)


def judge_gradient(loss_after: LossAfterChange, loss: float, step: float, double_grad: float | None) -> Judgement:
    """What the quotients say about the gradient `double_grad` that torch computed in float64. None means that no
    gradient came, which counts as 0."""
    expected = 0.0 if double_grad is None else double_grad
    coarse = measure_quotients(loss_after, loss, step)
    if coarse is None:
        return Judgement("unknown")
    fine = coarse
    suspicious = (
        coarse.gap_between_sides > 1e-3 * max(abs(coarse.left), abs(coarse.right), abs(expected)) + 4 * coarse.noise
    )
    if suspicious or not coarse.agrees_with(expected):
        fine = measure_quotients(loss_after, loss, step / STEP_RATIO) or coarse
    if (
        suspicious
        and fine is not coarse
        and fine.gap_between_sides > coarse.gap_between_sides / 2
        and fine.gap_between_sides > 4 * fine.noise
    ):
        if double_grad is None:
            return Judgement("cut", fine)
        return Judgement("kink" if fine.encloses_value(expected) else "differs", fine)
    best = fine if fine.agrees_with(expected) else coarse
    if best.agrees_with(expected):
        return Judgement("unused" if double_grad is None else "agrees", best)
    if double_grad is None:
        return Judgement("cut", fine)
    unsettled = abs(fine.central_quotient - coarse.central_quotient) - fine.noise
    if math.isfinite(expected) and unsettled > 0.05 * abs(fine.central_quotient - expected):
        return Judgement("unknown", fine)
    return Judgement("differs", fine)


def exceeds_usual_rounding(torch_grad: float, double_grad: float, largest_grad: float, dtype: str) -> bool:
    """Whether a gradient in a lower precision is farther from that in float64 than usual."""
    if not math.isfinite(torch_grad):
        return math.isfinite(double_grad)
    return abs(torch_grad - double_grad) > USUAL_ROUNDING.get(dtype, 1e-3) * max(largest_grad, abs(double_grad))


def is_explained_by_rounding(torch_grad: float, double_grad: float, largest_number: float, eps: float) -> bool:
    """Whether a few roundings explain the difference of a gradient from that in float64.

    largest_number: of all that the backward computed
    eps: of the lowest precision that took part
    """
    return abs(torch_grad - double_grad) <= MAX_BACKWARD_ROUNDINGS * eps * max(largest_number, abs(double_grad))


def relative_difference(value: float | None, numeric: float | None, noise: float) -> float | None:
    """The difference of two values relative to the larger; None if one is missing or not finite."""
    if value is None or numeric is None or not math.isfinite(value) or not math.isfinite(numeric):
        return None
    apart = abs(value - numeric)
    return 0.0 if apart <= noise else apart / max(abs(value), abs(numeric))


def json_number(value: float | None) -> FloatNumber | None:
    """A number in a form that JSON can represent."""
    if value is None or math.isfinite(value):
        return value
    return {"$f": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
