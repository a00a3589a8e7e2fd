"""The runs of the server: identical ones joined, results kept for a while, those that nobody waits for ended."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from server.pool.cache import Cache, keepable, key, packed
from server.pool.local import Pool
from server.pool.turns import Who
from server.wire.api import Job
from server.wire.trace import Trace

GRACE = 15.0
"""Seconds that a run goes on without anybody who reads of it."""

KEEP = 300.0
"""Seconds that a finished run can be asked for by its id."""


@dataclass(frozen=True)
class Result:
    """body: the trace's JSON, gzipped. status: the outcome's. seconds: that it took; 0 where it was kept from before.

    limit: the one that ended it.
    """

    status: str
    body: bytes
    seconds: float = 0.0
    limit: str | None = None


@dataclass
class Work:
    """One program being run, for all who asked for just this."""

    key: str
    job: Job
    who: Who
    runs: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)  # those of them whose asker has not stopped it
    ahead: int | None = None  # -1: it runs
    result: Result | None = None
    error: Exception | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # replaced each time it is set
    task: "asyncio.Task[None] | None" = None

    @property
    def over(self) -> bool:
        return self.result is not None or self.error is not None

    def tell(self) -> None:
        """Wake all who wait for news."""
        was, self.changed = self.changed, asyncio.Event()
        was.set()


class Run:
    """One asker's share in a work. `state` and `ahead` are what the asker is told."""

    def __init__(self, work: Work) -> None:
        self.id = secrets.token_urlsafe(16)
        self.work = work
        self.readers = 0
        self.seen = 0.0  # when somebody last read of it

    @property
    def state(self) -> str:
        """queued, running, or done."""
        if self.work.over:
            return "done"
        return "running" if self.work.ahead == -1 else "queued"

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"id": self.id, "state": self.state}
        if facts["state"] == "queued":
            facts["ahead"] = self.work.ahead or 0
        if self.work.result is not None:
            facts["status"] = self.work.result.status
        return facts


class Runs:
    """room: bytes of finished runs that are kept to be asked for. ended: told every result that was not kept."""

    def __init__(self, pool: Pool, cache: Cache, room: int, ended: Callable[[Job, Result], None]) -> None:
        self._pool, self._cache, self._room, self._ended = pool, cache, room, ended
        self._works: dict[str, Work] = {}
        self._runs: dict[str, Run] = {}
        self._finished: OrderedDict[str, int] = OrderedDict()  # run -> bytes of its result

    def kept(self, job: Job) -> Result | None:
        """The result of a program that ran before."""
        versions = self._pool.zygote.versions
        body = self._cache.get(key(job, versions)) if versions else None
        return Result("kept", body) if body is not None else None

    async def begin(self, job: Job, who: Who) -> Run:
        """Start it, or join those who wait for the same. Raises Busy, and Down."""
        name = key(job, self._pool.zygote.versions)
        work = self._works.get(name)
        if work is None or work.stop.is_set():
            work = self._works[name] = Work(name, job, who)
            work.task = asyncio.create_task(self._work(work))
        run = Run(work)
        self._runs[run.id] = run
        work.runs.add(run.id)
        work.wanted.add(run.id)
        while work.ahead is None and not work.over:  # until it is known whether there is room to wait in
            await work.changed.wait()
        if isinstance(work.error, Exception):
            self._forget(run)
            raise work.error
        return run

    def find(self, id_: str) -> Run | None:
        return self._runs.get(id_)

    async def result(self, run: Run) -> Result:
        """Wait for it, as one of its readers. Raises what kept it from running."""
        with self.reading(run):
            while not run.work.over:
                await run.work.changed.wait()
        if run.work.error is not None:
            raise run.work.error
        assert run.work.result is not None
        return run.work.result

    async def events(self, run: Run) -> AsyncIterator[dict[str, Any]]:
        """What becomes of it, each time that changes; the last one is done."""
        with self.reading(run):
            told: dict[str, Any] | None = None
            while True:
                changed, now = run.work.changed, run.facts()
                if now != told:
                    told = now
                    yield now
                if run.work.over:
                    return
                await changed.wait()

    def stop(self, run: Run) -> None:
        """The asker wants no more of it; where nobody else does either, it ends here, with what was recorded."""
        run.work.wanted.discard(run.id)
        work = run.work
        if not work.wanted and not work.over and not work.stop.is_set():
            work.stop.set()
            if work.ahead != -1 and work.task is not None:  # it still waits
                work.task.cancel()

    def leave(self, run: Run) -> None:
        """The asker has gone."""
        self.stop(run)
        self._forget(run)

    def reading(self, run: Run) -> "Reading":
        return Reading(self, run)

    def idle(self, run: Run) -> None:
        """Nobody reads of it now: unless somebody comes back, it is ended."""
        loop = asyncio.get_running_loop()
        run.seen = loop.time()

        def check() -> None:
            if not run.readers and not run.work.over and loop.time() - run.seen >= GRACE - 0.1:
                self.leave(run)

        loop.call_later(GRACE, check)

    async def close(self) -> None:
        for work in list(self._works.values()):
            if work.task is not None:
                work.task.cancel()
        await asyncio.gather(*(work.task for work in self._works.values() if work.task), return_exceptions=True)

    async def _work(self, work: Work) -> None:
        def told(ahead: int) -> None:
            work.ahead = ahead
            work.tell()

        try:
            try:
                trace = await self._pool.run(work.job, work.who, told, work.stop)
            except asyncio.CancelledError:
                if not work.stop.is_set():
                    raise
                trace = self._pool.nothing(work.job)
            body = await asyncio.to_thread(packed, trace)
            outcome = trace.outcome
            limit = outcome.stopped.limit if outcome.stopped is not None else None
            work.result = Result(outcome.status, body, trace.cost.wall_ms / 1000, limit)
            self._keep(work, trace)
        except Exception as error:
            work.error = error
        except asyncio.CancelledError:
            work.error = ConnectionError("the server is going down")
            raise
        finally:
            if self._works.get(work.key) is work:
                del self._works[work.key]
            work.tell()
            for id_ in work.runs:
                self._finish(id_, len(work.result.body) if work.result else 0)
            if work.result is not None:
                self._ended(work.job, work.result)

    def _keep(self, work: Work, trace: Trace) -> None:
        assert work.result is not None
        if keepable(trace, work.job.source):
            self._cache.put(key(work.job, self._pool.zygote.versions), work.result.body)

    def _finish(self, id_: str, size: int) -> None:
        self._finished[id_] = size
        asyncio.get_running_loop().call_later(KEEP, self._expire, id_)
        while sum(self._finished.values()) > self._room and len(self._finished) > 1:
            self._expire(next(iter(self._finished)))

    def _expire(self, id_: str) -> None:
        self._finished.pop(id_, None)
        run = self._runs.get(id_)
        if run is not None and not run.readers:
            del self._runs[id_]

    def _forget(self, run: Run) -> None:
        run.work.runs.discard(run.id)
        run.work.wanted.discard(run.id)
        self._runs.pop(run.id, None)
        self._finished.pop(run.id, None)


class Reading:
    """While entered, somebody reads of a run."""

    def __init__(self, runs: Runs, run: Run) -> None:
        self._runs, self._run = runs, run

    def __enter__(self) -> None:
        self._run.readers += 1

    def __exit__(self, *_: object) -> None:
        self._run.readers -= 1
        if not self._run.readers and not self._run.work.over:
            self._runs.idle(self._run)
