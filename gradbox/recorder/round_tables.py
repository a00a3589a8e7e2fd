"""Bounded lists of what is recorded about the rounds of a training: losses, loops, printed texts and norms."""

import math
from collections.abc import Iterable
from typing import Any, Literal

from gradbox.recorder.probes.cells import encode_number
from gradbox.recorder.trace_delta import TraceDelta
from gradbox.recorder.uids import referenced_uid
from gradbox.wire.base import Number
from gradbox.wire.rounds import (
    MAX_LOOPS,
    MAX_LOSS_VALUES,
    MAX_LOSSES,
    MAX_PRINTED,
    MAX_PRINTED_CHARACTERS,
    MAX_ROWS,
    MAX_STRETCHES,
    RoundLoss,
    RoundRow,
    RoundStretch,
    RoundText,
    TrainingRound,
)

LoopPath = tuple[tuple[int, ...], int, tuple[int, ...], tuple[int, ...]]
"""The loops around a place, how many of them belong to the innermost function, the iteration of each, and its number in
the whole run, as in `RoundStretch`."""

NO_LOOPS: LoopPath = ((), 0, (), ())

SIGNIFICANT_DIGITS = 5

DIGITS_AT_A_TIE = 9


def encode_rounded(value: float | None) -> Number | None:
    """A number as the wire represents it, rounded.

    Readers round it again, to fewer digits. One that ends in 5 would lie halfway for them, so it keeps more digits:
    1.12497 is 1.12 to three digits, but 1.125 would become 1.13.
    """
    if value is None:
        return None
    rounded = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if repr(rounded).partition("e")[0].removesuffix(".0").rstrip("0").endswith("5"):
        rounded = float(f"{value:.{DIGITS_AT_A_TIE}g}")
    return rounded if math.isfinite(rounded) else encode_number(rounded)


class LossTable:
    """The values of each loss, round by round.

    broken_rounds: rounds in which a loss was not finite for the first time
    """

    def __init__(self) -> None:
        self._losses: dict[tuple[int | None, int], RoundLoss] = {}
        self._broken: set[int] = set()
        self.broken_rounds: set[int] = set()

    def find_or_add_loss_number(self, statement: int | None, root: int) -> int | None:
        """The number of the loss that begins at this statement and root; None if there are too many losses."""
        key = statement, root
        if key not in self._losses:
            if len(self._losses) == MAX_LOSSES:
                return None
            self._losses[key] = {"stmt": statement, "root": root, "every": 1, "values": []}
        return list(self._losses).index(key) if len(self._losses) > 1 else 0

    def put(self, n: int, values: dict[int, float | None]) -> None:
        """Store the values of a round, by the loss's number."""
        for k, loss in enumerate(self._losses.values()):
            value = values.get(k)
            if value is not None and not math.isfinite(value) and k not in self._broken:
                self._broken.add(k)
                self.broken_rounds.add(n)
            row, every = loss["values"], loss["every"]
            if n % every:
                continue
            place = n // every
            if place < MAX_LOSS_VALUES:
                row += [None] * (place + 1 - len(row))
                if value is not None or row[place] is None:
                    row[place] = encode_number(value)
                continue
            del row[1::2]
            loss["every"] = every * 2
            if n % loss["every"] == 0:
                row.append(encode_number(value))

    def row(self, values: dict[int, float | None]) -> list[Number | None]:
        """The values of a round as a list with a place for each loss."""
        if len(self._losses) == len(values) == 1:
            return [encode_number(values[0])]
        return [encode_number(values.get(k)) for k in range(len(self._losses))]

    def forget_values(self) -> None:
        for loss in self._losses.values():
            loss["values"], loss["every"] = [], 1

    def losses(self) -> list[RoundLoss]:
        return [*self._losses.values()]


def extend_or_begin_stretch(stretches: list[RoundStretch], n: int, path: LoopPath) -> None:
    """Note that round `n` ended in these loops."""
    loops, inner, iteration, total = path if len(path[0]) <= MAX_LOOPS else NO_LOOPS
    last = stretches[-1] if stretches else None
    if last is not None and tuple(last["loops"]) == loops:
        if not loops:
            return
        passed = n - last["first"]
        steps = iteration[-1] - last["iteration"][-1], total[-1] - last["total"][-1]
        same_outer = tuple(last["iteration"][:-1]) == iteration[:-1] and tuple(last["total"][:-1]) == total[:-1]
        if same_outer and passed == 1 and steps[0] == steps[1] > 0:
            last["by"] = steps[0]
            return
        if same_outer and last["by"] and steps == (passed * last["by"],) * 2:
            return
    if len(stretches) == MAX_STRETCHES - 1 and loops:
        loops, inner, iteration, total = NO_LOOPS
    if len(stretches) < MAX_STRETCHES:
        stretch: RoundStretch = {
            "first": n, "loops": [*loops], "inner": inner, "iteration": [*iteration], "total": [*total], "by": 0,
        }  # fmt: skip
        stretches.append(stretch)


