"""Runs programs on this machine: their queue, their limits, their end, and a trace whatever happens."""

import asyncio
import contextlib
import logging
import re
import signal
import time
from collections.abc import Callable
from dataclasses import replace

from pydantic import ValidationError

from server.pool.assemble import assemble_compressed
from server.pool.assembler import Assembler, AssemblyFailed
from server.pool.child import Child, Exit
from server.pool.fair_queue import Client, FairQueue
from server.pool.machine import max_workers
from server.pool.recorded_trace import RecordedTrace
from server.pool.zygote import PREPARE, WorkersUnavailable, Zygote
from server.settings import Settings
from server.wire.api import Job
from server.wire.assembly import AssemblyReply, AssemblyRequest, Usage
from server.wire.link import WorkerOptions
from server.wire.matrix import Answer, AnswerJob
from server.wire.trace import Error, Outcome, Stopped

TRACEBACK_TIME = 0.05
"""Seconds that a child has to report its current line before it is killed."""

log = logging.getLogger("gradbox.pool")

SERVER_CLIENT = Client("", "")
"""The client of the programs that the server runs of its own accord."""

CANCELLED = Outcome(status="cancelled")
UNREADABLE = Outcome(status="lost", error=Error(type="Lost", message="the run's trace could not be read"))
_TRACEBACK_LINE = re.compile(rb'File "<program>", line (\d{1,7})')


class NoAnswers(Exception):
    """A child that was to answer programs of the server's own ended before it had."""


