"""The claims that scenarios test: what is said of PyTorch, and the verdict, which is what a run on this host's torch leaves."""

import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from server.gallery.scenario_traces import ScenarioTrace, ScenarioTraces
from server.gallery.scenarios import Claim, Scenario

VERSION_NAMES = ("torch", "numpy", "python")
"""What a verdict may depend on, as a trace's runtime names it."""


@dataclass(frozen=True)
class Verdict:
    """Of a scenario with a claim. holds: whether the belief is right; None where no run has told."""

    scenario: Scenario
    holds: bool | None

    @property
    def claim(self) -> Claim:
        assert self.scenario.claim is not None
        return self.scenario.claim


def with_claims(scenarios: list[Scenario]) -> list[Scenario]:
    return [scenario for scenario in scenarios if scenario.claim is not None]


def verdict_of(trace: Mapping[str, Any], variable: str) -> bool | None:
    """What the name `variable` of a program's module is at the end of its trace; None where that is no bool."""
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


def verdict_of_compressed(body: bytes, variable: str) -> bool | None:
    """The same of a trace's JSON, gzipped."""
    return verdict_of(json.loads(zlib.decompress(body, wbits=GZIP_WINDOW_BITS)), variable)


class Claims:
    """The verdicts of a server, each from the trace that its scenario's page shows."""

    def __init__(self, traces: ScenarioTraces) -> None:
        self._traces = traces
        self._known_verdicts: dict[str, tuple[ScenarioTrace, bool | None]] = {}

    async def verdicts(self, scenarios: list[Scenario], max_wait: float) -> list[Verdict]:
        """Of the scenarios with a claim. Those that are not run within so many seconds have no verdict yet."""
        deadline = time.monotonic() + max_wait
        return [await self._verdict(scenario, deadline) for scenario in with_claims(scenarios)]

    async def _verdict(self, scenario: Scenario, deadline: float) -> Verdict:
        left = deadline - time.monotonic()
        trace = await self._traces.get(scenario, left) if left > 0 else self._traces.cached(scenario)
        if trace is None or scenario.claim is None:
            return Verdict(scenario, None)
        if self._known_verdicts.get(scenario.name, (None, None))[0] is not trace:
            self._known_verdicts[scenario.name] = trace, verdict_of_compressed(trace.body, scenario.claim.holds)
        return Verdict(scenario, self._known_verdicts[scenario.name][1])


def claims_document(verdicts: list[Verdict], versions: Mapping[str, str]) -> dict[str, Any]:
    """The claims as JSON values. versions: of VERSION_NAMES."""
    return {
        **{name: versions.get(name, "") for name in VERSION_NAMES},
        "claims": [
            {"name": verdict.scenario.name, "holds": verdict.holds, "belief": verdict.claim.belief}
            for verdict in verdicts
        ],
    }
