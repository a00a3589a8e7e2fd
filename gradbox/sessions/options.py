"""The options of a session: the files that get steps, its limits, and what is told of its steps."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gradbox.wire.job_records import FocusRecord
from gradbox.wire.records import RegionRecord, StepRecord

STATELESS_TYPES = {"module", "type", "function", "builtin_function_or_method"}
"""Types of names from before a recording that are not drawn, because they are not state of the program."""


@dataclass(frozen=True)
class SessionFile:
    """A file of the program.

    path: the path in its code
    name: the name that is shown, like `train.py` or `cell 3`
    """

    path: str
    name: str
    source: str


class TraceLineSink(Protocol):
    """Receives the lines of a trace."""

    def write_header(self, line: bytes) -> None:
        """Write the first line. It is written again, replacing the earlier one, when another module gets steps."""

    def write_step(self, line: bytes) -> None:
        """Write a step."""


@dataclass(frozen=True)
class SessionOptions:
    """What a session records, and what it informs.

    limits: of steps, printed characters, tensors and bytes of the trace; at a limit the recording ends and the program
        goes on
    focus: see `thinning.IterationSchedule`
    module_is_outermost: whether the program's module is its outermost frame, as in a script; in a notebook it is not
    shows_earlier_names: whether names that the module had before the session are shown, except those that begin with
        `_` or are in `hidden_names`
    also: globs of module names; the statements of imported modules that match get steps, see `RecordingImportFinder`
    own_folder: the project's folder; functions of its modules get steps too, see `OwnModules`; None for none of them
    arguments: of the command line, as reported in the trace
    region: the part of the program that is recorded, if not all of it
    sink: receives the lines of the trace as they come, for a process that may die
    on_step: called when a step is recorded
    on_skipped_iteration: called with the number of an iteration that is not recorded
    before_output: called with the program's text before it is printed
    """

    limits: dict[str, int | float] = field(default_factory=dict)
    focus: FocusRecord = field(default_factory=lambda: FocusRecord())
    title: str = ""
    module_is_outermost: bool = True
    shows_earlier_names: bool = False
    hidden_names: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()
    own_folder: Path | None = None
    arguments: tuple[str, ...] = ()
    region: RegionRecord | None = None
    sink: TraceLineSink | None = None
    on_step: Callable[[StepRecord], None] | None = None
    on_skipped_iteration: Callable[[int], None] | None = None
    before_output: Callable[[Any], None] | None = None
