"""What a session is asked for: the files that it steps, its limits, and who is told of its steps."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gradbox.wire.job_records import FocusRecord
from gradbox.wire.records import RegionRecord, StepRecord

STATELESS_TYPES = {"module", "type", "function", "builtin_function_or_method"}
"""Types of names from before a recording that are not drawn: they are no state of the program."""


@dataclass(frozen=True)
class SessionFile:
    """A file of the program.

    path: as its code names it
    name: as it is shown, like `train.py` or `cell 3`
    """

    path: str
    name: str
    source: str


class TraceLineSink(Protocol):
    """Takes the lines of a trace."""

    def write_header(self, line: bytes) -> None:
        """The first line; once more where a module came that is stepped: then it takes the place of the one before."""

    def write_step(self, line: bytes) -> None:
        """A step."""


@dataclass(frozen=True)
class SessionOptions:
    """What a session records, and whom it tells.

    limits: of steps, printed characters, tensors and bytes of the trace; at a limit the recording ends and the program
        goes on
    focus: see `thinning.IterationSchedule`
    module_is_outermost: whether the program's module is its outermost frame, as in a script; in a notebook it is not
    shows_earlier_names: whether names that the module had before the session are shown, without those that begin with
        `_` or are among `hidden_names`
    also: globs of module names; the statements of imported modules that match are stepped, see `RecordingImportFinder`
    own_folder: the project's folder; functions of its modules are stepped too, see `OwnModules`; None to step none of
        them
    arguments: of the command line, as the trace tells them
    region: the part of the program that is recorded, if not all of it
    sink: takes the lines of the trace as they come, for a process that may die
    on_step: called when a step is recorded
    on_skipped_iteration: called with the number of an iteration that is not recorded
    before_output: called with text of the program before it is printed
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
