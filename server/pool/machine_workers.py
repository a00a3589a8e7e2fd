"""The children of this machine. Takes a program and returns the lines that its child wrote and how it ended."""

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gradbox.assembly.assemble import crash_error
from gradbox.wire.api import Job
from gradbox.wire.processes import Usage
from gradbox.wire.trace import Error, Outcome, Stopped
from server import PROJECT_FOLDER
from server.allowed_packages import allowed_modules
from server.pool.assembly import CANCELLED_OUTCOME, ChildRecording
from server.pool.child import Child, ChildExit
from server.pool.machine_resources import max_workers_for_memory, seconds_waited_for_processor
from server.pool.zygote import PREPARE_FUNCTION, WorkersUnavailable, Zygote
from server.settings import Settings
from server.wire.link import WorkerOptions
from server.wire.matrix import AnswerJob

TRACEBACK_SECONDS = 1.0
"""Seconds that a child has to report its current line before it is killed."""

MAX_WALL_TIME_FACTOR = 6
"""So many times its limit of seconds a program may take where others have the processor for the rest of the time."""

MIN_POLL_INTERVAL = 0.05
"""Seconds between two looks at the clock of a program whose time is nearly over."""

NOTICEABLE_WAIT_SHARE = 0.1
"""Share of its limit of seconds from which on it is said that a program waited for a processor."""

_TRACEBACK_LINE_PATTERN = re.compile(rb'File "<program>", line (\d{1,7}) in ')

MAX_GPU_SPARES = 4
"""Spare children that wait with a context on the GPU, so that as many programs can start while one runs. Replacing one
takes a second or two of processor time."""

CONTEXT_BYTES = 1 << 30
"""Bytes of GPU memory that a context takes, at most."""

FIND_GPUS_SECONDS = 60.0
"""Seconds that the process which looks for GPUs may take."""

GPU_DEVICES = ("nvidia[0-9]*", "dxg", "kfd")
"""Patterns of device files in /dev: a machine with a GPU has at least one (NVIDIA's, WSL's or AMD's)."""

GPU_OFF_REASON = "GRADBOX_GPU is off; start the server with GRADBOX_GPU=1"
GPU_FAILED_REASON = "it does not start"
GPU_STARTING_REASON = "it is starting; try again in some seconds"

OnBuffer = Callable[[bytearray], None]
"""Called with the buffer that will receive a child's lines, before any line arrives."""

log = logging.getLogger("gradbox.pool")


@dataclass(frozen=True)
class RunBounds:
    """What the parent process limits: seconds of its own that a program may take, and bytes of its lines."""

    wall_seconds: float
    trace_bytes: int

    @classmethod
    def for_job(cls, job: Job, settings: Settings) -> "RunBounds":
        """The limits of a job, which may ask for less than this machine's settings allow but never gets more."""
        limits = job.limits
        return cls(
            min(settings.wall, limits.get("wall", settings.wall)),
            int(min(settings.trace, limits.get("trace", settings.trace))),
        )


