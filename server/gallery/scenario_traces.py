"""The traces of the gallery's scenarios: each is run once, when somebody first wants to see it."""

import asyncio
import hashlib
import time
from dataclasses import dataclass

from gradbox.wire.api import Job
from server.gallery.scenarios import Scenario
from server.pool.fair_queue import Busy
from server.pool.interface import PoolInterface
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings

MAX_WAIT = 1.0
"""Seconds that a page waits for the run of its scenario."""

RETRY_SECONDS = 10.0
"""Seconds before a scenario that could not be run is tried again."""


@dataclass(frozen=True)
class ScenarioTrace:
    """A scenario's trace. body: its JSON, gzipped. version: a digest of it."""

    name: str
    body: bytes
    version: str


class ScenarioTraces:
    """Each scenario is run at most once at a time, for as many requests as want it, and then kept."""

    def __init__(self, pool: PoolInterface, settings: Settings) -> None:
        self._pool, self._settings = pool, settings
        self._traces: dict[str, ScenarioTrace] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed_at: dict[str, float] = {}

    async def get(self, scenario: Scenario, max_wait: float = MAX_WAIT) -> ScenarioTrace | None:
        """The scenario's trace; None where it is not there in that time, or no worker is ready."""
        name = scenario.name
        if name not in self._traces and name not in self._tasks:
            if not self._pool.booted or time.monotonic() - self._failed_at.get(name, -RETRY_SECONDS) < RETRY_SECONDS:
                return None
            self._tasks[name] = asyncio.create_task(self._record(scenario))
        if name in self._tasks:
            await asyncio.wait((self._tasks[name],), timeout=max_wait)
        return self._traces.get(name)

    def cached(self, scenario: Scenario) -> ScenarioTrace | None:
        """The scenario's trace if there is one already."""
        return self._traces.get(scenario.name)

    async def prepare(self, scenario: Scenario) -> None:
        """Run a scenario as soon as there are workers, so that its page opens with its picture."""
        try:
            await self._pool.wait_until_booted()
        except WorkersUnavailable:
            return
        await self.get(scenario)

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _record(self, scenario: Scenario) -> None:
        name = scenario.name
        try:
            trace = await self._pool.run(Job(source=scenario.source, limits=self._settings.limits()))
            if trace.status in ("finished", "raised"):  # the other outcomes are not the program's own
                self._traces[name] = ScenarioTrace(name, trace.body, hashlib.sha256(trace.body).hexdigest()[:16])
            else:
                self._failed_at[name] = time.monotonic()
        except (Busy, WorkersUnavailable):
            self._failed_at[name] = time.monotonic()
        finally:
            del self._tasks[name]
