"""Makes a trace of the lines that a child wrote, up to the first that is not valid.

What a child writes is input from an attacker: each line is validated before anything else reads it, and how the run
ended is what its parent saw, not what it says. A step goes out as the very bytes that were validated; the header, the
outcome, the cost and the focus are written by the server.
"""

import gc
import logging
import os
import threading
from dataclasses import dataclass, field

from pydantic import ValidationError
from pydantic_core import from_json

from server import __version__
from server.pool.recorded_trace import RecordedTrace
from server.wire.api import Job
from server.wire.trace import (
    Cost,
    Error,
    Focus,
    Header,
    HeaderLine,
    Outcome,
    OutcomeLine,
    Program,
    Runtime,
    Step,
)

MAX_LOGGED = 4000
"""Most bytes of a child's line that are logged."""

RECORDER_FAILED = "the recorder failed; this is our fault, not the program's"

CHILD_STATUSES = ("finished", "raised", "refused", "stopped")
"""Statuses that only the child can know."""

STEP_PREFIX = b'{"step":'

log = logging.getLogger("gradbox.pool")


class GcPause:
    """While entered, by any number of threads, the garbage collector is off: a pass over a million new objects would hold
    up the whole server."""

    def __init__(self) -> None:
        self._lock, self._entered = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._entered += 1
            gc.disable()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            if not self._entered:
                gc.enable()


gc_pause = GcPause()


@dataclass(frozen=True)
class Usage:
    """What a run used, as the server and the zygote measured it; None where neither did."""

    wall_ms: float = 0.0
    cpu_ms: float | None = None
    peak_bytes: int | None = None


@dataclass
class ChildOutput:
    """The valid lines of a child. deterministic: see `HeaderLine`. last_line: the program's line of the last step.

    rejected: the line that ended the reading; reason: why, without its text.
    """

    header: Header | None = None
    deterministic: bool = False
    steps: list[bytes] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    last_line: int | None = None
    end: OutcomeLine | None = None
    rejected: bytes | None = None
    reason: str = ""

    def add_line(self, line: bytes) -> None:
        """Add a line. Raises ValueError (ValidationError is one) where it is not valid there."""
        if self.header is None:
            first = HeaderLine.model_validate_json(line)
            self.header, self.deterministic = first.header, first.deterministic
        elif not line.startswith(STEP_PREFIX):
            self.end = OutcomeLine.model_validate_json(line)
        else:
            if not line.endswith(b"}"):
                raise ValueError("a step without its end")
            text = line[len(STEP_PREFIX) : -1]
            step = decode_step(text)
            if step.i != len(self.steps):
                raise ValueError("steps out of order")
            self.steps.append(text)
            self.printed.extend(entry["text"] for entry in step.log if entry["kind"] == "out")
            self.last_line = step.line


def decode_step(text: bytes) -> Step:
    """A step of its JSON. Raises ValueError for text that a browser would read differently, or not at all.

    Strict, because what is sent is the text and not what pydantic would make of it ("1" for 1). Of a name that is given
    twice both take the last. Python's literals for what is not finite pass pydantic where any value may stand.
    """
    if b"NaN" in text or b"Infinity" in text:
        from_json(text, allow_inf_nan=False)
    return Step.model_validate_json(text, strict=True)


def read_output(data: bytes) -> ChildOutput:
    """The lines of a child, up to the outcome or the first that is not valid."""
    output = ChildOutput()
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            with gc_pause:
                output.add_line(line)
        except ValueError as error:  # not kept: it holds on to all that was decoded
            wrong = f"{error.error_count()} errors" if isinstance(error, ValidationError) else type(error).__name__
            output.rejected, output.reason = line, wrong
        if output.rejected is not None or output.end is not None:
            break
    return output


def assemble(
    job: Job,
    versions: dict[str, str],
    data: bytes,
    outcome: Outcome | None,
    usage: Usage,
    log_text: bool = False,
) -> tuple[RecordedTrace, Focus | None]:
    """A trace of the lines in `data`, and the focus of another run that would show more.

    outcome: as the parent saw it; None where the child's own last line says it. usage: as the
    parent measured it. log_text: whether an invalid line's text is logged.
    """
    output = read_output(data)
    if output.rejected is not None and outcome is None:
        log_rejected(output, log_text)
    header = output.header or Header(
        schema=1, program=Program(source=job.source), runtime=runtime_without_header(job, versions)
    )
    focus: Focus | None = None
    end = output.end
    if outcome is None and end is not None and end.outcome.status in CHILD_STATUSES:
        outcome = end.outcome
        focus = Focus(counts=end.again) if end.again and job.focus is None else None
    elif outcome is None:
        outcome = Outcome(status="crashed", error=Error(type="Crash", message=crash_message(output)))
    correct_outcome_lines(outcome, header.program.source.count("\n") + 1, output.last_line)
    printed = "".join(output.printed)
    cost = measured_cost(usage, end)
    trace = RecordedTrace(header, output.steps, printed, outcome, cost, job.focus, output.deterministic)
    return trace, focus


def crash_message(output: ChildOutput) -> str:
    """Why a child's output has no outcome."""
    if output.rejected is None:
        return "the program's process ended without a word"
    return RECORDER_FAILED if is_fault(output.rejected) else "the worker wrote what is no trace"


def is_fault(line: bytes) -> bool:
    """Whether a line is the recorder's report of its own failure."""
    return line.startswith(b'{"fault"')


def log_rejected(output: ChildOutput, log_text: bool) -> None:
    line = output.rejected or b""
    text = ascii(line[:MAX_LOGGED]) if log_text else "(its text with GRADBOX_LOG_PROGRAMS)"
    kind = "word of a failure" if is_fault(line) else f"unreadable line, {output.reason},"
    log.error("%s from a worker, %d bytes: %s", kind, len(line), text)


def correct_outcome_lines(outcome: Outcome, lines: int, last_line: int | None) -> None:
    """Drop a line that the program does not have; a stop without a line is at the last step's."""
    for reason in (outcome.stopped, outcome.error):
        if reason is not None and reason.line is not None and not 1 <= reason.line <= lines:
            reason.line = None
    if outcome.stopped is not None and outcome.stopped.line is None and last_line is not None:
        outcome.stopped.line = last_line


def measured_cost(usage: Usage, end: OutcomeLine | None) -> Cost:
    """What the parent measured; where it did not, what the child claims, as far as that is possible."""
    claimed = end.cost if end is not None else Cost(wall_ms=0, cpu_ms=0, peak_bytes=0)
    cpu = min(max(claimed.cpu_ms, 0), usage.wall_ms * (os.cpu_count() or 1))
    peak = min(max(claimed.peak_bytes, 0), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return Cost(
        wall_ms=usage.wall_ms,
        cpu_ms=cpu if usage.cpu_ms is None else usage.cpu_ms,
        peak_bytes=peak if usage.peak_bytes is None else usage.peak_bytes,
    )


def runtime_without_header(job: Job, versions: dict[str, str]) -> Runtime:
    return Runtime(
        **{name: versions.get(name, "") for name in ("torch", "numpy", "python")},
        tracer=__version__,
        device=job.device,
        seed=job.seed,
        hash_seed=0,
        threads=1,
        limits=job.limits,
    )
