"""The limits of a run, one row each. A run that reaches a limit ends there, and its trace says so."""

from dataclasses import dataclass
from typing import Literal

Limit = Literal["steps", "wall", "cpu", "memory", "output", "tensors", "trace"]


@dataclass(frozen=True)
class LimitRow:
    """A limit: the setting `GRADBOX_<NAME>`, and the sentence `stopped_<name>` of the locales.

    default, meaning, unit: of the setting; unit is B, s or nothing
    enforced_by: `tracer`, which ends every run of a program at the same place; `kernel`; or `server`, which watches the
        worker from outside
    """

    default: int | float
    meaning: str
    enforced_by: Literal["tracer", "kernel", "server"]
    unit: Literal["", "s", "B"] = ""


LIMITS: dict[Limit, LimitRow] = {
    "steps": LimitRow(2000, "Maximum number of recorded steps. Long loops are thinned to stay below it.", "tracer"),
    "wall": LimitRow(
        10.0,
        "Maximum duration, without the time in which others had the processor. Commands allow 60 s.",
        "server",
        "s",
    ),
    "cpu": LimitRow(5, "Maximum processor time. Commands allow 60 s.", "kernel", "s"),
    "memory": LimitRow(
        1 << 30, "Maximum memory of a program, in addition to what a worker uses itself.", "kernel", "B"
    ),
    "output": LimitRow(1_000_000, "Maximum number of characters that a program prints.", "tracer"),
    "tensors": LimitRow(10_000, "Maximum number of tensors that exist at the same time.", "tracer"),
    "trace": LimitRow(8_000_000, "Maximum size of a trace.", "tracer", "B"),
}

REPEATABLE_LIMITS = frozenset(name for name, row in LIMITS.items() if row.enforced_by == "tracer")
"""The limits that a program reaches at the same place whenever it is run."""

REPEATABLE_STATUSES = ("finished", "raised", "refused")
"""Statuses of runs that would end the same way again."""


def ends_repeatably(status: str, limit: Limit | None) -> bool:
    """Whether a run that ended this way would do so again, if its program is repeatable: it was not ended by a clock,
    by the machine's memory, or by somebody who killed it.

    status, limit: of its outcome
    """
    return status in REPEATABLE_STATUSES or limit in REPEATABLE_LIMITS
