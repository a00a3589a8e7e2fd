"""Gradient checks: what a check is asked to do, and torch's values beside those of finite differences."""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictFloat, model_validator

from gradbox.wire.base import Model, NotFinite

FloatNumber = StrictFloat | NotFinite

MAX_LEAVES, MAX_CORNERS, MAX_ELEMENTS = 200, 20, 1000
"""The most leaves and corners that a check lists, and the most elements that it varies, over all leaves."""

MAX_DIMENSIONS = 128
Sizes = Annotated[list[int], Field(fail_fast=True, max_length=MAX_DIMENSIONS)]
"""A shape or an index. Most torch operations allow at most 64 dimensions."""

ElementVerdict = Literal["agrees", "rounding", "kink", "unknown", "imprecise", "stale", "cut", "differs", "unused"]
"""What comparing an element's gradient with its slope shows.

agrees: torch's value is the slope
rounding: torch's value is the slope but for a few roundings in the lowest precision that took part
kink: the slopes to both sides differ, and torch's value lies between them
unknown: there is no slope to compare with
imprecise: torch's value in float64 is the slope; in the program's precision it is farther away than a few roundings
stale: the same, where the program computed with a copy in another precision that is older than the value
cut: the loss depends on the element, but no gradient came
differs: torch's value is not the slope
unused: the loss does not depend on the element
"""

LeafProblem = Literal["written_between", "changed_unseen", "not_followed", "view", "nested", "not_real", "no_time"]
"""Why a leaf can't be varied.

written_between: a statement writes into it between two uses
changed_unseen: a write that torch does not see overwrote the change
not_followed: no operation was seen to use its memory
view: it is a result that shares the memory of what it was made from
nested: its gradient came from a backward within this one
not_real: it is complex or sparse
no_time: the time was over
"""

CheckProblem = Literal[
    "no_backward",
    "raised",
    "not_one_loss",
    "not_repeatable",
    "not_in_double",
    "no_leaves",
    "not_real",
    "too_long",
    "no_time",
]
"""Why nothing can be compared.

no_backward: the call is not reached
raised: the program raised before the call or in it
not_one_loss: the call computes several gradients at once, or runs within a transform of `torch.func`
not_repeatable: two runs with the same seed give different losses
not_in_double: the program does not run in float64
too_long: the program calls more operations than are followed
no_time: two runs took all the available time
"""


SampleProblem = Literal["no_batch", "raised", "not_repeatable", "too_long", "no_time"]
"""Why samples can't be followed.

no_batch: nothing with several samples meets trained parameters before the call
raised: the program raised before
not_repeatable: with one sample changed the program takes another path
too_long: its results are too many to compare
no_time: the time was over
"""


class GradientCheckOptions(Model):
    """What a gradient check is asked to do.

    backward: the number of the call of `backward` or `torch.autograd.grad`, from 0; null for the last
    elements: the most elements of each leaf that are varied
    samples: whether to check that the samples of the batch stay apart, instead of gradients
    """

    backward: Annotated[int, Field(ge=0, le=10**6, strict=True)] | None = None
    elements: int = Field(default=200, ge=1, le=MAX_ELEMENTS, strict=True)
    samples: bool = False


class ElementCheck(Model):
    """The check of one element of a leaf.

    index: its index in each dimension
    torch: the gradient in the program's own precision
    double: the gradient in float64; null if none came
    numeric: the central difference quotient
    left, right: the quotients to both sides, if they differ
    difference: between torch and numeric, relative to the larger
    """

    index: Sizes
    torch: FloatNumber | None
    double: FloatNumber | None
    numeric: FloatNumber | None
    left: FloatNumber | None = None
    right: FloatNumber | None = None
    difference: float | None
    verdict: ElementVerdict


class StaleCopy(Model):
    """A copy of a leaf in another precision that was made before the leaf was last written.

    line: where it was made
    """

    dtype: str
    line: int | None


class LeafCheck(Model):
    """The check of a leaf, or of a tensor whose gradient the call asks for.

    name: the program's name for it; null if it has none
    line: where its value was made
    elements: how many elements it has
    rows: the elements that were varied
    verdict: the worst verdict of the rows
    worst: the index of the row with that verdict
    hooked: hooks of the leaf may have changed torch's values
    copy_used: what the program computed with instead of its value, if that is older
    problem_line: the line of the statement that the problem is about
    """

    name: str | None
    line: int | None
    shape: Sizes
    dtype: str
    elements: int
    verdict: ElementVerdict
    worst: int | None = None
    hooked: bool = False
    copy_used: StaleCopy | None = None
    problem: LeafProblem | None = None
    problem_line: int | None = None
    rows: Annotated[list[ElementCheck], Field(fail_fast=True, max_length=MAX_ELEMENTS)] = []


class Corner(Model):
    """An operation of the forward run with an input exactly where its slope jumps."""

    op: str
    line: int | None


class MixingOperation(Model):
    """The first operation that lets one sample influence another.

    changed: how many samples it changed; null if that can't be counted
    """

    op: str
    line: int | None
    changed: int | None = None


class SampleCheck(Model):
    """What happened to the other samples of a batch when only the first was changed.

    line: of the statement where the batch meets trained parameters
    axis: the axis of the batch along which its `samples` lie
    mixing: null if the samples stay apart up to the loss
    runs: how often the program ran
    """

    problem: SampleProblem | None = None
    line: int | None = None
    axis: int = 0
    samples: int = 0
    mixing: MixingOperation | None = None
    runs: int = 0


class GradientCheck(Model):
    """Torch's gradients of one call of `backward` or `torch.autograd.grad` beside finite differences in float64.

    backward: the number of the call, from 0
    line: of its statement
    loss: in the program's precision
    double: the loss in float64
    runs: how often the program ran
    complete: whether the time sufficed for all elements that were to be varied
    """

    problem: CheckProblem | None = None
    message: str = ""
    backward: int | None = None
    line: int | None = None
    loss: FloatNumber | None = None
    double: FloatNumber | None = None
    runs: int = 0
    complete: bool = True
    corners: Annotated[list[Corner], Field(fail_fast=True, max_length=MAX_CORNERS)] = []
    leaves: Annotated[list[LeafCheck], Field(fail_fast=True, max_length=MAX_LEAVES)] = []
    samples: SampleCheck | None = None

    @model_validator(mode="after")
    def check_element_count(self) -> Self:
        """Limit the varied elements of all leaves together."""
        if sum(len(leaf.rows) for leaf in self.leaves) > MAX_ELEMENTS:
            raise ValueError(f"more than {MAX_ELEMENTS} elements")
        return self
