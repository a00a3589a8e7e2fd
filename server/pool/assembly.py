"""From what a child wrote to what is asked for: its trace, run once more where that would show more, or its answers.

Processes of their own assemble traces, as many as programs run at once, started as they are needed.
"""

import asyncio
import contextlib
import logging
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from gradbox.assembly.assemble import assemble_compressed_trace
from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from gradbox.wire.processes import LARGE_TRACE_BYTES, AssemblyReply, AssemblyRequest, Usage
from gradbox.wire.trace import Error, Outcome
from server import HELPER_ENVIRONMENT, PROJECT_FOLDER
from server.pool.interface import NoAnswers
from server.wire.matrix import Answer, AnswerJob

COMMAND = (sys.executable, "-m", "server.pool.assembler_process")
TIMEOUT = 20.0
"""Seconds for a trace, including the start of a new process. Lines that recorders write take a tenth of a second."""

MAX_LARGE_AT_ONCE = 2
"""Large traces that are assembled at the same time, however many programs run: each may take 300 MB."""

MAX_LINE_BYTES = 100_000
"""Bytes of a line of the process."""

log = logging.getLogger("gradbox.pool")


class AssemblyFailed(Exception):
    """There is no trace of these lines: the process died of them, took too long, or could not be started."""


class Assembler:
    """Has processes assemble the traces of runs.

    processes: how many traces are assembled at the same time, at most
    """

    def __init__(self, processes: int) -> None:
        self._slots, self._large = asyncio.Semaphore(processes), asyncio.Semaphore(MAX_LARGE_AT_ONCE)
        self._idle: list[Process] = []
        self._starting: asyncio.Task[None] | None = None
        self._closed = False
        self.failing = False  # no process could be started for the last trace
        self.failures = 0

    def start(self) -> None:
        """Begin to start the first process; does not wait for it."""
        self._starting = asyncio.create_task(self._start_first_process())

    async def _start_first_process(self) -> None:
        request = AssemblyRequest(job=Job(source=""))
        with contextlib.suppress(OSError, ValueError, EOFError):  # the first trace then tries again
            await self._send_and_read_reply(await start_assembler_process(), request, b"")
            self.failing = False

    async def assemble_trace(self, request: AssemblyRequest, data: bytes | bytearray) -> tuple[AssemblyReply, bytes]:
        """The reply, and the gzipped trace of these lines. Raises AssemblyFailed."""
        async with self._large if len(data) > LARGE_TRACE_BYTES else contextlib.nullcontext(), self._slots:
            try:
                async with asyncio.timeout(TIMEOUT):
                    if self._starting is not None:
                        await asyncio.shield(self._starting)
                    if self._idle:
                        with contextlib.suppress(OSError, ValueError, EOFError):  # it died since
                            return await self._send_and_read_reply(self._idle.pop(), request, data)
                    if self._closed:
                        raise OSError("the server is going down")
                    self.failing = True
                    process = await start_assembler_process()
                    self.failing = False
                    return await self._send_and_read_reply(process, request, data)
            except (TimeoutError, OSError, ValueError, EOFError) as error:
                self.failures += 1
                log.error("assembling a trace of %d bytes: %s", len(data), type(error).__name__)
                raise AssemblyFailed(type(error).__name__) from error

    async def _send_and_read_reply(
        self, process: Process, request: AssemblyRequest, data: bytes | bytearray
    ) -> tuple[AssemblyReply, bytes]:
        """Send a request and read the reply. Raises OSError, ValueError and EOFError where the process is gone."""
        assert process.stdin is not None and process.stdout is not None
        answered = False
        try:
            sized = request.model_copy(update={"size": len(data)})
            process.stdin.write(sized.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            process.stdin.write(data)
            await process.stdin.drain()
            reply = AssemblyReply.model_validate_json(await process.stdout.readuntil(b"\n"))
            body = await process.stdout.readexactly(reply.size)
            answered = not self._closed
            return reply, body
        finally:  # also where it is cancelled: else the next request would read its reply
            if answered:
                self._idle.append(process)
            else:
                await kill_process(process)

    async def close(self) -> None:
        """End the processes; those at work end with their traces."""
        self._closed = True
        if self._starting is not None:
            await self._starting
        while self._idle:
            await kill_process(self._idle.pop())


async def start_assembler_process() -> Process:
    """Start a process that assembles. Raises OSError."""
    return await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=PROJECT_FOLDER,
        env=HELPER_ENVIRONMENT,
        limit=MAX_LINE_BYTES,
    )


