"""The rounds of a training, including those that are not recorded: their losses, and how far they moved the
parameters."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from gradbox.wire.base import FailFastList, Number, Uid, closed_typed_dict

MAX_ROUNDS = 500
"""Rounds that are listed. Of more, one in so many is."""

MAX_ROWS = 64
"""Parameters, or modules, whose norms are listed."""

MAX_LOSSES, MAX_LOSS_VALUES = 8, 4096
"""Losses of a training, and values of each. Of more rounds, one value in so many is listed."""

MAX_STRETCHES, MAX_RECORDED_ROUNDS, MAX_PRINTED, MAX_NEW_RATES = 2048, 10_000, 500, 64

MAX_RATES, MAX_ROW_TENSORS, MAX_LOOPS = 16, 4096, 64
"""Learning rates of a round, parameters of a row, and loops around a round. A round within more loops has none."""

MAX_PRINTED_CHARACTERS = 200
"""Characters of a round's printed text."""


@closed_typed_dict
class RoundLoss(TypedDict):
    """A loss: the statement at which backwards began, and the tensor among those that it was called with.

    values: of the rounds 0, every, 2 * every …; null if it did not run in a round or its value was not read. If a round
        has several backwards, of the last.
    """

    stmt: int | None
    root: int
    every: int
    values: Annotated[FailFastList[Number | None], Field(max_length=MAX_LOSS_VALUES)]


@closed_typed_dict
class RoundRow(TypedDict):
    """What norms are listed for: a parameter, or all parameters of a module together.

    module: null if they belong to no module
    """

    tensors: Annotated[FailFastList[Uid], Field(max_length=MAX_ROW_TENSORS)]
    module: NotRequired[Uid | None]


LoopNumbers = Annotated[FailFastList[int], Field(max_length=MAX_LOOPS)]


@closed_typed_dict
class RoundStretch(TypedDict):
    """Rounds from `first` on that lie in the same loops.

    loops: statements of the loops, outermost first; the last `inner` of them are of the function that trains. The last
        stretch for which there is room has none: the loops of its rounds are not known.
    iteration: of each loop, from 0, in the first of these rounds
    total: the number of that iteration in the whole run, from 1
    by: how many iterations of the last loop a round has; 0 if there is only one round
    """

    first: int
    loops: LoopNumbers
    inner: int
    iteration: LoopNumbers
    total: LoopNumbers
    by: int


Norms = Annotated[FailFastList[Number | None], Field(max_length=MAX_ROWS)]
"""Norms in the order of `TrainingRounds.rows`; null if a value was not read or does not exist."""


@closed_typed_dict
class TrainingRound(TypedDict):
    """One round of a training.

    n: its number, from 0
    backwards: how many calls of backward it had
    losses: in the order of `TrainingRounds.losses`
    lr: learning rates of the groups of the optimizers that have stepped, in the order of their first steps
    grad, weight, moved: the norms of the gradients, of the weights after the optimizer's step, and of the change of the
        weights; absent if they were not read
    """

    n: int
    backwards: int
    losses: Annotated[FailFastList[Number | None], Field(max_length=MAX_LOSSES)]
    lr: Annotated[FailFastList[Number | None], Field(max_length=MAX_RATES)]
    grad: NotRequired[Norms]
    weight: NotRequired[Norms]
    moved: NotRequired[Norms]


@closed_typed_dict
class RecordedRound(TypedDict):
    """A round with steps: its first step and the step in which it ended."""

    n: int
    step: int
    end: int


@closed_typed_dict
class RoundText(TypedDict):
    """The beginning of what a round printed."""

    n: int
    text: Annotated[str, Field(max_length=MAX_PRINTED_CHARACTERS)]


@closed_typed_dict
class TrainingRounds(TypedDict):
    """The rounds of a training.

    count: how many rounds the run had
    optimizers: how many stepped; if none did, a round is an iteration that calls backward
    every: one round in so many is listed in `rounds`, besides rounds that are recorded or in which a value stopped
        being finite, as far as there is room
    new_rates: the first rounds whose learning rates differ from those of the round before
    printed_every: of the rounds that print, one in so many is listed in `printed`
    """

    count: int
    optimizers: int
    every: int
    losses: Annotated[FailFastList[RoundLoss], Field(max_length=MAX_LOSSES)]
    rows: Annotated[FailFastList[RoundRow], Field(max_length=MAX_ROWS)]
    stretches: Annotated[FailFastList[RoundStretch], Field(max_length=MAX_STRETCHES)]
    rounds: Annotated[FailFastList[TrainingRound], Field(max_length=MAX_ROUNDS)]
    recorded: Annotated[FailFastList[RecordedRound], Field(max_length=MAX_RECORDED_ROUNDS)]
    new_rates: Annotated[FailFastList[int], Field(max_length=MAX_NEW_RATES)]
    printed: Annotated[FailFastList[RoundText], Field(max_length=MAX_PRINTED)]
    printed_every: int
