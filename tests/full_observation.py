"""Holds every step, which looks at what its statement may have changed, against a look at everything.

`python -m tests.full_observation FILE…` prints what the steps of these programs missed.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server.worker.observer import Observer
from server.worker.run import run
from tests.tracing import HOST, qualified

_observe = Observer.observe


class NoOps:
    """No operators ran."""

    def last_writers(self) -> dict[str, Any]:
        return {}

    def path_cuts(self) -> list[dict[str, Any]]:
        return []


def comparing(report: Callable[[dict[str, Any]], None]) -> Callable[..., Any]:
    """`Observer.observe`, and after it an observation of everything; `report` takes what only that one finds."""

    def observe(
        self: Observer,
        step: int,
        frames: Any,
        ops: Any,
        log: Any,
        retired_frames: Any,
        observe_all: bool,
        exposes_memory: bool,
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        set_, removed = _observe(self, step, frames, ops, log, retired_frames, observe_all, exposes_memory)
        if not observe_all:
            missed_log: list[dict[str, Any]] = []
            missed_facts, missed_removals = _observe(
                self, step, frames, NoOps(), missed_log, retired_frames, True, False
            )  # type: ignore[arg-type]
            for uid in missed_removals:  # what the step's value alone refers to, told a second time
                missed_facts.pop(uid, None)
            missed_log = [entry for entry in missed_log if entry.get("storage") not in missed_removals]
            if missed_facts or missed_log:
                report({"step": step, "set": missed_facts, "gone": missed_removals, "log": missed_log})
        return set_, removed

    return observe


def record(job: dict[str, Any], write: Callable[[bytes], None]) -> None:
    """Run the job in this process, which is a fork made for it, and write what its steps missed as JSON."""
    missed: list[dict[str, Any]] = []
    Observer.observe = comparing(missed.append)  # type: ignore[method-assign]

    def end(line: bytes) -> None:
        if line.startswith((b'{"outcome"', b'{"fault"')):
            write(json.dumps(missed, default=str).encode())

    run(job, end)


def unobserved(source: str, before: Callable[[], None] | None = None) -> list[dict[str, Any]]:
    """What the steps of a program missed; `before` as for `tests.tracing.trace`."""
    missed: list[dict[str, Any]] = json.loads(HOST.ask(job={"source": source}, before=qualified(before), missed=True))
    return missed


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for step in unobserved(Path(name).read_text()):
            print(name, json.dumps(step)[:600], flush=True)
