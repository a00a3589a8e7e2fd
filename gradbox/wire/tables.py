"""The tables of a run by module and by parameter. The page's code (static/js/nets) makes them."""

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
"""What happened to a parameter, the worst first. static/js/findings/account/parameters.ts defines when each applies."""


class ModuleRow(Model):
    """A module that the run called, as far as it was recorded.

    path: the program's path to it; its class if no name leads to it
    depth: how many calls it runs inside
    calls: how many of its calls were recorded
    inputs, outputs: shapes of the tensors of its first call
    parameters: how many numbers the parameters of the module and its submodules have, each tensor counted once
    own: how many numbers its own parameters have
    shared: how many of `own` belong to another module of the table as well
    trainable: how many of `parameters` require a gradient; null if the trace does not tell
    operations: torch operations of the first call
    kept: bytes that the first call saved for backward, without parameters, each memory counted once
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
    """Totals of the outermost modules' first calls; what several of them share counts once."""

    parameters: int | None
    trainable: int | None
    operations: int
    kept: int


class Holder(Model):
    """A group of an optimizer.

    optimizer: the program's path to it
    group: its number, from 0
    lr: its learning rate after the optimizer's last recorded step; null if the trace does not tell
    """

    optimizer: str
    type: str
    group: int
    lr: float | None


class ParameterRow(Model):
    """A parameter, or another tensor that an optimizer holds.

    name: the program's path to it; null if no name leads to it
    also: its other names, as of tied weights
    numbers: how many elements it has
    gradient_norm, weight_norm: Euclidean norms after step `step` of the trace, the last recorded one of an optimizer
        that holds it (or of any, if none does); null if they are not known
    has_gradient: whether it had a `.grad` then
    steps: recorded steps of optimizers that hold it
    updated: how many of these changed its numbers
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

    modules: in the order of their first calls
    parameters: the worst first
    whole: whether the trace covers the whole run
    """

    whole: bool
    modules: FailFastList[ModuleRow]
    totals: ModuleTotals
    parameters: FailFastList[ParameterRow]
