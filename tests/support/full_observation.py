"""Holds every step, which observes what its statement may have changed, against an observation of everything.

`python -m tests.support.full_observation FILE…` prints what the steps of these programs missed.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradbox.recorder.observation import Observation
from gradbox.recorder.observer import Observer
from gradbox.wire.job_records import JobRecord
from server.worker.program_run import run_program_and_exit
from tests.support.tracing import HOST, qualified

_observe = Observer.observe


def comparing(
    report: Callable[[dict[str, Any]], None], on_everything: Callable[[int], None] = lambda _: None
) -> Callable[..., Any]:
    """`Observer.observe`, and after it an observation of everything; `report` takes what only that one finds.

    on_everything: takes the numbers of the steps that observed everything by themselves
    """

    def observe(self: Observer, observation: Observation, observe_frames: Callable[[bool], bool]) -> None:
        _observe(self, observation, observe_frames)
        if observation.observe_all:
            on_everything(observation.step)
            if observation.slots_unobserved:
                return
        reported = dict(self._delta.pending), list(self._delta.removed)
        self._delta.take_pending_changes()
        full = Observation(step=observation.step)
        self._context.observation = full
        try:
            _observe(self, full, observe_frames)
        finally:
            self._context.observation = observation
        facts, removals = self._delta.take_pending_changes()
        for uid in removals:  # what the step's value alone refers to, reported a second time
            facts.pop(uid, None)
        log = [entry for entry in full.log if entry.get("storage") not in removals]
        if facts or log:
            report({"step": observation.step, "set": facts, "gone": removals, "log": log})
        self._delta.pending.update(reported[0])
        self._delta.removed += reported[1]

    return observe


def record(job: JobRecord, write: Callable[[bytes], None]) -> None:
    """Run the job in this process, which is a fork made for it, and write what its steps missed as JSON."""
    missed: list[dict[str, Any]] = []
    Observer.observe = comparing(missed.append)

    def end(line: bytes) -> None:
        if line.startswith((b'{"outcome"', b'{"fault"')):
            write(json.dumps(missed, default=str).encode())

    run_program_and_exit(job, end)


def unobserved(source: str, before: Callable[[], None] | None = None, **job: Any) -> list[dict[str, Any]]:
    """What the steps of a program missed; `before` and `job` as for `tests.support.tracing.trace`."""
    missed: list[dict[str, Any]] = json.loads(
        HOST.ask(job={"source": source, **job}, before=qualified(before), missed=True)
    )
    return missed


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for step in unobserved(Path(name).read_text()):
            print(name, json.dumps(step)[:600], flush=True)
