"""A worker whose last line also has the minor page faults that the child took for the job, and those before the
header."""

import json
import resource
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from server.wire.link import WorkerOptions
from server.worker import prepare as recorder
from server.worker.child import ChildWork
from server.worker.program_run import run_program_and_exit


def prepare(options: WorkerOptions) -> ChildWork:
    """Like the recorder's, but for what a child runs."""
    return adapt(recorder.prepare(options))


def adapt(worker: ChildWork) -> ChildWork:
    """What `prepare` makes of the recorder's worker."""
    return replace(worker, run=run_counted)


def run_counted(job: Any, write: Callable[[bytes], None]) -> None:
    """Run the program; the fields `faults` and `faults_before_header` are added to the outcome's line."""
    before = faults()
    header = 0

    def write_counted(data: bytes) -> None:
        nonlocal header
        if data.startswith(b'{"header"'):
            header = faults() - before
        elif data.startswith(b'{"outcome"'):
            line = {**json.loads(data), "faults": faults() - before, "faults_before_header": header}
            data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        write(data)

    run_program_and_exit(job, write_counted)


def faults() -> int:
    """Minor page faults of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
