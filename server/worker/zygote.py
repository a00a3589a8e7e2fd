"""The workers' first process: imports torch once and forks a child a run.

`python -m server.worker.zygote FD [module:function]`. Over the Unix socket FD come `{"run": id}` with two descriptors
(the job as a file, the pipe to write to) and `{"kill": id}`; back go `ready`, `forked` and `exited`. As the parent it
alone reaps and kills, so no signal ever meets a process that is not the run's own.
"""

import ctypes
import gc
import importlib
import json
import os
import platform
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy
import torch
import torch._dynamo  # every optimizer imports it at its first use, which takes most of a second
import torch.autograd.forward_ad
import torch.func
import torch.utils.checkpoint

from server.worker.probes import ops

ENTRY = "server.worker.run:run"
_PDEATHSIG = 1


class Zygote:
    def __init__(self, link: socket.socket, entry: Callable[..., Any]) -> None:
        self._link, self._entry = link, entry
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, tuple[int, int]] = {}  # run -> (pid, pidfd)

    def serve(self) -> None:
        self._tell(
            {
                "ready": {
                    "torch": str(torch.__version__),
                    "numpy": numpy.__version__,
                    "python": platform.python_version(),
                }
            }
        )
        self._selector.register(self._link, selectors.EVENT_READ, None)
        while True:
            for key, _ in self._selector.select():
                if key.data is not None:
                    self._over(key.data)
                elif not self._heard():
                    self._end()

    def _tell(self, message: dict[str, Any]) -> None:
        self._link.send(json.dumps(message).encode())

    def _heard(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._link, 1 << 16, 2)
        if not data:
            return False
        message = json.loads(data)
        if "run" in message:
            self._fork(int(message["run"]), *descriptors)
        elif "kill" in message and int(message["kill"]) in self._children:
            kill(self._children[int(message["kill"])][0])
        return True

    def _fork(self, run: int, job: int, pipe: int) -> None:
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError:  # no memory, or no room for one process more
            pid = -1
        if pid == 0:
            live(self._entry, job, pipe, parent)
        os.close(job)
        os.close(pipe)
        if pid < 0:
            self._tell({"exited": run, "lost": True})
            return
        try:
            os.setpgid(pid, pid)
        except OSError:  # the child was quicker
            pass
        descriptor = os.pidfd_open(pid)
        self._children[run] = (pid, descriptor)
        self._selector.register(descriptor, selectors.EVENT_READ, run)

    def _over(self, run: int) -> None:
        pid, descriptor = self._children.pop(run)
        self._selector.unregister(descriptor)
        os.close(descriptor)
        kill(pid)  # what it forked; the dead child still holds the number
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._tell(
            {
                "exited": run,
                "signal": -code if code < 0 else None,
                "cpu_ms": round((usage.ru_utime + usage.ru_stime) * 1000, 3),
                "peak_bytes": usage.ru_maxrss * 1024,
            }
        )

    def _end(self) -> NoReturn:
        for pid, _ in self._children.values():
            kill(pid)
        os._exit(0)


def kill(pid: int) -> None:
    """A child and what it forked; it may have left its group. It is not reaped yet, so the number is its own."""
    for send in (os.killpg, os.kill):
        try:
            send(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def live(entry: Callable[..., Any], job: int, pipe: int, parent: int) -> NoReturn:
    """A child's whole life."""
    code = 1
    try:
        os.setpgid(0, 0)
        die_with_parent()
        if os.getppid() != parent:  # it died before that was said
            os._exit(1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        with os.fdopen(job, "rb") as file:
            file.seek(0)
            told = json.loads(file.read())
        kept = os.dup2(pipe, 3) if pipe != 3 else 3
        os.closerange(4, 4096)
        entry(told, lambda data: written(kept, data))
        code = 0
    finally:
        os._exit(code)


def written(to: int, data: bytes) -> None:
    while data:
        data = data[os.write(to, data) :]


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main() -> None:
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    ops.listen()
    module, _, function = (sys.argv[2] if len(sys.argv) > 2 else ENTRY).partition(":")
    entry = getattr(importlib.import_module(module), function)
    gc.collect()
    gc.freeze()
    Zygote(socket.socket(fileno=int(sys.argv[1])), entry).serve()


if __name__ == "__main__":
    main()