class PrintedTexts:
    """What rounds printed.

    every: of the rounds that print, one in this many is kept
    """

    def __init__(self) -> None:
        self.texts: list[RoundText] = []
        self.every, self._count, self._last = 1, 0, -1

    def add(self, n: int, text: str) -> None:
        """Note what round `n` printed."""
        last = self.texts[-1] if self.texts else None
        if n == self._last:
            if last is not None and last["n"] == n:
                last["text"] = (last["text"] + text)[:MAX_PRINTED_CHARACTERS]
            return
        self._last, self._count = n, self._count + 1
        if (self._count - 1) % self.every:
            return
        if len(self.texts) == MAX_PRINTED:
            del self.texts[1::2]
            self.every *= 2
            if (self._count - 1) % self.every:
                return
        self.texts.append({"n": n, "text": text[:MAX_PRINTED_CHARACTERS]})


Column = Literal["grad", "weight", "moved"]

COLUMNS: tuple[Column, ...] = ("grad", "weight", "moved")

Squares = tuple[float | None, float | None, float | None]
"""Sums of squares: of a gradient, of the weights, and of the change of the weights."""


class NormRows:
    """The rows for which norms are recorded: parameters or, if there are too many, modules."""

    def __init__(self, delta: TraceDelta) -> None:
        self._delta = delta
        self.rows: list[RoundRow] = []
        self._row_of: dict[str, int] = {}

    def add(self, uids: Iterable[str], entries: Iterable[TrainingRound]) -> None:
        """Add rows for these parameters.

        entries: the rounds whose norms have to be adapted
        """
        new = [uid for uid in uids if uid not in self._row_of]
        if not new:
            return
        for uid in new:
            self._row_of[uid] = len(self.rows)
            self.rows.append({"tensors": [uid]})
        if len(self.rows) > MAX_ROWS:
            self._group_by_module(entries)

    def put(self, entry: TrainingRound, squares: dict[str, Squares]) -> None:
        """Store the norms of a round, in addition to those that it has."""
        for k, column in enumerate(COLUMNS):
            sums: dict[int, float] = {}
            for uid, of_uid in squares.items():
                value, place = of_uid[k], self._row_of[uid]
                if value is not None:
                    sums[place] = sums.get(place, 0.0) + value
            norms = entry.setdefault(column, [])
            norms += [None] * (len(self.rows) - len(norms))
            for place, total in sums.items():
                norms[place] = encode_rounded(math.sqrt(total))

    def _group_by_module(self, entries: Iterable[TrainingRound]) -> None:
        """Group the parameters by module, keeping as many levels of modules as there is room for."""
        chains = {uid: chain for uid, chain in self._containing_modules_by_parameter().items() if uid in self._row_of}
        uids = [uid for row in self.rows for uid in row["tensors"]]
        depth = max(map(len, chains.values()), default=0)
        while True:
            groups: dict[str | None, list[str]] = {}
            for uid in uids:
                chain = chains.get(uid, ())[:depth]
                groups.setdefault(chain[-1] if chain else None, []).append(uid)
            if len(groups) <= MAX_ROWS or not depth:
                break
            depth -= 1
        places = {uid: k for k, members in enumerate(groups.values()) for uid in members}
        for entry in entries:
            self._regroup_norms(entry, places, len(groups))
        self._row_of = places
        self.rows = []
        for module, members in groups.items():
            row: RoundRow = {"tensors": members}
            if module is not None:
                row["module"] = module
            self.rows.append(row)

    def _regroup_norms(self, entry: TrainingRound, places: dict[str, int], count: int) -> None:
        for column in COLUMNS:
            norms = entry.get(column)
            if norms is None:
                continue
            sums: dict[int, float] = {}
            for row, value in zip(self.rows, norms, strict=False):
                if value is not None:
                    place = places[row["tensors"][0]]
                    number = float(value) if isinstance(value, float | int) else math.nan
                    sums[place] = sums.get(place, 0.0) + number * number
            entry[column] = [encode_rounded(math.sqrt(sums[k])) if k in sums else None for k in range(count)]

    def _containing_modules_by_parameter(self) -> dict[str, tuple[str, ...]]:
        """For each parameter the modules that contain it, the outermost first."""
        owner: dict[str, str] = {}
        for uid, facts in self._delta.state.items():
            if facts["kind"] == "object" and "training" in facts:
                attributes: dict[str, Any] = facts.get("attrs") or {}
                for value in attributes.values():
                    inner = referenced_uid(value)
                    if inner is not None and inner[0] in "to":
                        owner.setdefault(inner, uid)
        chains: dict[str, tuple[str, ...]] = {}
        for uid in self._row_of:
            chain: list[str] = []
            at = owner.get(uid)
            while at is not None and at not in chain:
                chain.append(at)
                at = owner.get(at)
            chains[uid] = tuple(reversed(chain))
        return chains
