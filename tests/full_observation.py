"""Holds every step, which looks at what its statement may have changed, against a look at everything.

`python -m tests.full_observation FILE…` prints what the steps of these programs missed.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server.worker.look import Look
from server.worker.probes import ops
from server.worker.run import run
from tests.tracing import write_all

_take = Look.take


class Nothing:
    """No operators ran."""

    def written(self) -> dict[str, Any]:
        return {}

    def cuts(self) -> list[dict[str, Any]]:
        return []


def checked(tell: Callable[[dict[str, Any]], None]) -> Callable[..., Any]:
    """`Look.take`, and after it a look at everything; `tell` takes whatever that finds besides."""

    def take(
        self: Look, step: int, frames: Any, ops: Any, log: Any, over: Any, everything: bool, opens: bool
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        set_, gone = _take(self, step, frames, ops, log, over, everything, opens)
        if not everything:
            found: list[dict[str, Any]] = []
            more, dropped = _take(self, step, frames, Nothing(), found, over, True, False)  # type: ignore[arg-type]
            for uid in dropped:  # what the step's value alone refers to, told a second time
                more.pop(uid, None)
            found = [entry for entry in found if entry.get("storage") not in dropped]
            if more or found:
                tell({"step": step, "set": more, "gone": dropped, "log": found})
        return set_, gone

    return take


def unobserved(source: str) -> list[dict[str, Any]]:
    """What the steps of a program missed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        warnings.resetwarnings()
        said: list[dict[str, Any]] = []
        Look.take = checked(said.append)  # type: ignore[method-assign]

        def write(line: bytes) -> None:
            if line.startswith((b'{"outcome"', b'{"fault"')):
                write_all(writing, json.dumps(said, default=str).encode())

        run({"source": source}, write)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    found: list[dict[str, Any]] = json.loads(data)
    return found


if __name__ == "__main__":
    ops.listen()
    for name in sys.argv[1:]:
        for one in unobserved(Path(name).read_text()):
            print(name, json.dumps(one)[:600], flush=True)
