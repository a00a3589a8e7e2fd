"""Traces of programs: from this project's own workers, or from a command that prints one a line."""

import json
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.referee.drawn_state import Trace
from tests.support.workers import Workers


def printed_by(command: str, programs: Sequence[tuple[str, str]]) -> Iterator[Trace]:
    """One trace for each (name, source), in order, from one call of a command that takes files and prints traces.

    Raises RuntimeError with what the command said where it printed another number of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for index, (name, source) in enumerate(programs):
            path = Path(folder) / f"{index:04d}_{name}.py"
            path.write_text(source)
            paths.append(str(path))
        errors = Path(folder) / "stderr"
        count = 0
        with (
            errors.open("w") as stderr,
            subprocess.Popen(
                [*shlex.split(command), *paths], stdout=subprocess.PIPE, stderr=stderr, text=True
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                if line.strip():
                    count += 1
                    yield json.loads(line)
        if count != len(programs):
            raise RuntimeError(f"{errors.read_text()[-2000:]}\n{count} traces for {len(programs)} programs")


def traces(command: str, programs: Sequence[tuple[str, str]]) -> Iterator[Trace]:
    """One trace for each (name, source): from the command, or from this project's workers where it is empty."""
    if command:
        yield from printed_by(command, programs)
        return
    workers = Workers()
    try:
        for _, source in programs:
            yield workers.trace(source)
    finally:
        workers.close()
