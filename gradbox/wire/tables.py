"""The tables of a run, by module and by parameter. The page's code makes them: static/js/nets."""

from typing import Literal

from gradbox.wire.base import FailFastList, Model, Number

Shape = FailFastList[int]

ParameterFate = Literal[
    "never_learns",
    "never_moved",
    "in_no_optimizer",
    "not_updated",
    "unused",
    "no_gradient_seen",
    "unknown",
    "changed",
    "updated",
    "frozen",
]
"""What became of a parameter, the worst first; static/js/nets/parameter_table.ts says when each is told."""


class ModuleRow(Model):
    """A module that the run called, in what was recorded.

    path: as the program reaches it; its class where no name leads to it depth: how many calls it runs in calls: those
        that were recorded inputs, outputs: shapes of the tensors of its first call parameters: how many numbers are in
        those of the module and of the modules in it, each tensor once own: in its own shared: of own, in those that
        another module of the table has as well trainable: of parameters, in those that require a gradient; null where
        the trace does not tell operations: torch operations of the first call kept: bytes that it saved for backward,
        parameters left out, each memory once
    """

    path: str
    type: str
    depth: int
    calls: int
    inputs: FailFastList[Shape | None]
    outputs: FailFastList[Shape | None]
    parameters: int | None
    own: int | None
    shared: int | None
    trainable: int | None
    operations: int
    kept: int


class ModuleTotals(Model):
    """Of the outermost modules' first calls; what several of them have counts once."""

    parameters: int | None
    trainable: int | None
    operations: int
    kept: int


class Holder(Model):
    """A group of an optimizer.

    optimizer: as the program reaches it
    group: from 0
    lr: its learning rate after the optimizer's last recorded step, null where the trace does not tell
    """

    optimizer: str
    type: str
    group: int
    lr: float | None


class ParameterRow(Model):
    """A parameter, or another tensor that an optimizer holds.

    name: as the program reaches it, null where no name does
    also: its other names, as of tied weights
    numbers: of elements
    gradient_norm, weight_norm: Euclidean, after the trace's step `step`, the last recorded one of an optimizer that
        holds it (of any, where none does); null where they are not known
    has_gradient: whether it had a `.grad` then
    steps: recorded steps of optimizers that hold it
    updated: those of them that changed its numbers
    """

    name: str | None
    also: FailFastList[str]
    shape: Shape
    numbers: int
    dtype: str
    requires_grad: bool
    held_by: FailFastList[Holder]
    has_gradient: bool | None
    gradient_norm: Number | None
    weight_norm: Number | None
    steps: int
    updated: int
    step: int
    fate: ParameterFate


class RunTables(Model):
    """The tables of a run.

    modules: in the order of first calls
    parameters: the worst first
    whole: whether the trace tells of the whole run
    """

    whole: bool
    modules: FailFastList[ModuleRow]
    totals: ModuleTotals
    parameters: FailFastList[ParameterRow]
