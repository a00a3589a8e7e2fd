"""Makes a trace of the lines that a child wrote, up to the first invalid line.

What a child writes is input from an attacker: each line is validated before anything else reads it, and how the run
ended is what its parent observed, not what the child says. A step is passed on as the very bytes that were validated;
the header, the outcome, the cost and the focus are written by us. All of this happens in a separate process,
`assembler_process`.
"""

import hashlib
import io
import json
import math
import os
import re
import signal
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic_core import from_json, to_json

from gradbox import __version__
from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from gradbox.wire.api import GradientCheckReply, Job
from gradbox.wire.base import Model
from gradbox.wire.gradient_check import GradientCheck
from gradbox.wire.limits import ends_repeatably
from gradbox.wire.processes import AssemblyReply, AssemblyRequest, Usage
from gradbox.wire.program import Program
from gradbox.wire.rounds import TrainingRounds
from gradbox.wire.trace import Cost, Error, Focus, Header, HeaderLine, Outcome, OutcomeLine, RoundsLine, Runtime, Step

ADDRESS_PATTERN = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""An address as Python prints it. It depends on whether the child has rehearsed."""


@dataclass
class AssembledTrace:
    """A trace whose steps are not decoded again: each is the JSON text that was validated.

    steps: one JSON object each, `gradbox.wire.trace.Step`
    printed: everything that the program printed
    deterministic: whether the child found nothing in the program that could change its result from run to run
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
        """The gzipped JSON, which is the same for the same trace. Slow."""
        return gzip_parts(self._json_parts())

    def gradient_check_result(self) -> GradientCheckReply:
        """The result of a gradient check."""
        return GradientCheckReply(
            status=self.outcome.status, message=limit_or_error_type(self.outcome), check=self.gradient_check
        )

    def result_digest(self) -> str:
        """A digest of what the program printed, without addresses, and of how it ended; equal results have equal
        digests."""
        error = self.outcome.error
        cause = (error.type, ADDRESS_PATTERN.sub("", error.message), error.line) if error else None
        parts = (ADDRESS_PATTERN.sub("", self.printed), self.outcome.status, cause)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def is_cacheable(self) -> bool:
        """Whether the same program would give this trace again, so that it depends on the program and its seed
        alone."""
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
        yield encode_wire_model(self.header)[:-1]
        yield b',"steps":['
        for i, step in enumerate(self.steps):
            if i:
                yield b","
            yield step
        yield b'],"focus":'
        yield encode_wire_model(self.focus) if self.focus is not None else b"null"
        yield b',"outcome":'
        yield encode_wire_model(self.outcome)
        yield b',"cost":'
        yield encode_wire_model(self.cost)
        if self.rounds is not None:
            yield b',"rounds":'
            yield to_json(self.rounds)
        yield b"}"


def gzip_parts(parts: Iterable[bytes]) -> bytes:
    compressor = zlib.compressobj(1, wbits=GZIP_WINDOW_BITS)  # level 6 takes five times as long
    return b"".join([*map(compressor.compress, parts), compressor.flush()])


def limit_or_error_type(outcome: Outcome) -> str:
    """At which limit a run was stopped, or what its program raised; "" if it finished."""
    if outcome.stopped is not None:
        return f"the run was stopped at the limit {outcome.stopped.limit}: {outcome.stopped.value}"
    if outcome.error is not None:
        return f"{outcome.error.type}: {outcome.error.message}"
    return ""


def encode_wire_model(value: Model) -> bytes:
    """A wire value as JSON, without the fields that are absent by default."""
    return value.model_dump_json(by_alias=True, exclude_unset=True).encode()


MAX_LOGGED_LINE_BYTES = 4000
"""The most bytes of a child's line that are logged."""

RECORDER_FAILED_MESSAGE = "the recorder failed; this is our fault, not the program's"

TOO_LARGE_MESSAGE = "a step of the run needed too much memory to be read"

CHILD_STATUSES = ("finished", "raised", "refused", "stopped")
"""Statuses that only the child can know."""

STEP_PREFIX, ROUNDS_PREFIX = b'{"step":', b'{"rounds":'


