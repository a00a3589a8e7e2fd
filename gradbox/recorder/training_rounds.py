"""The rounds of a training, recorded or not: their loops, losses, learning rates and norms.

A step of an optimizer ends a round if a node of a graph was made since the last round ended (docs/decisions/0046);
another optimizer's step in the same iteration of a loop belongs to the same round (0049). As long as no optimizer has
stepped, iterations that call backward are rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch.optim import Optimizer

from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.loop_sampling import IterationSchedule
from gradbox.recorder.parameter_norms import TrackedParameter, scalar_value
from gradbox.recorder.round_tables import (
    COLUMNS,
    NO_LOOPS,
    LoopPath,
    LossTable,
    NormRows,
    PrintedTexts,
    Squares,
    encode_rounded,
    extend_or_begin_stretch,
)
from gradbox.recorder.stack import has_steps, program_frames
from gradbox.recorder.trace_delta import TraceDelta
from gradbox.recorder.uids import WeakUids
from gradbox.wire.base import Number
from gradbox.wire.rounds import (
    MAX_NEW_RATES,
    MAX_RATES,
    MAX_RECORDED_ROUNDS,
    MAX_ROUNDS,
    RecordedRound,
    RoundStretch,
    TrainingRound,
    TrainingRounds,
)

ELEMENTS_PER_ROUND, PARAMETERS_PER_ROUND = 1 << 17, 64
"""Elements and parameters whose norms are read in an unrecorded round, on average."""

FIRST_ROUNDS = 16
"""Rounds whose norms are read in any case, unless the parameters are large."""

MAX_ELEMENTS = 1 << 26
"""Elements of an optimizer's parameters up to which their norms are read at all."""

MAX_KEPT_ELEMENTS = 1 << 22
"""Elements up to which copies are made, to measure how far a step moved the parameters."""

MAX_NORMS = 1 << 14
"""Rows of norms that are recorded of unrecorded rounds, in total."""

MAX_PARAMETERS, MAX_ROOTS = 4096, 4

_graph_sequence_number: Callable[[], int] = torch.autograd._get_sequence_nr  # type: ignore[attr-defined]


@dataclass(slots=True)
class Round:
    """The round that runs.

    step: the first recorded step; None if no step is recorded so far
    end: without an optimizer, the step of its last backward; None if that is not recorded
    """

    step: int | None
    end: int | None = None
    backwards: int = 0
    losses: dict[int, float | None] = field(default_factory=dict)
    path: LoopPath = NO_LOOPS


