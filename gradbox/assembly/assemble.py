"""Makes a trace of the lines that a child wrote, up to the first that is not valid.

What a child writes is input from an attacker: each line is validated before anything else reads it, and how the run
ended is what its parent saw, not what it says. A step goes out as the very bytes that were validated; the header, the
outcome, the cost and the focus are written by us. All of it happens in a process of its own, `assembler_process`.
"""

import hashlib
import io
import json
import math
import os
import re
import signal
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic_core import from_json, to_json

from gradbox import __version__
from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from gradbox.wire.api import Job
from gradbox.wire.base import Model
from gradbox.wire.gradient_check import GradientCheck
from gradbox.wire.limits import ends_repeatably
from gradbox.wire.processes import AssemblyReply, AssemblyRequest, Usage
from gradbox.wire.program import Program
from gradbox.wire.rounds import TrainingRounds
from gradbox.wire.trace import Cost, Error, Focus, Header, HeaderLine, Outcome, OutcomeLine, RoundsLine, Runtime, Step

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""An address as Python prints it. A child that has rehearsed puts its objects elsewhere than one that has not."""


@dataclass
class AssembledTrace:
    """A trace whose steps are not decoded again: each is the JSON text that was validated.

    steps: one JSON object each, `gradbox.wire.trace.Step`. printed: all that the program printed.
    deterministic: whether the child found nothing in the program that gives it another result each time.
    """

    header: Header
    steps: list[bytes]
    printed: str
    outcome: Outcome
    cost: Cost
    focus: Focus | None = None
    deterministic: bool = False
    gradient_check: GradientCheck | None = None
    rounds: TrainingRounds | None = None

    def json(self) -> bytes:
        """The whole trace as JSON, without the fields that are absent by default."""
        return b"".join(self._json_parts())

    def compressed(self) -> bytes:
        """The JSON, gzipped; the same bytes for the same trace. Slow."""
        compressor = zlib.compressobj(1, wbits=GZIP_WINDOW_BITS)  # level 6 takes five times as long
        return b"".join([*map(compressor.compress, self._json_parts()), compressor.flush()])

    def result_digest(self) -> str:
        """A digest of what the program printed, addresses apart, and how it ended: the same for the same result."""
        error = self.outcome.error
        cause = (error.type, ADDRESS.sub("", error.message), error.line) if error else None
        parts = (ADDRESS.sub("", self.printed), self.outcome.status, cause)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def is_cacheable(self) -> bool:
        """Whether the same program would give this trace again: it depends on the program and its seed alone."""
        outcome = self.outcome
        if outcome.status == "refused":
            return True
        limit = outcome.stopped.limit if outcome.status == "stopped" and outcome.stopped else None
        if not ends_repeatably(outcome.status, limit):
            return False
        if self.focus is not None and self.focus.repeatable is False:
            return False
        return self.deterministic

    def _json_parts(self) -> Iterator[bytes]:
        yield encode_model(self.header)[:-1]
        yield b',"steps":['
        for i, step in enumerate(self.steps):
            if i:
                yield b","
            yield step
        yield b'],"focus":'
        yield encode_model(self.focus) if self.focus is not None else b"null"
        yield b',"outcome":'
        yield encode_model(self.outcome)
        yield b',"cost":'
        yield encode_model(self.cost)
        if self.gradient_check is not None:
            yield b',"gradient_check":'
            yield encode_model(self.gradient_check)
        if self.rounds is not None:
            yield b',"rounds":'
            yield to_json(self.rounds)
        yield b"}"


def encode_model(value: Model) -> bytes:
    """A wire value as JSON, without the fields that are absent by default."""
    return value.model_dump_json(by_alias=True, exclude_unset=True).encode()


MAX_LOGGED_BYTES = 4000
"""Most bytes of a child's line that are logged."""

RECORDER_FAILED_MESSAGE = "the recorder failed; this is our fault, not the program's"

TOO_LARGE_MESSAGE = "a step of the run needed too much memory to be read"

CHILD_STATUSES = ("finished", "raised", "refused", "stopped")
"""Statuses that only the child can know."""

STEP_PREFIX, ROUNDS_PREFIX = b'{"step":', b'{"rounds":'