class MachineWorkers:
    """Runs each program at once when it is given one; the queue decides whose turn it is.

    count: how many programs run at once, at most
    gpu_names: the GPUs that torch can use, once that is known
    use_gpu: whether to run programs on them, too; None for what the settings say
    """

    def __init__(self, settings: Settings, prepare: str = PREPARE_FUNCTION, use_gpu: bool | None = None) -> None:
        self._settings, self._use_gpu = settings, settings.gpu if use_gpu is None else use_gpu
        self._no_gpu = ""  # why no GPU can be used, as far as it is known
        self.count = min(settings.workers, max_workers_for_memory(settings.memory))
        if self.count < settings.workers:
            log.warning("there is memory for %d of %d programs at once", self.count, settings.workers)
        options = WorkerOptions(
            self.count,
            settings.sandbox,
            settings.memory,
            settings.cpu,
            prepare,
            packages=tuple(allowed_modules(settings.packages)),
        )
        gpu_options = replace(
            options,
            spares=1,
            device="cuda",
            gpu_memory=settings.gpu_memory,
            visible_gpus=os.environ.get("CUDA_VISIBLE_DEVICES"),
        )
        self.zygote, self.gpu_zygote = Zygote(options, settings.boot), Zygote(gpu_options, settings.boot)
        self.gpu_names: list[str] = []
        self._starting_gpu: asyncio.Task[None] | None = None
        self._releasing: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to boot the zygotes; does not wait for them."""
        self.zygote.start()
        if self._use_gpu:
            self._starting_gpu = asyncio.create_task(self._start_gpu_zygote())

    async def _start_gpu_zygote(self) -> None:
        """Start the GPU's zygote if torch can use a GPU. It starts after the CPU's, which visitors wait for."""
        names, memory, no_gpu = await find_gpus()
        if names:
            self.gpu_zygote.set_spare_count(gpu_spare_count(memory, self._settings.gpu_memory))
            with contextlib.suppress(WorkersUnavailable):
                await self.zygote.wait_until_booted()
            self.gpu_zygote.start()
        self.gpu_names, self._no_gpu = names, no_gpu
        if not names:
            log.info("there is no worker for a GPU: %s", self._no_gpu)

    async def wait_for_gpu(self) -> None:
        """Wait until the GPU's zygote has a child that is ready. Raises WorkersUnavailable."""
        if self._starting_gpu is not None:
            await asyncio.shield(self._starting_gpu)
        while not self.gpu_zygote.has_spare:
            reason = self.gpu_unavailable_reason
            if reason and reason != GPU_STARTING_REASON:
                raise WorkersUnavailable(f"this machine runs no programs on a GPU: {reason}")
            await asyncio.sleep(0.1)

    @property
    def is_gpu_ready(self) -> bool:
        """Whether programs for a GPU are run."""
        return not self.gpu_unavailable_reason

    @property
    def gpu_unavailable_reason(self) -> str:
        """Why programs do not run on a GPU now and what to do; "" if they do."""
        if not self._use_gpu:
            return GPU_OFF_REASON
        if self._no_gpu:
            return self._no_gpu
        if self.gpu_zygote.failure:
            return f"{GPU_FAILED_REASON}: {self.gpu_zygote.failure}"
        return "" if self.gpu_zygote.is_ready and self.gpu_zygote.has_had_spare else GPU_STARTING_REASON

    async def close(self) -> None:
        """End the zygotes, and with them whatever runs."""
        if self._starting_gpu is not None:
            self._starting_gpu.cancel()
        for zygote in (self.zygote, self.gpu_zygote):
            await zygote.close()
        await asyncio.gather(*self._releasing)

    async def record_job(self, job: Job, stop: asyncio.Event, on_buffer: OnBuffer | None = None) -> ChildRecording:
        """Run a program and return what its child wrote and how it ended. Raises WorkersUnavailable.

        stop: once set, ends the program
        """
        zygote = self.gpu_zygote if job.device == "cuda" else self.zygote
        data = job.model_dump_json(by_alias=True, exclude_none=True).encode()
        bounds = RunBounds.for_job(job, self._settings)
        child, cancelled = await self._run_child(zygote, data, bounds, stop, on_buffer)
        if child.died_before_program and not cancelled:  # it was killed while it waited, and nothing of the program ran
            log.warning("a spare child was killed as it was given a program; another one gets it")
            child, cancelled = await self._run_child(zygote, data, bounds, stop, on_buffer)
        exit_ = child.exit or ChildExit()
        wall_ms = round((time.perf_counter() - child.started_at) * 1000, 3)
        return ChildRecording(
            child.data,
            zygote.versions,
            CANCELLED_OUTCOME if cancelled else observed_outcome(child, self._settings),
            Usage(wall_ms=wall_ms, cpu_ms=exit_.cpu_ms, peak_bytes=exit_.peak_bytes),
        )

    async def record_answers(self, job: AnswerJob) -> tuple[bytes, bool]:
        """Run the server's own programs; returns what the child wrote and whether it came to its end."""
        data, bounds = job.model_dump_json().encode(), RunBounds(self._settings.wall, self._settings.trace)
        child, _ = await self._run_child(self.zygote, data, bounds, asyncio.Event(), None)
        return bytes(child.data), child.outcome_received

    async def _run_child(
        self, zygote: Zygote, job: bytes, bounds: "RunBounds", stop: asyncio.Event, on_buffer: OnBuffer | None
    ) -> tuple[Child, bool]:
        """Run a job in a child to its end. Returns the child, and whether it ended because `stop` was set."""
        child = await zygote.take_child()
        try:
            if on_buffer is not None:
                on_buffer(child.data)
            child.start_job(job, bounds.trace_bytes)
            return child, await self._wait_for_end(zygote, child, bounds.wall_seconds, stop)
        finally:
            releasing = asyncio.create_task(zygote.kill_child(child))
            if child.outcome_received:  # all is known; that it takes its memory down need keep nobody waiting
                self._releasing.add(releasing)
                releasing.add_done_callback(self._releasing.discard)
            else:
                await asyncio.shield(releasing)

    async def _wait_for_end(self, zygote: Zygote, child: Child, wall_seconds: float, stop: asyncio.Event) -> bool:
        """Wait until the program ends or has to be ended. Returns whether `stop` was the reason."""
        clock = ProgramClock(child.pid, wall_seconds)
        while (left := clock.seconds_left()) > 0 and not child.ended.is_set() and not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await wait_for_any_event(child.ended, stop)
        if child.outcome_received or child.exit is not None or child.limit is not None:
            return False
        if not stop.is_set():
            zygote.request_traceback(child)
            await wait_for_traceback(child)
            child.limit = clock.stopped()
        return stop.is_set()


