"""A worker that limits time from inside the program's process: the entry of a pool that is to be seen to fail."""

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from server.wire.link import WorkerOptions
from server.worker import prepare as recorder
from server.worker.child import ChildWork
from server.worker.program_run import ProgramRun

WALL = 2.0
"""Seconds a run may take: enough for the first step on a slow machine."""


def prepare(options: WorkerOptions) -> ChildWork:
    """Like the recorder's, but for what a child runs."""
    return adapt(recorder.prepare(options))


def adapt(worker: ChildWork) -> ChildWork:
    """What `prepare` makes of the recorder's worker."""
    return replace(worker, run=run)


def run(job: Any, write: Callable[[bytes], None]) -> NoReturn:
    """Run the program and end it in good order when its time is over: so it would be, if a signal could get through."""
    running = ProgramRun(job, write)
    signal.signal(signal.SIGALRM, lambda *_: running._stop_at_limit("wall", WALL))
    signal.setitimer(signal.ITIMER_REAL, WALL)
    running.run_and_exit()
    raise AssertionError("a run ends its process")
