"""From what a child wrote to what is asked for: its trace, run once more where that would show more, or its answers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from gradbox.assembly.assemble import assemble_compressed
from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from gradbox.wire.assembly import AssemblyReply, AssemblyRequest, Usage
from gradbox.wire.trace import Error, Outcome
from server.pool.assembler import Assembler, AssemblyFailed
from server.pool.interface import NoAnswers
from server.wire.matrix import Answer, AnswerJob

CANCELLED_OUTCOME = Outcome(status="cancelled")
UNREADABLE_OUTCOME = Outcome(status="lost", error=Error(type="Lost", message="the run's trace could not be read"))

log = logging.getLogger("gradbox.pool")


@dataclass(frozen=True)
class Recording:
    """The lines that a child wrote for a job, and what its parent saw of it.

    outcome: None where only the child's own last line says it. versions: of the libraries that ran it. worker: the name
    of the worker that ran it, "" for this machine.
    """

    data: bytes | bytearray
    versions: Mapping[str, str]
    outcome: Outcome | None = None
    usage: Usage = field(default_factory=Usage)
    worker: str = ""


RecordJob = Callable[[Job], Awaitable[Recording]]
"""Runs a program once. Raises WorkersUnavailable."""


async def recorded_trace(
    assembler: Assembler, job: Job, record: RecordJob, stop: asyncio.Event, log_text: bool
) -> RecordedTrace:
    """The trace of a job. Where the cause of its end was skipped in a long loop, it is run once more to show it.

    stop: once set, nothing is run again. log_text: whether the log shows lines that are not valid. Raises what `record` does.
    """
    trace, reply = await assemble_trace(assembler, job, await record(job), log_text)
    if reply.again is not None and not stop.is_set():
        focused = job.model_copy(update={"focus": reply.again})
        second, _ = await assemble_trace(assembler, focused, await record(focused), log_text, reply.result)
        if second.status == trace.status:
            return second
    return trace


async def assemble_trace(
    assembler: Assembler, job: Job, recording: Recording, log_text: bool, compared_result: str | None = None
) -> tuple[RecordedTrace, AssemblyReply]:
    """The trace of a child's lines; without them, and lost, where they can't be made one in time."""
    request = AssemblyRequest(
        job=job,
        versions=dict(recording.versions),
        outcome=recording.outcome,
        usage=recording.usage,
        worker=recording.worker,
        log_text=log_text,
        compared_result=compared_result,
    )
    try:
        reply, body = await assembler.assemble(request, recording.data)
    except AssemblyFailed:
        lost = request.model_copy(update={"outcome": request.outcome or UNREADABLE_OUTCOME})
        reply, body = await asyncio.to_thread(assemble_compressed, lost, b"")
    if reply.rejected:
        log.error("%s", reply.rejected)
    return trace_of(request, reply, body), reply


def trace_of(request: AssemblyRequest, reply: AssemblyReply, body: bytes) -> RecordedTrace:
    """The trace that a reply tells of."""
    seconds = request.usage.wall_ms / 1000
    return RecordedTrace(
        body, reply.status, seconds, reply.limit, reply.deterministic, reply.cacheable, request.versions
    )


def cancelled_trace(job: Job, versions: Mapping[str, str]) -> RecordedTrace:
    """The trace of a program that was cancelled before it started."""
    request = AssemblyRequest(job=job, versions=dict(versions), outcome=CANCELLED_OUTCOME)
    return trace_of(request, *assemble_compressed(request, b""))


def read_answers(job: AnswerJob, data: bytes, ended: bool) -> list[Answer]:
    """The answers that a child wrote. ended: whether it came to its end. Raises NoAnswers."""
    *lines, last = data.split(b"\n")[:-1] or [b""]
    if not ended or len(lines) != len(job.programs):
        raise NoAnswers(f"{len(lines)} of {len(job.programs)} programs answered, then: {last[:200]!r}")
    try:
        return [Answer.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise NoAnswers(str(error)[:300]) from error
