"""Makes a trace of the lines that a child wrote, up to the first that is not valid.

What a child writes is input from an attacker: each line is validated before anything else reads it, and how the run
ended is what its parent saw, not what it says.
"""

import gc
import logging
import os
import threading
from typing import Any

from pydantic import ValidationError

from server import __version__
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
    StepLine,
    Trace,
)

LOGGED = 4000
"""Most bytes of a child's line that are logged."""

OUR_FAULT = "the recorder failed; this is our fault, not the program's"

CHILD_STATUSES = ("finished", "raised", "refused", "stopped")
"""Statuses that only the child can know."""

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


def assemble(
    job: Job,
    versions: dict[str, str],
    data: bytes,
    outcome: Outcome | None,
    exit_: dict[str, Any],
    log_text: bool = False,
) -> tuple[Trace, Focus | None]:
    """A trace of the lines in `data`, and the focus of another run that would show more.

    outcome: as the parent saw it; None where the child's own last line says it. exit_: `wall_ms`, `cpu_ms` and
    `peak_bytes` as the parent measured them, the last two where it did. log_text: whether an invalid line's text is logged.
    """
    header: Header | None = None
    steps: list[Step] = []
    last: OutcomeLine | None = None
    fault = "the program's process ended without a word"
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            with gc_pause:
                record = parse_line(line, first=header is None)
            if isinstance(record, Header):
                header = record
            elif isinstance(record, OutcomeLine):
                last = record
                break
            elif record.i != len(steps):
                raise ValueError("steps out of order")
            else:
                steps.append(record)
        except (ValidationError, ValueError) as error:
            ours = line.startswith(b'{"fault"')
            fault = OUR_FAULT if ours else "the worker wrote what is no trace"
            if outcome is None:
                wrong = f"{error.error_count()} errors" if isinstance(error, ValidationError) else type(error).__name__
                text = ascii(line[:LOGGED]) if log_text else "(its text with GRADBOX_LOG_PROGRAMS)"
                kind = "word of a failure" if ours else f"unreadable line, {wrong},"
                log.error("%s from a worker, %d bytes: %s", kind, len(line), text)
            break
    focus: Focus | None = None
    head = header or Header(schema=1, program=Program(source=job.source), runtime=runtime(job, versions))
    if outcome is None and last is not None and last.outcome.status in CHILD_STATUSES:
        outcome = last.outcome
        focus = Focus(counts=last.again) if last.again and job.focus is None else None
    elif outcome is None:
        outcome = Outcome(status="crashed", error=Error(type="Crash", message=fault))
    lines = head.program.source.count("\n") + 1
    for reason in (outcome.stopped, outcome.error):
        if reason is not None and reason.line is not None and not 1 <= reason.line <= lines:
            reason.line = None
    if outcome.stopped is not None and outcome.stopped.line is None and steps:
        outcome.stopped.line = steps[-1].line
    cost = measured_cost(exit_, last)
    trace = Trace.model_construct(
        schema_=head.schema_,
        program=head.program,
        runtime=head.runtime,
        steps=steps,
        focus=job.focus,
        outcome=outcome,
        cost=cost,
    )
    return trace, focus


def measured_cost(exit_: dict[str, Any], last: OutcomeLine | None) -> Cost:
    """What the parent measured; where it did not, what the child claims, as far as that is possible."""
    wall = float(exit_.get("wall_ms", 0))
    claimed = last.cost if last is not None else Cost(wall_ms=0, cpu_ms=0, peak_bytes=0)
    cpu = min(max(claimed.cpu_ms, 0), wall * (os.cpu_count() or 1))
    peak = min(max(claimed.peak_bytes, 0), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return Cost(wall_ms=wall, cpu_ms=exit_.get("cpu_ms", cpu), peak_bytes=exit_.get("peak_bytes", peak))


def parse_line(line: bytes, first: bool) -> Header | Step | OutcomeLine:
    """The value of one line; only the first one is a header. Raises ValidationError, which is a ValueError."""
    if first:
        return HeaderLine.model_validate_json(line).header
    if line.startswith(b'{"step"'):
        return StepLine.model_validate_json(line).step
    return OutcomeLine.model_validate_json(line)


def same_result(first: Trace, second: Trace) -> bool:
    """Whether two runs of a program printed the same and ended the same way."""

    def result(trace: Trace) -> tuple[str, str, str]:
        text = "".join(entry["text"] for step in trace.steps for entry in step.log if entry["kind"] == "out")
        error = trace.outcome.error
        return text, trace.outcome.status, f"{error.type} {error.message} {error.line}" if error else ""

    return result(first) == result(second)


def runtime(job: Job, versions: dict[str, str]) -> Runtime:
    return Runtime(
        **{name: versions.get(name, "") for name in ("torch", "numpy", "python")},
        tracer=__version__,
        device=job.device,
        seed=job.seed,
        hash_seed=0,
        threads=1,
        limits=job.limits,
    )
