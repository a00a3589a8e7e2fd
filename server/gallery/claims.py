"""The runs of the gallery's scenarios, each recorded once on first demand, and the verdicts on the claims that they
test."""

import asyncio
import hashlib
import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from gradbox.wire.api import Job
from server.gallery.scenarios import Claim, Scenario
from server.pool.interface import PoolInterface
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.wire.problems import WorkerQueueFull

MAX_WAIT = 1.0
"""Seconds that a page waits for its scenario's run."""

RETRY_SECONDS = 10.0
"""Seconds before a failed scenario is tried again."""


@dataclass(frozen=True)
class ScenarioTrace:
    """A scenario's trace.

    body: the trace's JSON, gzipped
    version: a digest of the body
    """

    name: str
    body: bytes
    version: str


class ScenarioTraces:
    """Runs each scenario once, for all requests that wait for it, and keeps its trace."""

    def __init__(self, pool: PoolInterface, settings: Settings) -> None:
        self._pool, self._settings = pool, settings
        self._traces: dict[str, ScenarioTrace] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed_at: dict[str, float] = {}

    async def get(self, scenario: Scenario, max_wait: float = MAX_WAIT) -> ScenarioTrace | None:
        """Return the scenario's trace; None if it is not available in time or no worker is ready."""
        name = scenario.name
        if name not in self._traces and name not in self._tasks:
            if (
                not self._pool.has_booted
                or time.monotonic() - self._failed_at.get(name, -RETRY_SECONDS) < RETRY_SECONDS
            ):
                return None
            self._tasks[name] = asyncio.create_task(self._record_scenario(scenario))
        if name in self._tasks:
            await asyncio.wait((self._tasks[name],), timeout=max_wait)
        return self._traces.get(name)

    def get_cached(self, scenario: Scenario) -> ScenarioTrace | None:
        """Return the scenario's trace if there is one already."""
        return self._traces.get(scenario.name)

    async def start_recording(self, scenario: Scenario) -> None:
        """Run a scenario as soon as workers are ready, so that its page opens with its picture."""
        try:
            await self._pool.wait_until_booted()
        except WorkersUnavailable:
            return
        await self.get(scenario)

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _record_scenario(self, scenario: Scenario) -> None:
        name = scenario.name
        try:
            trace = await self._pool.run_job(Job(source=scenario.source, limits=self._settings.run_limits()))
            if trace.status in ("finished", "raised"):  # the other outcomes do not come from the program itself
                self._traces[name] = ScenarioTrace(name, trace.body, hashlib.sha256(trace.body).hexdigest()[:16])
            else:
                self._failed_at[name] = time.monotonic()
        except (WorkerQueueFull, WorkersUnavailable):
            self._failed_at[name] = time.monotonic()
        finally:
            del self._tasks[name]


VERSION_NAMES = ("torch", "numpy", "python")
"""The versions on which a verdict may depend, as a trace's runtime names them."""


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a scenario's claim.

    holds: whether the belief is right; None if no run has shown that yet
    """

    scenario: Scenario
    holds: bool | None

    @property
    def claim(self) -> Claim:
        assert self.scenario.claim is not None
        return self.scenario.claim


def scenarios_with_claims(scenarios: list[Scenario]) -> list[Scenario]:
    return [scenario for scenario in scenarios if scenario.claim is not None]


def read_verdict(trace: Mapping[str, Any], variable: str) -> bool | None:
    """Return the value of the variable at the end of a trace; None if it is not a bool."""
    module, value = None, None
    for step in trace["steps"]:
        for uid, fields in step.get("set", {}).items():
            if fields.get("kind") == "frame" and fields.get("caller") is None and module is None:
                module = uid
            if uid == module:
                value = (fields.get("vars") or {}).get(
                    variable, None if variable in (fields.get("unset") or ()) else value
                )
    return value if isinstance(value, bool) else None


def read_verdict_of_gzipped(body: bytes, variable: str) -> bool | None:
    """Do the same for a gzipped trace."""
    return read_verdict(json.loads(zlib.decompress(body, wbits=GZIP_WINDOW_BITS)), variable)


class ClaimService:
    """The verdicts of a server, each from the trace on its scenario's page."""

    def __init__(self, traces: ScenarioTraces) -> None:
        self._traces = traces
        self._known_verdicts: dict[str, tuple[ScenarioTrace, bool | None]] = {}

    async def get_verdicts(self, scenarios: list[Scenario], max_wait: float) -> list[ClaimVerdict]:
        """Return the verdicts on all scenarios with a claim. Those that have not run within this many seconds have none
        yet."""
        deadline = time.monotonic() + max_wait
        return [await self._get_verdict(scenario, deadline) for scenario in scenarios_with_claims(scenarios)]

    async def _get_verdict(self, scenario: Scenario, deadline: float) -> ClaimVerdict:
        left = deadline - time.monotonic()
        trace = await self._traces.get(scenario, left) if left > 0 else self._traces.get_cached(scenario)
        if trace is None or scenario.claim is None:
            return ClaimVerdict(scenario, None)
        if self._known_verdicts.get(scenario.name, (None, None))[0] is not trace:
            self._known_verdicts[scenario.name] = trace, read_verdict_of_gzipped(trace.body, scenario.claim.holds)
        return ClaimVerdict(scenario, self._known_verdicts[scenario.name][1])


def claims_as_json(verdicts: list[ClaimVerdict], versions: Mapping[str, str]) -> dict[str, Any]:
    """Return the claims as JSON values.

    versions: the versions by the names in VERSION_NAMES
    """
    return {
        **{name: versions.get(name, "") for name in VERSION_NAMES},
        "claims": [
            {"name": verdict.scenario.name, "holds": verdict.holds, "belief": verdict.claim.belief}
            for verdict in verdicts
        ],
    }
