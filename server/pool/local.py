"""Runs programs through a zygote on this machine: turns, limits, kills, and a trace whatever happens."""

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

from server.pool.assemble import alike, assemble
from server.settings import Settings
from server.wire.api import Job
from server.wire.trace import Error, Focus, Outcome, Stopped, Trace

ROOT = Path(__file__).parent.parent.parent
CHUNK = 1 << 16

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
    """A run as its supervisor sees it: `exit` is what the zygote reported, `ended` is set by that or by a limit."""

    pipe: int
    data: bytearray = field(default_factory=bytearray)
    limit: Stopped | None = None
    exit: dict[str, Any] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    exited: asyncio.Event = field(default_factory=asyncio.Event)
    began: float = field(default_factory=time.perf_counter)


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
        boot = self._ready
        return self._link is not None and boot is not None and boot.done() and boot.exception() is None

    async def close(self) -> None:
        """End the zygote, and with it whatever runs."""
        self._closed = True
        if self._process is not None and not self.ready:  # it has no children, and would hear of the end too late
            self._process.kill()
        self._lose()
        if self._process is not None:
            try:
                await asyncio.to_thread(self._process.wait, 5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    async def run(self, job: Job) -> Trace:
        """The trace of a program, however it ends. Raises Busy, and Down when no worker can be had.

        Where the cause of its end passed unseen in a long loop, it is run once more to show it.
        """
        if self._turns.locked() and self._waiting >= self._settings.queue:
            raise Busy(max(1.0, self._settings.wall / 2))
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            trace, again = await self._once(job)
            if again is not None:
                second, _ = await self._once(job.model_copy(update={"focus": again}))
                if second.outcome.status == trace.outcome.status and second.focus is not None:
                    second.focus.repeatable = await asyncio.to_thread(alike, trace, second)
                    return second
            return trace
        finally:
            self._turns.release()

    async def _once(self, job: Job) -> tuple[Trace, Focus | None]:
        versions = await self._booted()
        run = await self._follow(*self._fork(job))
        assert run.exit is not None
        return await asyncio.to_thread(assemble, job, versions, bytes(run.data), ending(run), run.exit)

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
        with theirs:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**kept, **one, "PYTHONHASHSEED": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C in a terminal is the server's to hear
            )
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
            async with asyncio.timeout(self._settings.boot):  # `wait_for` of Python 3.11 can swallow a cancellation
                return await asyncio.shield(self._ready)
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
            served = self.ready
            self._lose()
            if served:  # one that died while it started is tried again when somebody wants a run
                self._boot()
            return
        message = json.loads(data)
        if "ready" in message and self._ready is not None and not self._ready.done():
            self._ready.set_result(message["ready"])
        elif "exited" in message:
            run = self._runs.get(int(message["exited"]))
            if run is not None:
                self._over(run, message)

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
            self._over(run, {"lost": True})

    def _fork(self, job: Job) -> tuple[int, Running]:
        """Hand the job over. No `await` lies between this and `_follow`, which gives everything back."""
        self._next += 1
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        run = self._runs[self._next] = Running(reading)
        asyncio.get_running_loop().add_reader(reading, self._read, run)
        try:
            with os.fdopen(os.memfd_create("job"), "wb") as told:
                told.write(job.model_dump_json(by_alias=True, exclude_none=True).encode())
                told.flush()
                if self._link is None:
                    raise ConnectionError
                socket.send_fds(self._link, [json.dumps({"run": self._next}).encode()], [told.fileno(), writing])
        except OSError:
            self._over(run, {"lost": True})
        finally:
            os.close(writing)
        return self._next, run

    async def _follow(self, number: int, run: Running) -> Running:
        """Wait for the run's end, or make it; afterwards the child is reaped and nothing of it is left."""
        try:
            try:
                async with asyncio.timeout(self._settings.wall):
                    await run.ended.wait()
            except TimeoutError:
                if run.exit is None and run.limit is None:
                    run.limit = Stopped(limit="wall", value=self._settings.wall)
            finally:  # after a limit, and when nobody waits for the trace any longer
                if run.exit is None:
                    await self._kill(number, run)
        finally:
            self._deaf(run)
            os.close(run.pipe)
            del self._runs[number]
        assert run.exit is not None
        run.exit["wall_ms"] = round((time.perf_counter() - run.began) * 1000, 3)
        return run

    def _read(self, run: Running) -> bool:
        """Take what has come; whether more may lie there."""
        try:
            chunk = os.read(run.pipe, CHUNK)
        except BlockingIOError:
            return False
        run.data += chunk
        if len(run.data) > self._settings.trace + CHUNK and run.limit is None:
            run.limit = Stopped(limit="trace", value=self._settings.trace)
            run.ended.set()
        if chunk and run.limit is None:
            return True
        self._deaf(run)
        return False

    def _deaf(self, run: Running) -> None:
        asyncio.get_running_loop().remove_reader(run.pipe)

    def _over(self, run: Running, told: dict[str, Any]) -> None:
        """The child is dead. All it wrote lies in the pipe by now, which another process may still hold open."""
        if run.exit is None:
            while self._read(run):
                pass
            run.exit = told
            run.ended.set()
            run.exited.set()

    async def _kill(self, number: int, run: Running) -> None:
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.send(json.dumps({"kill": number}).encode())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await run.exited.wait()
        if run.exit is None:
            log.error("a run can't be killed")
            run.exit = {}


def ending(run: Running) -> Outcome | None:
    """How the run ended, where its parent knows it; else None."""
    told = run.exit or {}
    if run.limit is not None:
        return Outcome(status="stopped", stopped=run.limit)
    if told.get("lost"):
        return Outcome(status="lost", error=Error(type="Lost", message="the machine's workers went down under the run"))
    if told.get("signal"):
        signal = int(told["signal"])
        return Outcome(status="crashed", signal=signal, error=Error(type="Crash", message=f"killed by signal {signal}"))
    return None