class TrainingRoundLog:
    """Is told of backwards, optimizer steps and printed text, and keeps what is reported of the rounds.

    schedule: has the counts of iterations
    step_count: returns how many steps are recorded so far
    """

    def __init__(
        self,
        statements: ProgramStatements,
        schedule: IterationSchedule,
        tensor_uids: WeakUids,
        delta: TraceDelta,
        step_count: Callable[[], int],
    ) -> None:
        self._statements, self._schedule = statements, schedule
        self._tensor_uids, self._step_count = tensor_uids, step_count
        self._paused = self._has_optimizer = False
        self._count, self._every = 0, 1
        self._current, self._ended = Round(0), Round(None)
        self._resumed_at = 0
        self._stepped: set[int] = set()  # ids of the optimizers whose steps ended the last round
        self._last_number = _graph_sequence_number()
        self._entries: dict[int, TrainingRound] = {}
        self._recorded: list[RecordedRound] = []
        self._losses, self._printed, self._rows = LossTable(), PrintedTexts(), NormRows(delta)
        self._stretches: list[RoundStretch] = []
        self._rates: dict[int, list[float | None]] = {}
        self._new_rates: list[int] = []
        self._rates_changed_in = -2
        self._parameters: dict[str, TrackedParameter] = {}
        self._elements = 0
        self._norms_every = 1
        self._is_last = False

    # What happens

    def set_recording_paused(self, paused: bool) -> None:
        """Begin or end a stretch without steps."""
        self._paused = paused
        if not paused:
            self._resumed_at = self._step_count()
        if paused and not self._has_next_round_begun():
            self._current.step = None
        elif not paused and self._current.step is None:
            self._current.step = self._step_count()

    def note_backward(self, roots: Any, frame: FrameType, statement: int | None) -> None:
        """The engine is about to run from these roots and to accumulate gradients."""
        if torch._C._current_graph_task_id() != -1:
            return
        if not self._has_optimizer:
            path = self._loop_path(frame)
            if self._current.backwards and path != self._current.path:
                self._end_round(self._current.path, None)
            self._current.path = path
            self._current.end = None if self._paused else self._step_count()
        current = self._current
        current.backwards += 1
        for k, root in enumerate(roots[:MAX_ROOTS]):
            loss = self._losses.find_or_add_loss_number(statement, k)
            if loss is not None:
                current.losses[loss] = scalar_value(root)

    def before_optimizer_step(self, optimizer: Optimizer, frame: FrameType) -> None:
        """An optimizer is about to step: keep what is needed to measure how far it moves the parameters."""
        if torch._C._current_graph_task_id() != -1:
            return
        self._is_last = self.are_all_loops_ending(frame)  # also outside of loops, where each round may be the last
        if not (self._is_last or self._are_norms_due(self._count) or self._are_norms_due(self._count - 1)):
            return
        for parameter, tensor in self._traced_parameters_of_optimizer(optimizer):
            if self._elements <= MAX_KEPT_ELEMENTS:
                parameter.keep_elements_before_step(tensor)

    def after_optimizer_step(self, optimizer: Optimizer, frame: FrameType) -> None:
        """An optimizer has stepped."""
        if not self._would_step_end_round():
            return
        self._last_number = _graph_sequence_number()
        path = self._loop_path(frame)
        has_new_rates = self._note_learning_rates(optimizer)
        if not self._has_optimizer:
            self._begin_counting_steps()
        elif path[0] and path == self._ended.path and id(optimizer) not in self._stepped:
            self._stepped.add(id(optimizer))
            if has_new_rates:
                self._note_learning_rate_change(self._count - 1)
            self._continue_ended_round(optimizer)
            return
        self._stepped = {id(optimizer)}
        if has_new_rates:
            self._note_learning_rate_change(self._count)
        self._end_round(path, optimizer)

    def on_output(self, text: str) -> None:
        """Note that the program printed. The text belongs to the round that ended last, until the next one makes a
        node."""
        begun = self._has_next_round_begun() or not self._has_optimizer
        if begun and (self._count or self._current.backwards):
            self._printed.add(self._count, text)
        elif self._count:
            self._printed.add(self._count - 1, text)

    # What is told

    def record(self) -> TrainingRounds | None:
        """The record of the rounds; None for a program that does not train."""
        if not self._has_optimizer and self._current.backwards and self._current.path[0]:
            self._end_round(self._current.path, None)
        if self._count < (1 if self._has_optimizer else 2):
            return None
        return {
            "count": self._count, "optimizers": len(self._rates), "every": self._every,
            "losses": self._losses.losses(), "rows": self._rows.rows, "stretches": self._stretches,
            "rounds": [*self._entries.values()], "recorded": self._recorded, "new_rates": self._new_rates,
            "printed": self._printed.texts, "printed_every": self._printed.every,
        }  # fmt: skip

    # A round

    def _has_next_round_begun(self) -> bool:
        """Whether the next round has made a node or called backward."""
        return self._current.backwards > 0 or _graph_sequence_number() != self._last_number

    def _would_step_end_round(self) -> bool:
        """Whether a step of an optimizer would end a round. It does not within a backward, whose other nodes have still
        to run."""
        return torch._C._current_graph_task_id() == -1 and _graph_sequence_number() != self._last_number

    def _end_round(self, path: LoopPath, optimizer: Optimizer | None) -> None:
        current, n = self._current, self._count
        current.path = path
        self._losses.put(n, current.losses)
        extend_or_begin_stretch(self._stretches, n, path)
        end = current.end if optimizer is None else None if self._paused else self._step_count()
        recorded = current.step is not None and end is not None
        is_told = n in self._losses.broken_rounds or n in self._new_rates[-1:] or self._is_last
        if recorded or is_told or n % self._every == 0:
            losses = self._losses.row(current.losses)
            entry: TrainingRound = {
                "n": n,
                "backwards": current.backwards,
                "losses": losses,
                "lr": self._learning_rate_row(),
            }
            self._entries[n] = entry
            if optimizer is not None:
                self._note_norms(entry, optimizer)
        if current.step is not None and end is not None and len(self._recorded) < MAX_RECORDED_ROUNDS:
            self._recorded.append({"n": n, "step": current.step, "end": end})
        self._count = n + 1
        if len(self._entries) > MAX_ROUNDS:
            self._thin_entries()
        after = self._step_count() if optimizer is not None or end is None else end
        self._begin_round(max(after + (end is not None), self._resumed_at))

    def _begin_round(self, step: int) -> None:
        self._ended = self._current
        self._current = Round(None if self._paused else step)

    def _continue_ended_round(self, optimizer: Optimizer) -> None:
        """Extend the last round to here, after another optimizer stepped in the same iteration."""
        current, ended, n = self._current, self._ended, self._count - 1
        current.losses = {**ended.losses, **current.losses}
        current.path, current.backwards = ended.path, ended.backwards + current.backwards
        self._losses.put(n, current.losses)
        entry = self._entries.get(n)
        if entry is not None:
            entry["backwards"], entry["losses"] = current.backwards, self._losses.row(current.losses)
            entry["lr"] = self._learning_rate_row()
            self._note_norms(entry, optimizer)
        if self._recorded and self._recorded[-1]["n"] == n and not self._paused:
            self._recorded[-1]["end"] = self._step_count()
        self._begin_round(self._step_count() + 1)

    def _begin_counting_steps(self) -> None:
        """Begin counting with the first optimizer step: earlier iterations that called backward were only parts of its
        first round."""
        self._has_optimizer = True
        if not self._count:
            return
        self._current.step = self._recorded[0]["step"] if self._recorded else self._current.step
        self._current.backwards += sum(entry["backwards"] for entry in self._entries.values())
        self._losses.forget_values()
        self._printed = PrintedTexts()
        self._entries, self._recorded, self._stretches = {}, [], []
        self._count, self._every = 0, 1

    def _thin_entries(self) -> None:
        """Drop every other entry, and recorded rounds only if that is not enough."""
        self._every *= 2
        recorded = {told["n"] for told in self._recorded}
        new = self._losses.broken_rounds.union(self._new_rates)
        for kept in (recorded | new, new):
            for n in [n for n in self._entries if n % self._every and n not in kept]:
                del self._entries[n]
            if len(self._entries) < MAX_ROUNDS:
                return

    # Loops

    def _loop_path(self, frame: FrameType) -> LoopPath:
        """The loops around a frame's position, across all functions that wait for it."""
        counts, entered = self._schedule.counts, self._schedule.counts_at_entry
        path, inner = self._loops_around_frame(frame)
        total: list[int] = []
        iteration: list[int] = []
        for loop in path:
            count = counts.get(loop, 0)
            total.append(count)
            iteration.append(max(count - entered.get(loop, 0) - 1, 0))
        return path, inner, tuple(iteration), tuple(total)

    def _loops_around_frame(self, frame: FrameType) -> tuple[tuple[int, ...], int]:
        """Those loops, outermost first, and how many of them belong to the innermost function that has any."""
        path: tuple[int, ...] = ()
        inner = 0
        for f in program_frames(frame):
            i = self._statements.statement_at(f.f_code, f.f_lasti) if has_steps(f.f_code) else None
            loops = () if i is None else self._statements.enclosing_loops(i, include_self=False)
            if loops:
                path, inner = path + loops, len(loops)
        return path, inner

    def are_all_loops_ending(self, frame: FrameType) -> bool:
        """Whether each loop around a frame's position runs its last iteration, as far as known."""
        path, _ = self._loops_around_frame(frame)
        return all(map(self._schedule.is_last_iteration, path))

    # Learning rates and norms

    def _note_learning_rates(self, optimizer: Optimizer) -> bool:
        """Note an optimizer's learning rates. Returns whether they have changed since its last step."""
        known = self._rates.get(id(optimizer))
        if known is None and len(self._rates) == MAX_RATES:
            return False
        rates = [learning_rate(group.get("lr")) for group in optimizer.param_groups[:MAX_RATES]]
        self._rates[id(optimizer)] = rates
        return known is not None and rates != known

    def _note_learning_rate_change(self, n: int) -> None:
        """Note the round in which the rates changed. If they change in each round, only the first is noted."""
        if self._rates_changed_in < n - 1 and len(self._new_rates) < MAX_NEW_RATES:
            self._new_rates.append(n)
        self._rates_changed_in = n

    def _learning_rate_row(self) -> list[Number | None]:
        return [encode_rounded(rate) for rates in self._rates.values() for rate in rates][:MAX_RATES]

    def _are_norms_due(self, n: int) -> bool:
        """Whether the norms of a round are read: of recorded rounds, of the first ones, and of every so many later."""
        if n < 0:
            return False
        if self._is_last or (not self._paused and self._current.step is not None):
            return True
        if n % self._norms_every:
            return False
        if n < FIRST_ROUNDS and self._elements <= MAX_KEPT_ELEMENTS:
            return True
        work = 1 + max(self._elements // ELEMENTS_PER_ROUND, len(self._parameters) // PARAMETERS_PER_ROUND)
        return n % (self._every * -(-work // self._every)) == 0

    def _thin_norms(self) -> None:
        """Drop the norms of every other unrecorded round if there are too many."""
        recorded = {told["n"] for told in self._recorded}
        entries = [entry for entry in self._entries.values() if "grad" in entry and entry["n"] not in recorded]
        while len(entries) * len(self._rows.rows) > MAX_NORMS and len(entries) > 1:
            self._norms_every *= 2
            for entry in entries:
                if entry["n"] % self._norms_every:
                    for column in COLUMNS:
                        entry.pop(column, None)
            entries = [entry for entry in entries if "grad" in entry]

    def _traced_parameters_of_optimizer(self, optimizer: Optimizer) -> list[tuple[TrackedParameter, torch.Tensor]]:
        """The parameters of an optimizer that the trace contains."""
        found: list[tuple[TrackedParameter, torch.Tensor]] = []
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                uid = self._tensor_uids.find_uid(tensor)
                if uid is None:
                    continue
                parameter = self._parameters.get(uid)
                if parameter is None:
                    if len(self._parameters) == MAX_PARAMETERS:
                        continue
                    parameter = self._parameters[uid] = TrackedParameter(uid)
                    self._elements += tensor.numel()
                found.append((parameter, tensor))
        return found

    def _note_norms(self, entry: TrainingRound, optimizer: Optimizer) -> None:
        if self._elements > MAX_ELEMENTS or not self._are_norms_due(entry["n"]):
            return
        parameters = self._traced_parameters_of_optimizer(optimizer)
        if self._elements > MAX_ELEMENTS:
            return
        self._rows.add([parameter.uid for parameter, _ in parameters], self._entries.values())
        squares: dict[str, Squares] = {
            parameter.uid: parameter.sums_of_squares(tensor) for parameter, tensor in parameters
        }
        self._rows.put(entry, squares)
        self._thin_norms()


def learning_rate(value: Any) -> float | None:
    """The learning rate of an optimizer's group, which may be a tensor."""
    return float(value) if type(value) in (float, int) else scalar_value(value)
