"""Runs programs through a zygote on this machine: turns, limits, kills, and a trace whatever happens.

What a child writes is input from an attacker. It is read up to a limit, validated before anything else sees it, and
how the run ended is what its parent saw, not what it says.
"""

import asyncio
import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from server import __version__
from server.settings import Settings
from server.wire.api import Job
from server.wire.trace import (
    Cost,
    Error,
    Header,
    HeaderLine,
    Outcome,
    OutcomeLine,
    Program,
    Runtime,
    Step,
    StepLine,
    Stopped,
    Trace,
)

ROOT = Path(__file__).parent.parent.parent
CHUNK = 1 << 16
BELIEVED = ("finished", "raised", "refused", "stopped")
"""Endings that only the child can know."""

log = logging.getLogger("gradbox.pool")


class Busy(Exception):
    """No room to wait in; come back in so many seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"too many programs are waiting; try again in {retry_after:.0f} s")
        self.retry_after = retry_after


class Down(Exception):
    """The workers' first process can't be started."""


@dataclass
class Running:
    """A run as its supervisor sees it."""

    exited: asyncio.Future[dict[str, Any]]
    data: bytearray = field(default_factory=bytearray)
    limit: Stopped | None = None
    began: float = 0.0


class Pool:
    """At most `settings.workers` runs at once; more wait, and past `settings.queue` of them one is told `Busy`."""

    def __init__(self, settings: Settings, entry: str | None = None) -> None:
        self._settings, self._entry = settings, entry
        self._turns = asyncio.Semaphore(settings.workers)
        self._waiting = 0
        self._next = 0
        self._runs: dict[int, Running] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._ready: asyncio.Future[dict[str, str]] | None = None
        self._closed = False

    async def start(self) -> None:
        """Begin to boot the zygote; does not wait for it."""
        self._boot()

    @property
    def ready(self) -> bool:
        """Whether a program would start at once."""
        return (
            self._ready is not None
            and self._ready.done()
            and not self._ready.cancelled()
            and self._ready.exception() is None
        )

    async def close(self) -> None:
        """End the zygote, and with it whatever runs."""
        self._closed = True
        self._lose()
        if self._process is not None:
            process = self._process
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, 5)
            if process.poll() is None:
                process.kill()

    async def run(self, job: Job) -> Trace:
        """The trace of a program, however it ends. Raises Busy, and Down when no worker can be had."""
        if self._turns.locked() and self._waiting >= self._settings.queue:
            raise Busy(max(1.0, self._settings.wall / 2))
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            versions = await self._booted()
            now = await self._fork(job)
            outcome, told = await self._follow(*now)
        finally:
            self._turns.release()
        return await asyncio.to_thread(assemble, job, versions, bytes(now[1].data), outcome, told)

    def _boot(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        command = [sys.executable, "-m", "server.worker.zygote", str(theirs.fileno())]
        if self._entry:
            command.append(self._entry)
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        kept = {
            name: os.environ[name]
            for name in ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE")
            if name in os.environ
        }
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**kept, **one, "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        loop = asyncio.get_running_loop()
        self._link, self._ready = ours, loop.create_future()
        loop.add_reader(ours, self._heard)

    async def _booted(self) -> dict[str, str]:
        """Wait for the zygote; start another where it died."""
        if self._closed:
            raise Down("the server is going down")
        if self._link is None:
            self._boot()
        assert self._ready is not None
        try:
            return await asyncio.wait_for(asyncio.shield(self._ready), self._settings.boot)
        except (TimeoutError, ConnectionError) as error:
            raise Down("the workers do not start") from error

    def _heard(self) -> None:
        assert self._link is not None
        try:
            data = self._link.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            log.error("the workers' first process is gone")
            self._lose()
            return
        message = json.loads(data)
        if "ready" in message and self._ready is not None and not self._ready.done():
            self._ready.set_result(message["ready"])
        elif "exited" in message:
            run = self._runs.pop(int(message["exited"]), None)
            if run is not None and not run.exited.done():
                run.exited.set_result(message)

    def _lose(self) -> None:
        """The zygote is gone, and its children with it."""
        if self._link is not None:
            asyncio.get_running_loop().remove_reader(self._link)
            self._link.close()
            self._link = None
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(ConnectionError("the workers' first process died"))
            self._ready.exception()
        for run in self._runs.values():
            if not run.exited.done():
                run.exited.set_result({"lost": True})
        self._runs.clear()

    async def _fork(self, job: Job) -> tuple[int, Running, int]:
        """Hand the job over; (number, run, the end of the pipe to read)."""
        self._next += 1
        number = self._next
        run = Running(asyncio.get_running_loop().create_future(), began=time.perf_counter())
        self._runs[number] = run
        reading, writing = os.pipe()
        file = os.memfd_create("job")
        try:
            with os.fdopen(os.dup(file), "wb") as told:
                told.write(job.model_dump_json().encode())
            if self._link is None:
                raise ConnectionError
            socket.send_fds(self._link, [json.dumps({"run": number}).encode()], [file, writing])
        except OSError:
            self._runs.pop(number, None)
            run.exited.set_result({"lost": True})
        finally:
            os.close(file)
            os.close(writing)
        return number, run, reading

    async def _follow(self, number: int, run: Running, reading: int) -> tuple[Outcome | None, dict[str, Any]]:
        """Read to the end or to a limit. The outcome where the parent knows it, and how the child exited."""
        loop = asyncio.get_running_loop()
        stream = asyncio.StreamReader(limit=CHUNK)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reading, "rb")
        )
        try:
            try:
                async with asyncio.timeout(self._settings.wall):
                    await self._read(run, stream)
                    if run.limit is None:
                        exit_ = await asyncio.shield(run.exited)
            except TimeoutError:
                run.limit = Stopped(limit="wall", value=self._settings.wall)
            if run.limit is not None:
                exit_ = await self._kill(number, run)
        except asyncio.CancelledError:
            self._send({"kill": number})
            raise
        finally:
            transport.close()
        exit_["wall_ms"] = round((time.perf_counter() - run.began) * 1000, 3)
        if run.limit is not None:
            return Outcome(status="stopped", stopped=run.limit), exit_
        if exit_.get("lost"):
            return Outcome(
                status="lost", error=Error(type="Lost", message="the machine's workers went down under the run")
            ), exit_
        if exit_.get("signal"):
            signal = int(exit_["signal"])
            return Outcome(
                status="crashed", signal=signal, error=Error(type="Crash", message=f"killed by signal {signal}")
            ), exit_
        return None, exit_

    async def _read(self, run: Running, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(CHUNK):
            run.data += chunk
            if len(run.data) > self._settings.trace + CHUNK:
                run.limit = Stopped(limit="trace", value=self._settings.trace)
                return

    async def _kill(self, number: int, run: Running) -> dict[str, Any]:
        self._send({"kill": number})
        try:
            return await asyncio.wait_for(asyncio.shield(run.exited), 5)
        except TimeoutError:
            return {}

    def _send(self, message: dict[str, Any]) -> None:
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.send(json.dumps(message).encode())


def assemble(job: Job, versions: dict[str, str], data: bytes, outcome: Outcome | None, exit_: dict[str, Any]) -> Trace:
    """A trace from whatever lines arrived. outcome: None where the child's own word is taken."""
    header: Header | None = None
    steps: list[Step] = []
    last: OutcomeLine | None = None
    fault = "the program's process ended without a word"
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            if header is None:
                header = HeaderLine.model_validate_json(line).header
            elif line.startswith(b'{"step"'):
                step = StepLine.model_validate_json(line).step
                if step.i != len(steps):
                    raise ValueError("steps out of order")
                steps.append(step)
            else:
                last = OutcomeLine.model_validate_json(line)
                break
        except (ValidationError, ValueError) as error:
            fault = said(line) or "the worker wrote what is no trace"
            if outcome is None:
                log.error("unreadable line from a worker: %s", str(error)[:2000])
            break
    if outcome is None and last is not None and last.outcome.status in BELIEVED:
        outcome = last.outcome
    elif outcome is None:
        outcome = Outcome(status="crashed", error=Error(type="Crash", message=fault))
    if outcome.stopped is not None and outcome.stopped.line is None and steps:
        outcome.stopped.line = steps[-1].line
    head = header or Header(schema=1, program=Program(source=job.source), runtime=runtime(job, versions))
    cost = Cost(**{name: exit_.get(name, 0) for name in ("wall_ms", "cpu_ms", "peak_bytes")})
    return Trace.model_construct(
        schema_=head.schema_, program=head.program, runtime=head.runtime, steps=steps, outcome=outcome, cost=cost
    )


def said(line: bytes) -> str | None:
    """What a worker wrote of its own failure."""
    try:
        found = json.loads(line) if line.startswith(b'{"fault"') else {}
    except (ValueError, RecursionError):
        return None
    if "fault" in found:
        log.error("a worker failed:\n%s", found["fault"])
        return "the recorder failed; this is our fault, not the program's"
    return None


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
