"""Runs programs in plain CPython, each in a fresh fork of a process that knows nothing of the recorder."""

import atexit
import functools
import json
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LENGTH = struct.Struct("!Q")

Truth = dict[str, Any]
"""`printed`; `error`: None or its type, message, line number and text of the line; and what `torch_facts.facts` returns.
Where the program could not be run or asked, `harness` alone: a sentence."""


@functools.cache
def plain_run(source: str) -> Truth:
    """The truth about a program, which is run once in a session: callers don't change the result."""
    return fresh_plain_run(source)


def fresh_plain_run(source: str) -> Truth:
    """The same from another run: for programs on which CPython may disagree with itself."""
    host = _host()
    assert host.stdin is not None
    assert host.stdout is not None
    host.stdin.write(json.dumps(source).encode() + b"\n")
    host.stdin.flush()
    (length,) = LENGTH.unpack(host.stdout.read(LENGTH.size))
    truth: Truth = pickle.loads(host.stdout.read(length)) if length else {"harness": "no answer in time"}
    return truth


@functools.cache
def _host() -> subprocess.Popen[bytes]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.referee.plain_host"],
        cwd=ROOT,
        env={**os.environ, **threads, "PYTHONHASHSEED": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def end() -> None:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait(20)

    atexit.register(end)
    return process