@dataclass
class ParsedChildLines:
    """The valid lines of a child.

    deterministic: see `HeaderLine`
    last_line: the program's line in the last step
    rejected: the line that ended the reading
    rejection_reason: why it did, without its text
    max_steps: the most steps that are read, including one for reaching that limit
    max_line_bytes: the longest line in bytes that is read
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
        """Add a line. Raises LineTooLong, and ValueError (of which ValidationError is a kind) if the line is not valid
        at this place."""
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
    """A line is longer than the lines that are read."""


def parse_strict_json(text: bytes) -> Any:
    """Parse JSON. Raises ValueError, also for Python's literals for values that are not finite.

    Models validate this value, not the text: pydantic would first build a tree of its own from the text, which takes
    twice the memory and time.
    """
    return from_json(text, allow_inf_nan=False)


class StrictlyValidatedStep(Step):
    """A step of a child whose text is sent on, not what pydantic would make of it (1 for "1").

    It is strict by configuration. Strictness by argument would also reject JSON's lists for fields declared as tuples.
    """

    model_config = ConfigDict(strict=True)


def decode_step(text: bytes) -> Step:
    """Decode a step. Raises ValueError for text that a browser would read differently, or not at all.

    If a name is given twice, both take the last value.
    """
    return StrictlyValidatedStep.model_validate(parse_strict_json(text))


def parse_child_lines(data: bytes, max_steps: float = math.inf, max_line_bytes: float = math.inf) -> ParsedChildLines:
    """Read the lines of a child, up to the outcome or the first line that is invalid or too long."""
    output = ParsedChildLines(max_steps, max_line_bytes)
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
    """A trace, the focus of another run that would show more, and the log message about an invalid line or ""."""

    trace: AssembledTrace
    again: Focus | None = None
    rejected: str = ""


def assemble_trace(request: AssemblyRequest, data: bytes, max_line_bytes: float = math.inf) -> AssemblyResult:
    """Make a trace of the lines in `data`, up to the first of more than `max_line_bytes` bytes; of a gradient check
    without its steps."""
    job, outcome = request.job, request.outcome
    output = parse_child_lines(data, job.limits.get("steps", math.inf) if job.check is None else -1, max_line_bytes)
    rejected = (
        rejected_line_message(output, request.log_text) if output.rejected is not None and outcome is None else ""
    )
    header = output.header or Header(
        schema=1, program=Program(source=job.source), runtime=fallback_runtime(job, request.versions)
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
    drop_unknown_line_numbers(outcome, header.program.source.count("\n") + 1, output.last_line)
    printed = "".join(output.printed)
    cost = measured_or_claimed_cost(request.usage, end)
    check = end.gradient_check if end is not None and job.check is not None else None
    rounds = output.rounds if end is None else end.rounds
    trace = AssembledTrace(header, output.steps, printed, outcome, cost, job.focus, output.deterministic, check, rounds)
    if request.compared_result is not None and trace.focus is not None:
        trace.focus.repeatable = trace.result_digest() == request.compared_result
    return AssemblyResult(trace, again, rejected)


def assemble_compressed_trace(
    request: AssemblyRequest, data: bytes, max_line_bytes: float = math.inf
) -> tuple[AssemblyReply, bytes]:
    """The result of `assemble_trace` as a reply to the request, and gzipped JSON: the trace, or of a gradient check its
    `GradientCheckReply`. The server passes both on as they are: it decodes nothing that a child wrote."""
    assembly = assemble_trace(request, data, max_line_bytes)
    trace = assembly.trace
    is_check = request.job.check is not None
    body = gzip_parts([trace.gradient_check_result().model_dump_json().encode()]) if is_check else trace.compressed()
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


def missing_outcome_message(output: ParsedChildLines) -> str:
    """Why a child's output has no outcome."""
    if output.rejected is None:
        return "the program's process ended without a word"
    return RECORDER_FAILED_MESSAGE if is_recorder_fault_line(output.rejected) else "the worker wrote what is no trace"


def is_recorder_fault_line(line: bytes) -> bool:
    """Whether a line is the recorder's report of its own failure."""
    return line.startswith(b'{"fault"')


def rejected_line_message(output: ParsedChildLines, log_text: bool) -> str:
    """The log message about the line that ended the reading."""
    line = output.rejected or b""
    text = ascii(line[:MAX_LOGGED_LINE_BYTES]) if log_text else "(its text with GRADBOX_LOG_PROGRAMS)"
    kind = "word of a failure" if is_recorder_fault_line(line) else f"unreadable line, {output.rejection_reason},"
    return f"{kind} from a worker, {len(line)} bytes: {text}"


def drop_unknown_line_numbers(outcome: Outcome, lines: int, last_line: int | None) -> None:
    """Drop a line number that the program does not have. A stop without a line gets the last step's."""
    for reason in (outcome.stopped, outcome.error):
        if reason is not None and reason.line is not None and not 1 <= reason.line <= lines:
            reason.line = None
    if outcome.stopped is not None and outcome.stopped.line is None and last_line is not None:
        outcome.stopped.line = last_line


def measured_or_claimed_cost(usage: Usage, end: OutcomeLine | None) -> Cost:
    """The cost that the parent measured or, if it did not, what the child claims within plausible bounds."""
    claimed = end.cost if end is not None else Cost(wall_ms=0, cpu_ms=0, peak_bytes=0)
    cpu = min(max(claimed.cpu_ms, 0), usage.wall_ms * (os.cpu_count() or 1))
    peak = min(max(claimed.peak_bytes, 0), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return Cost(
        wall_ms=usage.wall_ms,
        cpu_ms=cpu if usage.cpu_ms is None else usage.cpu_ms,
        peak_bytes=peak if usage.peak_bytes is None else usage.peak_bytes,
    )


def fallback_runtime(job: Job, versions: dict[str, str]) -> Runtime:
    """The runtime of a run whose child wrote no header, as far as the server knows it.

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
    """The error of a run whose process was killed by a signal.

    line: the line at which it was, if known
    """
    names = {known.value: known.name for known in signal.Signals}
    return Error(
        type="Crash", message=f"killed by signal {signal_number} ({names.get(signal_number, 'unknown')})", line=line
    )
