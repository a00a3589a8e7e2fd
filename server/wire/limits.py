"""The limits of a run, one row each. A run that reaches one ends there, and its trace says so."""

from dataclasses import dataclass
from typing import Literal

Limit = Literal["steps", "wall", "cpu", "memory", "output", "tensors", "trace"]


@dataclass(frozen=True)
class LimitRow:
    """A limit: the setting `GRADBOX_<NAME>`, and the sentence `stopped_<name>` of the locales.

    default, meaning, unit: of the setting; unit is B, s or nothing. enforced_by: the tracer, which ends every run of a
    program at the same place; the kernel; or the server, which watches the worker from outside.
    """

    default: int | float
    meaning: str
    enforced_by: Literal["tracer", "kernel", "server"]
    unit: Literal["", "s", "B"] = ""


LIMITS: dict[Limit, LimitRow] = {
    "steps": LimitRow(2000, "Steps of a run; long loops are thinned to fit.", "tracer"),
    "wall": LimitRow(
        10.0, "Seconds a run may take; the `trace` command waits 60 where this is not set.", "server", "s"
    ),
    "cpu": LimitRow(
        5, "Seconds of processor time that a run may take; 60 for `trace` where this is not set.", "kernel", "s"
    ),
    "memory": LimitRow(1 << 30, "Bytes that a program may take on top of what a worker has.", "kernel", "B"),
    "output": LimitRow(1_000_000, "Characters a program may print.", "tracer"),
    "tensors": LimitRow(10_000, "Tensors that may live at once.", "tracer"),
    "trace": LimitRow(8_000_000, "Bytes of a trace.", "tracer", "B"),
}

REPEATABLE = frozenset(name for name, row in LIMITS.items() if row.enforced_by == "tracer")
"""The limits that a program reaches at the same place each time it is run."""