@dataclass
class ChildOutput:
    """The valid lines of a child.

    deterministic: see `HeaderLine`
    last_line: the program's line of the last step
    rejected: the line that ended the reading
    rejection_reason: why, without its text
    max_steps: with the one that says so
    max_line_bytes: bytes of a line, of which longer ones are not read
    """

    max_steps: float = math.inf
    max_line_bytes: float = math.inf
    header: Header | None = None
    deterministic: bool = False
    steps: list[bytes] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    last_line: int | None = None
    end: OutcomeLine | None = None
    rounds: TrainingRounds | None = None
    rejected: bytes | None = None
    rejection_reason: str = ""

    def add_line(self, line: bytes) -> None:
        """Add a line. Raises LineTooLong, and ValueError (ValidationError is one) where it is not valid there."""
        if len(line) > self.max_line_bytes:
            raise LineTooLong
        if self.header is None:
            first = HeaderLine.model_validate(parse_strict_json(line))
            self.header, self.deterministic = first.header, first.deterministic
        elif line.startswith(ROUNDS_PREFIX):
            self.rounds = RoundsLine.model_validate(parse_strict_json(line)).rounds
        elif not line.startswith(STEP_PREFIX):
            self.end = OutcomeLine.model_validate(parse_strict_json(line))
        else:
            if not line.endswith(b"}"):
                raise ValueError("a step without its end")
            text = line[len(STEP_PREFIX) : -1]
            step = decode_step(text)
            if step.i != len(self.steps):
                raise ValueError("steps out of order")
            if step.i > self.max_steps:
                raise ValueError("more steps than a trace may have")
            self.steps.append(text)
            self.printed.extend(entry["text"] for entry in step.log if entry["kind"] == "out")
            self.last_line = step.line


class LineTooLong(ValueError):
    """A line is longer than those that are read."""


def parse_strict_json(text: bytes) -> Any:
    """The value of a JSON text. Raises ValueError, also for Python's literals for what is not finite.

    Models validate this value and not the text: of the text pydantic makes a tree of its own first, which takes twice
    the memory and the time.
    """
    return from_json(text, allow_inf_nan=False)


class StrictlyValidatedStep(Step):
    """A step of a child, whose text is sent, and not what pydantic would make of it ("1" for 1).

    Strict by its configuration, not when it is called: that would have JSON's lists refused where tuples are declared.
    """

    model_config = ConfigDict(strict=True)


def decode_step(text: bytes) -> Step:
    """A step of its JSON. Raises ValueError for text that a browser would read differently, or not at all.

    Of a name that is given twice both take the last.
    """
    return StrictlyValidatedStep.model_validate(parse_strict_json(text))


def read_child_output(data: bytes, max_steps: float = math.inf, max_line_bytes: float = math.inf) -> ChildOutput:
    """The lines of a child, up to the outcome or the first that is not valid or too long."""
    output = ChildOutput(max_steps, max_line_bytes)
    for ended_line in io.BytesIO(data):
        line = ended_line.removesuffix(b"\n")
        if not line:
            continue
        try:
            output.add_line(line)
        except ValueError as error:  # not kept: it holds on to all that was decoded
            wrong = f"{error.error_count()} errors" if isinstance(error, ValidationError) else type(error).__name__
            output.rejected, output.rejection_reason = line, wrong
        if output.rejected is not None or output.end is not None:
            break
    return output


@dataclass(frozen=True)
class AssemblyResult:
    """A trace; the focus of another run that would show more; what the log says of a line that was not valid, or ""."""

    trace: AssembledTrace
    again: Focus | None = None
    rejected: str = ""


