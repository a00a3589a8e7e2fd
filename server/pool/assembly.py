"""Turns the lines that a child wrote into a trace or into answers. Runs a program once more if that would show more.

Traces are assembled in separate processes, started on demand: as many small ones as programs run at once, and a few
large ones beside them, whose networks take turns.
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
from server.pool.askers import Askers
from server.pool.fair_lock import FairLock
from server.pool.interface import NoAnswers
from server.pool.zygote import WorkersUnavailable
from server.wire.matrix import Answer, AnswerJob
from server.wire.problems import WorkerQueueFull

COMMAND = (sys.executable, "-m", "server.pool.assembler_process")
TIMEOUT = 60.0
"""Seconds for a trace once it has its turn, including the start of a new process: the end of one that stands still.
What it may compute is bounded by `assembler_process.FORK_CPU_SECONDS`."""

MAX_LARGE_AT_ONCE = 2
"""Large traces that are assembled at the same time, however many programs run. Each may take 300 MB."""

MAX_WAITING_BYTES = 64 << 20
"""Lines that wait for their turn in the assembler. While there are more, a run keeps its worker until it has had its
turn."""

MAX_LINE_BYTES = 100_000
"""Longest line in bytes that the assembler process may send."""

log = logging.getLogger("gradbox.pool")


class AssemblyFailed(Exception):
    """No trace could be made of these lines: the process crashed, took too long or could not be started."""


class Assembler:
    """Assembles traces in other processes.

    processes: how many traces are assembled at the same time, at most
    """

    def __init__(self, processes: int) -> None:
        self._small = asyncio.Semaphore(processes)
        self._large = FairLock(sys.maxsize, places=min(MAX_LARGE_AT_ONCE, processes))
        self._bytes, self._less_waits = 0, asyncio.Event()
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

    async def wait_for_room(self) -> None:
        """Wait while as many lines wait for their turn as may."""
        while self._bytes > MAX_WAITING_BYTES:
            self._less_waits.clear()
            await self._less_waits.wait()

    async def assemble_trace(
        self, request: AssemblyRequest, data: bytes | bytearray, networks: list[str] | None = None
    ) -> tuple[AssemblyReply, bytes]:
        """The reply, and the gzipped trace of these lines. Raises AssemblyFailed.

        networks: of those who wait for it, whose turns a large trace takes
        """
        is_large = len(data) > LARGE_TRACE_BYTES
        self._bytes += len(data)
        try:
            async with self._large.wait_for_turn(networks or [""]) if is_large else self._small:
                return await self._assemble_now(request, data)
        finally:
            self._bytes -= len(data)
            self._less_waits.set()

    async def _assemble_now(self, request: AssemblyRequest, data: bytes | bytearray) -> tuple[AssemblyReply, bytes]:
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
        """End the idle processes; a busy one ends with its trace."""
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
    """Kill a process, whatever it is doing, and reap it."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


CANCELLED_OUTCOME = Outcome(status="cancelled")
UNREADABLE_OUTCOME = Outcome(status="lost", error=Error(type="Lost", message="the run's trace could not be read"))


@dataclass(frozen=True)
class ChildRecording:
    """The lines that a child wrote for a job, and what its parent observed.

    outcome: None if only the child's own last line tells it
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


async def run_and_assemble_trace(
    assembler: Assembler, job: Job, record: RecordJob, stop: asyncio.Event, log_text: bool, askers: Askers
) -> RecordedTrace:
    """Record a job and return its trace. If the cause of its end was skipped in a long loop, the job runs once more to
    show it, where a worker is to be had. Raises what `record` raises.

    stop: once set, nothing is run again
    log_text: whether the log shows lines that are not valid
    askers: who waits for it
    """
    trace, reply = await assemble_trace(assembler, job, await record(job), log_text, askers)
    if reply.again is not None and not stop.is_set():
        focused = job.model_copy(update={"focus": reply.again})
        try:
            recording = await record(focused)
        except (WorkerQueueFull, WorkersUnavailable):
            return trace
        second, _ = await assemble_trace(assembler, focused, recording, log_text, askers, reply.result)
        if second.status == trace.status:
            return second
    return trace


async def assemble_trace(
    assembler: Assembler,
    job: Job,
    recording: ChildRecording,
    log_text: bool,
    askers: Askers,
    compared_result: str | None = None,
) -> tuple[RecordedTrace, AssemblyReply]:
    """Return the trace of a child's lines. If no trace can be made in time, the trace has no steps and counts
    as lost."""
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
        networks = sorted({asker.client.network for asker in askers})
        reply, body = await assembler.assemble_trace(request, recording.data, networks)
    except AssemblyFailed:
        lost = request.model_copy(update={"outcome": request.outcome or UNREADABLE_OUTCOME})
        reply, body = await asyncio.to_thread(assemble_compressed_trace, lost, b"")
    if reply.rejected:
        log.error("%s", reply.rejected)
    return trace_from_reply(request, reply, body), reply


def trace_from_reply(request: AssemblyRequest, reply: AssemblyReply, body: bytes) -> RecordedTrace:
    """Build the trace from an assembler's reply and the gzipped body that followed it."""
    seconds = request.usage.wall_ms / 1000
    return RecordedTrace(
        body, reply.status, seconds, reply.limit, reply.deterministic, reply.cacheable, request.versions
    )


def cancelled_trace(job: Job, versions: Mapping[str, str]) -> RecordedTrace:
    """The trace of a program that was cancelled before it started."""
    request = AssemblyRequest(job=job, versions=dict(versions), outcome=CANCELLED_OUTCOME)
    return trace_from_reply(request, *assemble_compressed_trace(request, b""))


def parse_answers(job: AnswerJob, data: bytes, ended: bool) -> list[Answer]:
    """Parse the answers that a child wrote. Raises NoAnswers.

    ended: whether the child came to its end
    """
    *lines, last = data.split(b"\n")[:-1] or [b""]
    if not ended or len(lines) != len(job.programs):
        raise NoAnswers(f"{len(lines)} of {len(job.programs)} programs answered, then: {last[:200]!r}")
    try:
        return [Answer.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise NoAnswers(str(error)[:300]) from error
