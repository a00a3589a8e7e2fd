"""Makes a trace of the lines that a worker wrote, as many of them as can be believed.

What a child writes is input from an attacker: each line is validated before anything else sees it, and how the run
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
from server.wire.events import Out
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

SAID = 4000
"""Bytes of what a worker says that are written down."""

OUR_FAULT = "the recorder failed; this is our fault, not the program's"

BELIEVED = ("finished", "raised", "refused", "stopped")
"""Endings that only the child can know."""

log = logging.getLogger("gradbox.pool")


class Uncollected:
    """While entered, by however many threads, the collector waits: over a million new objects it holds up everybody."""

    def __init__(self) -> None:
        self._lock, self._within = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._within += 1
            gc.disable()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within:
                gc.enable()


uncollected = Uncollected()


def assemble(
    job: Job,
    versions: dict[str, str],
    data: bytes,
    outcome: Outcome | None,
    exit_: dict[str, Any],
    quoting: bool = False,
) -> tuple[Trace, Focus | None]:
    """A trace from whatever lines arrived, and what another run should show.

    outcome: None where the child's own word is taken. quoting: whether what it wrote may stand in the log.
    """
    header: Header | None = None
    steps: list[Step] = []
    last: OutcomeLine | None = None
    fault = "the program's process ended without a word"
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            with uncollected:
                told = read(line, first=header is None)
            if isinstance(told, Header):
                header = told
            elif isinstance(told, OutcomeLine):
                last = told
                break
            elif told.i != len(steps):
                raise ValueError("steps out of order")
            else:
                steps.append(told)
        except (ValidationError, ValueError) as error:
            ours = line.startswith(b'{"fault"')
            fault = OUR_FAULT if ours else "the worker wrote what is no trace"
            if outcome is None:
                wrong = f"{error.error_count()} errors" if isinstance(error, ValidationError) else type(error).__name__
                text = ascii(line[:SAID]) if quoting else "(its text with GRADBOX_LOG_PROGRAMS)"
                kind = "word of a failure" if ours else f"unreadable line, {wrong},"
                log.error("%s from a worker, %d bytes: %s", kind, len(line), text)
            break
    again: Focus | None = None
    head = header or Header(schema=1, program=Program(source=job.source), runtime=runtime(job, versions))
    if outcome is None and last is not None and last.outcome.status in BELIEVED:
        outcome = last.outcome
        again = Focus(counts=last.again) if last.again and job.focus is None else None
    elif outcome is None:
        outcome = Outcome(status="crashed", error=Error(type="Crash", message=fault))
    lines = head.program.source.count("\n") + 1
    for place in (outcome.stopped, outcome.error):
        if place is not None and place.line is not None and not 1 <= place.line <= lines:
            place.line = None
    if outcome.stopped is not None and outcome.stopped.line is None and steps:
        outcome.stopped.line = steps[-1].line
    cost = spent(exit_, last)
    trace = Trace.model_construct(
        schema_=head.schema_,
        program=head.program,
        runtime=head.runtime,
        steps=steps,
        focus=job.focus,
        outcome=outcome,
        cost=cost,
    )
    return trace, again


def spent(exit_: dict[str, Any], last: OutcomeLine | None) -> Cost:
    """As the parent saw it; of what it has not seen, the child's word as far as it can be true."""
    wall = float(exit_.get("wall_ms", 0))
    claimed = last.cost if last is not None else Cost(wall_ms=0, cpu_ms=0, peak_bytes=0)
    cpu = min(max(claimed.cpu_ms, 0), wall * (os.cpu_count() or 1))
    peak = min(max(claimed.peak_bytes, 0), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return Cost(wall_ms=wall, cpu_ms=exit_.get("cpu_ms", cpu), peak_bytes=exit_.get("peak_bytes", peak))


def read(line: bytes, first: bool) -> Header | Step | OutcomeLine:
    """What a line says. Raises ValidationError, and ValueError."""
    if first:
        return HeaderLine.model_validate_json(line).header
    if line.startswith(b'{"step"'):
        return StepLine.model_validate_json(line).step
    return OutcomeLine.model_validate_json(line)


def alike(one: Trace, other: Trace) -> bool:
    """Whether two runs of a program printed the same and ended the same way."""

    def told(trace: Trace) -> tuple[str, str, str]:
        text = "".join(entry.text for step in trace.steps for entry in step.log if isinstance(entry, Out))
        error = trace.outcome.error
        return text, trace.outcome.status, f"{error.type} {error.message} {error.line}" if error else ""

    return told(one) == told(other)


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
