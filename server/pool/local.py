"""Runs programs on this machine: turns, limits, kills, and a trace whatever happens."""

import asyncio
import contextlib
import logging
import re
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from server.pool.assemble import alike, assemble
from server.pool.machine import room
from server.pool.turns import Turns, Who
from server.pool.zygote import ENTRY, Child, Down, Options, Zygote
from server.settings import Settings
from server.wire.api import Job
from server.wire.trace import Error, Focus, Outcome, Stopped, Trace

SAYING = 0.05
"""Seconds that a child has to say at which line it is before it is killed."""

log = logging.getLogger("gradbox.pool")

NOBODY = Who("", "")
CANCELLED = Outcome(status="cancelled")
_WHERE = re.compile(rb'File "<program>", line (\d{1,7})')


class Pool:
    """At most `settings.workers` runs at once; more wait, and past `settings.queue` of them one is told `Busy`."""

    def __init__(self, settings: Settings, entry: str = ENTRY) -> None:
        self._settings = settings
        workers = self.workers = min(settings.workers, room(settings.memory))
        if workers < settings.workers:
            log.warning("there is memory for %d of %d programs at once", workers, settings.workers)
        options = Options(workers, settings.sandbox, settings.memory, settings.cpu, entry)
        self.turns = Turns(workers, settings.queue, classroom=settings.classroom)
        self.zygote = Zygote(options, settings.boot)
        one = replace(options, spares=1, device="cuda", gpu_memory=settings.gpu_memory)
        self._gpu = Zygote(one, settings.boot), Turns(1, settings.queue, classroom=settings.classroom)
        self._looking: asyncio.Task[None] | None = None
        self._releasing: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to boot the workers; does not wait for them."""
        self.zygote.start()
        if self._settings.gpu:
            self._looking = asyncio.create_task(self._look_for_a_gpu())

    async def _look_for_a_gpu(self) -> None:
        with contextlib.suppress(Down):
            await self.zygote.booted()
            if self.zygote.gpus:
                self._gpu[0].start()

    @property
    def ready(self) -> bool:
        """Whether a program would start at once."""
        return self.zygote.ready

    @property
    def devices(self) -> tuple[str, ...]:
        """Where a program can run now."""
        return ("cpu", "cuda") if self._gpu[0].ready else ("cpu",)

    async def close(self) -> None:
        """End the workers, and with them whatever runs."""
        if self._looking is not None:
            self._looking.cancel()
        for zygote in (self.zygote, self._gpu[0]):
            await zygote.close()
        await asyncio.gather(*self._releasing)

    async def run(
        self,
        job: Job,
        who: Who = NOBODY,
        told: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Trace:
        """The trace of a program, however it ends. Raises Busy, and Down when no worker can be had.

        told: called with how many are ahead, while it waits, and with -1 when its turn has come. stop: ends it, with
        what was recorded, once its turn has come. Where the cause of its end passed unseen in a long loop, it is run once more to show it.
        """
        stop = stop or asyncio.Event()
        zygote, turns = self._gpu if job.device == "cuda" else (self.zygote, self.turns)
        async with turns.take(who, told):
            if told is not None:
                told(-1)
            trace, again = await self._once(zygote, job, stop)
            if again is not None and not stop.is_set():
                second, _ = await self._once(zygote, job.model_copy(update={"focus": again}), stop)
                if second.outcome.status == trace.outcome.status and second.focus is not None:
                    second.focus.repeatable = await asyncio.to_thread(alike, trace, second)
                    return second
            return trace

    def nothing(self, job: Job) -> Trace:
        """The trace of a program whose asker gave it up before its turn came."""
        return assemble(job, self.zygote.versions, b"", CANCELLED, {})[0]

    async def _once(self, zygote: Zygote, job: Job, stop: asyncio.Event) -> tuple[Trace, Focus | None]:
        child = await zygote.child()
        try:
            child.give(job.model_dump_json(by_alias=True, exclude_none=True).encode(), self._settings.trace)
            stopped = await self._follow(zygote, child, stop)
        finally:
            releasing = asyncio.create_task(zygote.release(child))
            if child.told:  # all is known; that it takes its memory down need keep nobody waiting
                self._releasing.add(releasing)
                releasing.add_done_callback(self._releasing.discard)
            else:
                await asyncio.shield(releasing)
        told = dict(child.exit or {})
        told["wall_ms"] = round((time.perf_counter() - child.began) * 1000, 3)
        end = CANCELLED if stopped else ending(child, self._settings)
        quoting = self._settings.log_programs
        return await asyncio.to_thread(assemble, job, zygote.versions, bytes(child.data), end, told, quoting)

    async def _follow(self, zygote: Zygote, child: Child, stop: asyncio.Event) -> bool:
        """Wait for the run's end, or until it has to be made to end; whether that was wanted."""
        try:
            async with asyncio.timeout(self._settings.wall):
                await either(child.ended, stop)
        except TimeoutError:
            pass
        if child.told or child.exit is not None or child.limit is not None:
            return False
        if not stop.is_set():
            zygote.where(child)
            await asyncio.sleep(SAYING)
            child.limit = Stopped(limit="wall", value=self._settings.wall)
        return stop.is_set()


async def either(*events: asyncio.Event) -> None:
    """Wait until one of them is set."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()


def ending(child: Child, settings: Settings) -> Outcome | None:
    """How the run ended, where its parent knows it; else None."""
    told = child.exit or {}
    place = _WHERE.search(child.data, max(len(child.data) - 20_000, 0))
    line = int(place[1]) if place else None
    if child.limit is not None:
        return Outcome(status="stopped", stopped=child.limit.model_copy(update={"line": line}))
    if child.told:
        return None
    if told.get("lost"):
        return Outcome(status="lost", error=Error(type="Lost", message="the machine's workers went down under the run"))
    if told.get("signal"):
        number = int(told["signal"])
        if number == signal.SIGXCPU or (number == signal.SIGKILL and told.get("cpu_ms", 0) >= settings.cpu * 1000):
            return Outcome(status="stopped", stopped=Stopped(limit="cpu", value=settings.cpu, line=line))
        return Outcome(status="crashed", signal=number, error=crash(number, line))
    return None


def crash(number: int, line: int | None) -> Error:
    names: dict[int, Any] = {one.value: one.name for one in signal.Signals}
    return Error(type="Crash", message=f"killed by signal {number} ({names.get(number, 'unknown')})", line=line)
