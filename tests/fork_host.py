"""Processes that have imported torch once and fork a child for each request, so that a test need not fork pytest itself.

A host is a module whose main function calls `serve`; a `ForkHost` starts it when it is first asked and ends it with this
process. Requests are lines of JSON; an answer is the number of its bytes, and what the child wrote.
"""

import atexit
import gc
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from tests.huge_pages import join_pages

ROOT = Path(__file__).parent.parent
LENGTH = struct.Struct("!Q")

Request = dict[str, Any]
Write = Callable[[bytes], None]


class ForkHost:
    """The asking side. module: the host's, as in `python -m`."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, **request: Any) -> bytes:
        """What a child writes for this request. Raises AssertionError where the host is gone."""
        if self._process is None:
            self._process = self._start()
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        requests.write(json.dumps(request).encode() + b"\n")
        requests.flush()
        head = answers.read(LENGTH.size)
        assert len(head) == LENGTH.size, f"{self._module} has ended"
        return answers.read(LENGTH.unpack(head)[0])

    def _start(self) -> subprocess.Popen[bytes]:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            cwd=ROOT,
            env={**os.environ, **threads, "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        atexit.register(self._end)
        return process

    def _end(self) -> None:
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process.wait(20)


def serve(handle: Callable[[Request, Write], None]) -> None:
    """Call `handle` in a fork for each line of the standard input, until that ends. Programs find both streams empty."""
    requests, answers = _moved(0, "rb"), _moved(1, "wb")
    gc.collect()
    gc.freeze()
    join_pages()
    for line in requests:
        data = forked(lambda write, line=line: handle(json.loads(line), write))
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()


def forked(act: Callable[[Write], None]) -> bytes:
    """What `act` writes in a fork of this process, which ends with it; its standard error says why it raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            act(lambda data: write_all(writing, data))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return data


def write_all(to: int, data: bytes) -> None:
    """Write all of it to a descriptor."""
    while data:
        data = data[os.write(to, data) :]


def _moved(descriptor: int, mode: str) -> BinaryIO:
    """A standard stream of this process under another number; in its place there is an empty one."""
    stream = os.fdopen(os.dup(descriptor), mode)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)
    return stream  # type: ignore[return-value]
