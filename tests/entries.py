"""Stands in for the recorder in a worker's child, to try what a hostile or broken one would do."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

HEADER = {
    "header": {
        "schema": 1,
        "program": {"source": "x = 1\n"},
        "runtime": {
            "torch": "0",
            "numpy": "0",
            "python": "0",
            "tracer": "0",
            "device": "cpu",
            "seed": 0,
            "hash_seed": 0,
            "threads": 1,
            "limits": {},
        },
    }
}
END = {"outcome": {"status": "finished"}, "cost": {"wall_ms": 0, "cpu_ms": 0, "peak_bytes": 0}}


def step(i: int) -> dict[str, Any]:
    return {"step": {"i": i, "kind": "statement", "line": 1}}


def act(job: dict[str, Any], write: Callable[[bytes], None]) -> None:
    """What the job's source says."""

    def tell(*lines: dict[str, Any]) -> None:
        for line in lines:
            write(json.dumps(line).encode() + b"\n")

    what, _, more = job["source"].partition(" ")
    if what == "finish":
        tell(HEADER, step(0), END)
    elif what == "sleep":
        tell(HEADER, step(0), step(1))
        time.sleep(float(more))
        tell(END)
    elif what == "signal":
        tell(HEADER, step(0))
        os.kill(os.getpid(), getattr(signal, more))
    elif what == "leave":
        tell(HEADER, step(0))
    elif what == "silent":
        pass
    elif what == "garbage":
        tell(HEADER, step(0))
        write(more.encode() + b"\n")
    elif what == "million":
        tell(HEADER, step(0))
        write(b'{"step":{"i":1,"kind":"statement","line":' + b"9" * 1_000_000 + b"}}\n")
    elif what == "nested":
        tell(HEADER, step(0))
        write(b'{"step":{"i":1,"kind":"statement","line":1,"value":' + b"[" * 200_000 + b"}}\n")
    elif what == "pretend":
        tell(HEADER, step(0), {**END, "outcome": {"status": "lost"}})
    elif what == "flood":
        tell(HEADER, step(0))
        while True:
            write(b'{"step":' * 10_000)
    elif what == "parent":
        subprocess.Popen(["sleep", more])
        tell(HEADER, step(0), END)
    elif what == "orphan":  # it leaves the session and keeps the pipe open
        tell(HEADER, step(0), END)
        if os.fork() == 0:
            os.setsid()
            time.sleep(float(more))
    elif what == "elsewhere":  # out of the group that is killed, into the zygote's
        with contextlib.suppress(PermissionError):  # which the kernel does not let the leader of a session do
            os.setpgid(0, os.getpgid(os.getppid()))
        tell(HEADER, step(0), {"step": {**step(1)["step"], "value": os.getpid()}})
        while True:
            time.sleep(1)
    elif what == "environment":
        tell(HEADER, {"step": {**step(0)["step"], "value": ",".join(sorted(os.environ))}}, END)
