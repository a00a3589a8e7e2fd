"""Replaces the recorder in a worker's child, to try what a hostile or broken recorder would do."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

from server.wire.link import WorkerOptions
from server.worker.child import ChildWork

HEADER: dict[str, Any] = {
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
    },
    "deterministic": True,
}
END = {"outcome": {"status": "finished"}, "cost": {"wall_ms": 0, "cpu_ms": 0, "peak_bytes": 0}}


def prepare(_: WorkerOptions) -> ChildWork:
    """A worker that imports nothing, so that the zygote is ready in a moment."""
    return ChildWork(run, {"torch": "0", "numpy": "0", "python": "0"})


def prepare_with_gpu(_: WorkerOptions) -> ChildWork:
    """The same on a machine that seems to have a GPU."""
    versions = {"torch": "0", "numpy": "0", "python": "0"}
    return ChildWork(run, versions, initialize_gpu=lambda: initialized.append(os.getpid()))


initialized: list[int] = []
"""The processes that had a GPU made ready for them, as far as this one knows."""


def step(i: int) -> dict[str, Any]:
    return {"step": {"i": i, "kind": "statement", "line": 1}}


def wait_for_gate(path: str) -> None:
    """Say that this process waits for it, and do."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(f"{os.path.dirname(path)}/run-{os.getpid()}")
    while not os.path.exists(path):
        time.sleep(0.01)  # until it is opened


def run(job: Any, write: Callable[[bytes], None]) -> None:
    """Do what the job's source says: a word, and what the word needs."""

    def emit(*lines: dict[str, Any]) -> None:
        for line in lines:
            write(json.dumps(line).encode() + b"\n")

    action, _, argument = job["source"].partition(" ")
    if action == "finish":
        emit(HEADER, step(0), END)
    elif action == "sleep":
        emit(HEADER, step(0), step(1))
        time.sleep(float(argument))  # the program's own
        emit(END)
    elif action in ("same_until", "chance_until"):  # see tests.support.gates
        emit({**HEADER, "deterministic": action == "same_until"}, step(0), step(1))
        wait_for_gate(argument)
        emit(END)
    elif action == "chance":
        emit({**HEADER, "deterministic": False}, step(0), step(1), END)
    elif action == "signal":
        emit(HEADER, step(0))
        os.kill(os.getpid(), getattr(signal, argument))
    elif action == "leave":
        emit(HEADER, step(0))
    elif action == "silent":
        pass
    elif action == "garbage":
        emit(HEADER, step(0))
        write(argument.encode() + b"\n")
    elif action == "million":
        emit(HEADER, step(0))
        write(b'{"step":{"i":1,"kind":"statement","line":' + b"9" * 1_000_000 + b"}}\n")
    elif action == "nested":
        emit(HEADER, step(0))
        write(b'{"step":{"i":1,"kind":"statement","line":1,"value":' + b"[" * 200_000 + b"}}\n")
    elif action == "pretend":
        emit(HEADER, step(0), {**END, "outcome": {"status": "lost"}})
    elif action == "flood":
        emit(HEADER, step(0))
        while True:
            write(b'{"step":' * 10_000)
    elif action == "parent":
        subprocess.Popen(["sleep", argument])
        emit(HEADER, step(0), END)
    elif action == "orphan":  # it leaves the session and keeps the pipe open
        emit(HEADER, step(0), END)
        if os.fork() == 0:
            os.setsid()
            wait_for_gate(argument)
    elif action == "elsewhere":  # out of the group that is killed, into the zygote's
        with contextlib.suppress(PermissionError):  # which the kernel does not let the leader of a session do
            os.setpgid(0, os.getpgid(os.getppid()))
        emit(HEADER, step(0), {"step": {**step(1)["step"], "value": os.getpid()}})
        while True:
            time.sleep(1)  # the program's own
    elif action == "gpu":
        emit(HEADER, {"step": {**step(0)["step"], "value": f"{os.getpid()} {initialized}"}}, END)
    elif action == "environment":
        emit(HEADER, {"step": {**step(0)["step"], "value": ",".join(sorted(os.environ))}}, END)