class ProgramClock:
    """The clock of a run: counts the seconds that a program took itself, computing, sleeping or reading.

    It stands still while the program is ready to run and other processes have the processor.

    pid: of the child that runs the program
    limit: how many such seconds it has; on a busy machine these take longer, `MAX_WALL_TIME_FACTOR` times at most
    """

    def __init__(self, pid: int, limit: float) -> None:
        self._pid, self._limit = pid, limit
        self._began, self._waited_before = time.perf_counter(), seconds_waited_for_processor(pid)

    def _read(self) -> tuple[float, float]:
        """Seconds since the clock was started, and how many of them the program waited for a processor."""
        waited = max(0.0, seconds_waited_for_processor(self._pid) - self._waited_before)
        return time.perf_counter() - self._began, waited

    def seconds_left(self) -> float:
        """Seconds after which to look again, if the program has not ended by then; 0 or less once its time is over."""
        elapsed, waited = self._read()
        left = min(self._limit - (elapsed - waited), self._limit * MAX_WALL_TIME_FACTOR - elapsed)
        return max(left, MIN_POLL_INTERVAL) if left > 0 else 0.0

    def stopped(self) -> Stopped:
        """The end of a run whose time is over, with how long it waited where the machine was busy."""
        elapsed, waited = self._read()
        if waited < NOTICEABLE_WAIT_SHARE * self._limit:
            return Stopped(limit="wall", value=self._limit)
        return Stopped(limit="wall", value=min(self._limit, round(elapsed - waited, 1)), waited=round(waited, 1))


def gpu_spare_count(memory: int, program_memory: int) -> int:
    """How many spare children may wait with a GPU context.

    memory: bytes of GPU memory
    program_memory: bytes of it that a program may take
    """
    return max(1, min(MAX_GPU_SPARES, (memory - program_memory) // CONTEXT_BYTES))


async def find_gpus() -> tuple[list[str], int, str]:
    """Find the GPUs that torch can use: their names and the bytes of the smallest one, or the reason why there is none.

    A separate process looks for them and exits.
    """
    if not any(match for pattern in GPU_DEVICES for match in Path("/dev").glob(pattern)):
        return [], 0, "this machine has no GPU, or its driver is not loaded: there is no /dev/nvidia0"
    command = [sys.executable, "-m", "server.worker.find_gpus"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, cwd=PROJECT_FOLDER, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(FIND_GPUS_SECONDS):
            output, errors = await process.communicate()
        names, memory, reason = json.loads(output.splitlines()[-1])
        return names, memory, reason
    except TimeoutError:
        return [], 0, f"torch did not find the GPUs within {FIND_GPUS_SECONDS:.0f} seconds"
    except (ValueError, IndexError):
        last = errors.decode(errors="replace").strip().splitlines()[-1:]
        return [], 0, f"the search for GPUs ended with status {process.returncode}: {''.join(last)[:300]}"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def wait_for_traceback(child: Child) -> None:
    """Wait until the child has written its traceback, which takes a while on a busy machine."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(TRACEBACK_SECONDS):
            while last_line_from_traceback(child) is None and not child.ended.is_set():
                await asyncio.sleep(0.005)


async def wait_for_any_event(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def observed_outcome(child: Child, settings: Settings) -> Outcome | None:
    """How the program ended as its parent observed it; None if only the child's last line tells it."""
    exit_, line = child.exit or ChildExit(), last_line_from_traceback(child)
    if child.limit is not None:
        return Outcome(status="stopped", stopped=child.limit.model_copy(update={"line": line}))
    if child.outcome_received:
        return None
    if exit_.lost:
        return Outcome(status="lost", error=Error(type="Lost", message="the machine's workers went down under the run"))
    if child.died_before_program:
        return Outcome(status="lost", error=Error(type="Lost", message="its worker was killed before it began"))
    if exit_.signal is not None:
        number = exit_.signal
        if number == signal.SIGXCPU or (number == signal.SIGKILL and (exit_.cpu_ms or 0) >= settings.cpu * 1000):
            return Outcome(status="stopped", stopped=Stopped(limit="cpu", value=settings.cpu, line=line))
        return Outcome(status="crashed", signal=number, error=crash_error(number, line))
    return None


def last_line_from_traceback(child: Child) -> int | None:
    """The program's current line, from the traceback that a child wrote on request or when it crashed."""
    match = _TRACEBACK_LINE_PATTERN.search(child.data, max(len(child.data) - 20_000, 0))
    return int(match[1]) if match else None