class Pool:
    """At most `settings.workers` programs at once and `settings.queue` that wait; past these, `run` raises Busy."""

    def __init__(self, settings: Settings, prepare: str = PREPARE) -> None:
        self._settings = settings
        workers = self.workers = min(settings.workers, max_workers(settings.memory))
        if workers < settings.workers:
            log.warning("there is memory for %d of %d programs at once", workers, settings.workers)
        options = WorkerOptions(workers, settings.sandbox, settings.memory, settings.cpu, prepare)
        self.queue = FairQueue(workers, settings.queue, classroom=settings.classroom)
        self.zygote = Zygote(options, settings.boot)
        gpu_options = replace(options, spares=1, device="cuda", gpu_memory=settings.gpu_memory)
        self._gpu = Zygote(gpu_options, settings.boot), FairQueue(1, settings.queue, classroom=settings.classroom)
        self._assembler = Assembler(workers)
        self._starting_gpu: asyncio.Task[None] | None = None
        self._releasing: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to boot the workers; does not wait for them."""
        self.zygote.start()
        self._assembler.start()
        if self._settings.gpu:
            self._starting_gpu = asyncio.create_task(self._start_gpu())

    async def _start_gpu(self) -> None:
        with contextlib.suppress(WorkersUnavailable):
            await self.zygote.wait_until_booted()
            if self.zygote.gpus:
                self._gpu[0].start()

    @property
    def ready(self) -> bool:
        """Whether a program would be run now, or as soon as those before it have been."""
        return self.zygote.has_spare and not self.queue.full and not self._assembler.failing

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that a program can run on now."""
        return ("cpu", "cuda") if self._gpu[0].ready else ("cpu",)

    async def close(self) -> None:
        """End the workers, and with them whatever runs."""
        if self._starting_gpu is not None:
            self._starting_gpu.cancel()
        for zygote in (self.zygote, self._gpu[0]):
            await zygote.close()
        await asyncio.gather(*self._releasing)
        await self._assembler.close()

    async def run(
        self,
        job: Job,
        client: Client = SERVER_CLIENT,
        on_position: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> RecordedTrace:
        """The trace of a program, however it ends. Raises Busy, and WorkersUnavailable when no worker can be had.

        on_position: called with the number of programs ahead while it waits, and with -1 when it starts. stop: once set,
        ends a started program, with what was recorded. Where the cause of its end was skipped in a long loop, it is run
        once more to show it.
        """
        stop = stop or asyncio.Event()
        zygote, queue = self._gpu if job.device == "cuda" else (self.zygote, self.queue)
        async with queue.ticket(client, on_position):
            if on_position is not None:
                on_position(-1)
            trace, reply = await self._run_once(zygote, job, stop)
            if reply.again is not None and not stop.is_set():
                focused = job.model_copy(update={"focus": reply.again})
                second, _ = await self._run_once(zygote, focused, stop, reply.result)
                if second.status == trace.status:
                    return second
            return trace

    async def answer(self, job: AnswerJob, client: Client = SERVER_CLIENT) -> list[Answer]:
        """What programs of the server's own answer, in one confined child that records nothing.

        Raises Busy, WorkersUnavailable, and NoAnswers where the child did not come to its end.
        """
        async with self.queue.ticket(client, None):
            child, _ = await self._run_child(self.zygote, job.model_dump_json().encode(), asyncio.Event())
        *lines, last = bytes(child.data).split(b"\n")[:-1] or [b""]
        if not child.outcome_received or len(lines) != len(job.programs):
            raise NoAnswers(f"{len(lines)} of {len(job.programs)} programs answered, then: {last[:200]!r}")
        try:
            return [Answer.model_validate_json(line) for line in lines]
        except ValidationError as error:
            raise NoAnswers(str(error)[:300]) from error

    def cancelled_trace(self, job: Job) -> RecordedTrace:
        """The trace of a program that was cancelled before it started."""
        request = AssemblyRequest(job=job, versions=self.zygote.versions, outcome=CANCELLED)
        return recorded_trace(request, *assemble_compressed(request, b""))

    async def _run_once(
        self, zygote: Zygote, job: Job, stop: asyncio.Event, compared_result: str | None = None
    ) -> tuple[RecordedTrace, AssemblyReply]:
        data = job.model_dump_json(by_alias=True, exclude_none=True).encode()
        child, cancelled = await self._run_child(zygote, data, stop)
        if child.died_unused and not cancelled:  # it was killed while it waited, and nothing of the program ran
            log.warning("a spare child was killed as it was given a program; another one gets it")
            child, cancelled = await self._run_child(zygote, data, stop)
        exit_ = child.exit or Exit()
        wall_ms = round((time.perf_counter() - child.began) * 1000, 3)
        request = AssemblyRequest(
            job=job,
            versions=zygote.versions,
            outcome=CANCELLED if cancelled else observed_outcome(child, self._settings),
            usage=Usage(wall_ms=wall_ms, cpu_ms=exit_.cpu_ms, peak_bytes=exit_.peak_bytes),
            log_text=self._settings.log_programs,
            compared_result=compared_result,
        )
        return await self._assemble(request, child.data)

    async def _run_child(self, zygote: Zygote, job: bytes, stop: asyncio.Event) -> tuple[Child, bool]:
        """A child that has run the job to its end, and whether that is because `stop` was set."""
        child = await zygote.child()
        try:
            child.start(job, self._settings.trace)
            return child, await self._wait_for_end(zygote, child, stop)
        finally:
            releasing = asyncio.create_task(zygote.release(child))
            if child.outcome_received:  # all is known; that it takes its memory down need keep nobody waiting
                self._releasing.add(releasing)
                releasing.add_done_callback(self._releasing.discard)
            else:
                await asyncio.shield(releasing)

    async def _assemble(self, request: AssemblyRequest, data: bytes | bytearray) -> tuple[RecordedTrace, AssemblyReply]:
        """The trace of a child's lines; without them, and lost, where they can't be made one in time."""
        try:
            reply, body = await self._assembler.assemble(request, data)
        except AssemblyFailed:
            lost = request.model_copy(update={"outcome": request.outcome or UNREADABLE})
            reply, body = await asyncio.to_thread(assemble_compressed, lost, b"")
        if reply.rejected:
            log.error("%s", reply.rejected)
        return recorded_trace(request, reply, body), reply

    async def _wait_for_end(self, zygote: Zygote, child: Child, stop: asyncio.Event) -> bool:
        """Wait until the program ends or has to be ended. Returns whether that is because `stop` was set."""
        try:
            async with asyncio.timeout(self._settings.wall):
                await wait_for_first(child.ended, stop)
        except TimeoutError:
            pass
        if child.outcome_received or child.exit is not None or child.limit is not None:
            return False
        if not stop.is_set():
            zygote.request_traceback(child)
            await asyncio.sleep(TRACEBACK_TIME)
            child.limit = Stopped(limit="wall", value=self._settings.wall)
        return stop.is_set()


def recorded_trace(request: AssemblyRequest, reply: AssemblyReply, body: bytes) -> RecordedTrace:
    """The trace that a reply tells of."""
    seconds = request.usage.wall_ms / 1000
    return RecordedTrace(body, reply.status, seconds, reply.limit, reply.deterministic, reply.cacheable)


async def wait_for_first(*events: asyncio.Event) -> None:
    """Wait until one of them is set."""
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def observed_outcome(child: Child, settings: Settings) -> Outcome | None:
    """How the program ended, as its parent saw it; None where only the child's last line says it."""
    exit_ = child.exit or Exit()
    match = _TRACEBACK_LINE.search(child.data, max(len(child.data) - 20_000, 0))
    line = int(match[1]) if match else None
    if child.limit is not None:
        return Outcome(status="stopped", stopped=child.limit.model_copy(update={"line": line}))
    if child.outcome_received:
        return None
    if exit_.lost:
        return Outcome(status="lost", error=Error(type="Lost", message="the machine's workers went down under the run"))
    if child.died_unused:
        return Outcome(status="lost", error=Error(type="Lost", message="its worker was killed before it began"))
    if exit_.signal is not None:
        number = exit_.signal
        if number == signal.SIGXCPU or (number == signal.SIGKILL and (exit_.cpu_ms or 0) >= settings.cpu * 1000):
            return Outcome(status="stopped", stopped=Stopped(limit="cpu", value=settings.cpu, line=line))
        return Outcome(status="crashed", signal=number, error=crash_error(number, line))
    return None


def crash_error(number: int, line: int | None) -> Error:
    names = {known.value: known.name for known in signal.Signals}
    return Error(type="Crash", message=f"killed by signal {number} ({names.get(number, 'unknown')})", line=line)