def assemble_trace(request: AssemblyRequest, data: bytes, max_line_bytes: float = math.inf) -> AssemblyResult:
    """A trace of the lines in `data`, up to the first that has more than `max_line_bytes` bytes.

    The server decodes that of a gradient check itself: it has no steps, no header of the child's, and of an error no
    lists.
    """
    job, outcome = request.job, request.outcome
    output = read_child_output(data, job.limits.get("steps", math.inf) if job.check is None else -1, max_line_bytes)
    rejected = (
        describe_rejected_line(output, request.log_text) if output.rejected is not None and outcome is None else ""
    )
    header = output.header if job.check is None else None
    header = header or Header(
        schema=1, program=Program(source=job.source), runtime=runtime_without_header(job, request.versions)
    )
    if request.worker or header.runtime.worker is not None:  # a child does not know, whatever it says
        header.runtime.worker = request.worker or None
    if request.own_process or header.runtime.recorded is not None:
        header.runtime.recorded = "own process" if request.own_process else None
    again: Focus | None = None
    end = output.end
    if outcome is None and end is not None and end.outcome.status in CHILD_STATUSES:
        outcome = end.outcome
        again = Focus(counts=end.again) if end.again and job.focus is None else None
    elif outcome is None and output.rejection_reason == LineTooLong.__name__:
        outcome = Outcome(status="lost", error=Error(type="Lost", message=TOO_LARGE_MESSAGE))
    elif outcome is None:
        outcome = Outcome(status="crashed", error=Error(type="Crash", message=missing_outcome_message(output)))
    if job.check is not None and outcome.error is not None:
        outcome.error = Error(type=outcome.error.type, message=outcome.error.message, line=outcome.error.line)
    correct_outcome_line_numbers(outcome, header.program.source.count("\n") + 1, output.last_line)
    printed = "".join(output.printed)
    cost = cost_of_run(request.usage, end)
    check = end.gradient_check if end is not None and job.check is not None else None
    rounds = output.rounds if end is None else end.rounds
    trace = AssembledTrace(header, output.steps, printed, outcome, cost, job.focus, output.deterministic, check, rounds)
    if request.compared_result is not None and trace.focus is not None:
        trace.focus.repeatable = trace.result_digest() == request.compared_result
    return AssemblyResult(trace, again, rejected)


def assemble_compressed_trace(
    request: AssemblyRequest, data: bytes, max_line_bytes: float = math.inf
) -> tuple[AssemblyReply, bytes]:
    """What `assemble_trace` gives, as the reply to the request and the gzipped JSON of the trace."""
    assembly = assemble_trace(request, data, max_line_bytes)
    trace = assembly.trace
    body = trace.compressed()
    stopped = trace.outcome.stopped
    reply = AssemblyReply(
        status=trace.outcome.status,
        limit=stopped.limit if stopped is not None else None,
        deterministic=trace.deterministic,
        cacheable=trace.is_cacheable(),
        result=trace.result_digest(),
        again=assembly.again,
        rejected=assembly.rejected,
        size=len(body),
    )
    return reply, body


def missing_outcome_message(output: ChildOutput) -> str:
    """Why a child's output has no outcome."""
    if output.rejected is None:
        return "the program's process ended without a word"
    return RECORDER_FAILED_MESSAGE if is_fault_line(output.rejected) else "the worker wrote what is no trace"


def is_fault_line(line: bytes) -> bool:
    """Whether a line is the recorder's report of its own failure."""
    return line.startswith(b'{"fault"')


def describe_rejected_line(output: ChildOutput, log_text: bool) -> str:
    """What the log says of the line that ended the reading."""
    line = output.rejected or b""
    text = ascii(line[:MAX_LOGGED_BYTES]) if log_text else "(its text with GRADBOX_LOG_PROGRAMS)"
    kind = "word of a failure" if is_fault_line(line) else f"unreadable line, {output.rejection_reason},"
    return f"{kind} from a worker, {len(line)} bytes: {text}"


def correct_outcome_line_numbers(outcome: Outcome, lines: int, last_line: int | None) -> None:
    """Drop a line that the program does not have; a stop without a line is at the last step's."""
    for reason in (outcome.stopped, outcome.error):
        if reason is not None and reason.line is not None and not 1 <= reason.line <= lines:
            reason.line = None
    if outcome.stopped is not None and outcome.stopped.line is None and last_line is not None:
        outcome.stopped.line = last_line


def cost_of_run(usage: Usage, end: OutcomeLine | None) -> Cost:
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
    """The runtime of a run whose child wrote no header: what the server knows.

    versions: of torch, numpy and python
    """
    runtime = Runtime(
        torch=versions.get("torch", ""),
        numpy=versions.get("numpy", ""),
        python=versions.get("python", ""),
        tracer=__version__,
        device=job.device,
        seed=job.seed,
        hash_seed=0,
        threads=1,
        limits=job.limits,
    )
    if job.input:
        runtime.input = job.input
    return runtime


def crash_error(signal_number: int, line: int | None) -> Error:
    """The error of a run whose process a signal killed.

    line: that it was at, where that is known
    """
    names = {known.value: known.name for known in signal.Signals}
    return Error(
        type="Crash", message=f"killed by signal {signal_number} ({names.get(signal_number, 'unknown')})", line=line
    )