async def kill_process(process: Process) -> None:
    """End a process, whatever it does, and collect it."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


CANCELLED_OUTCOME = Outcome(status="cancelled")
UNREADABLE_OUTCOME = Outcome(status="lost", error=Error(type="Lost", message="the run's trace could not be read"))


@dataclass(frozen=True)
class ChildRecording:
    """The lines that a child wrote for a job, and what its parent saw of it.

    outcome: None where only the child's own last line says it
    versions: of the libraries that ran it
    worker: the name of the worker that ran it, "" for this machine
    """

    data: bytes | bytearray
    versions: Mapping[str, str]
    outcome: Outcome | None = None
    usage: Usage = field(default_factory=Usage)
    worker: str = ""


RecordJob = Callable[[Job], Awaitable[ChildRecording]]
"""Runs a program once. Raises WorkersUnavailable."""


async def record_trace(
    assembler: Assembler, job: Job, record: RecordJob, stop: asyncio.Event, log_text: bool
) -> RecordedTrace:
    """The trace of a job. Where the cause of its end was skipped in a long loop, it is run once more to show it. Raises
    what `record` does.

    stop: once set, nothing is run again
    log_text: whether the log shows lines that are not valid
    """
    trace, reply = await assemble_trace(assembler, job, await record(job), log_text)
    if reply.again is not None and not stop.is_set():
        focused = job.model_copy(update={"focus": reply.again})
        second, _ = await assemble_trace(assembler, focused, await record(focused), log_text, reply.result)
        if second.status == trace.status:
            return second
    return trace


async def assemble_trace(
    assembler: Assembler, job: Job, recording: ChildRecording, log_text: bool, compared_result: str | None = None
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
        reply, body = await assembler.assemble_trace(request, recording.data)
    except AssemblyFailed:
        lost = request.model_copy(update={"outcome": request.outcome or UNREADABLE_OUTCOME})
        reply, body = await asyncio.to_thread(assemble_compressed_trace, lost, b"")
    if reply.rejected:
        log.error("%s", reply.rejected)
    return trace_from_reply(request, reply, body), reply


def trace_from_reply(request: AssemblyRequest, reply: AssemblyReply, body: bytes) -> RecordedTrace:
    """The trace that a reply tells of."""
    seconds = request.usage.wall_ms / 1000
    return RecordedTrace(
        body, reply.status, seconds, reply.limit, reply.deterministic, reply.cacheable, request.versions
    )


def cancelled_trace(job: Job, versions: Mapping[str, str]) -> RecordedTrace:
    """The trace of a program that was cancelled before it started."""
    request = AssemblyRequest(job=job, versions=dict(versions), outcome=CANCELLED_OUTCOME)
    return trace_from_reply(request, *assemble_compressed_trace(request, b""))


def parse_answers(job: AnswerJob, data: bytes, ended: bool) -> list[Answer]:
    """The answers that a child wrote. Raises NoAnswers.

    ended: whether it came to its end
    """
    *lines, last = data.split(b"\n")[:-1] or [b""]
    if not ended or len(lines) != len(job.programs):
        raise NoAnswers(f"{len(lines)} of {len(job.programs)} programs answered, then: {last[:200]!r}")
    try:
        return [Answer.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise NoAnswers(str(error)[:300]) from error
