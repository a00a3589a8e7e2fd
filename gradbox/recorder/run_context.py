"""What one run is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradbox.recorder.instrument import Statements
from gradbox.wire.job_records import FocusRecord
from gradbox.wire.limits import Limit
from gradbox.wire.records import StepRecord


def always_true() -> bool:
    return True


@dataclass(frozen=True)
class RunContext:
    """What a run is made of, and what it is held to.

    globals: the program's globals. write_step: takes a finished step, returns its size in bytes. stop_at_limit:
    called with a limit's name and its value when the run has to end; it does not return. focus: see `Schedule`.
    displayed: the statements whose value is wanted as an interactive session shows it. hidden_names: of the
    module, that are not the program's; None for all that it had before, as long as they are not bound anew.
    is_recorded: whether what the current thread does is recorded.
    """

    globals: dict[str, Any]
    statements: Statements
    limits: dict[str, int | float]
    write_step: Callable[[StepRecord], int]
    stop_at_limit: Callable[[Limit, float], None]
    focus: FocusRecord
    displayed: frozenset[int] = frozenset()
    hidden_names: frozenset[str] | None = None
    is_recorded: Callable[[], bool] = always_true
