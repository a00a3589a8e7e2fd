"""The workers' first process: imports torch once, and keeps spare children ready, each for one run.

`python -m server.worker.zygote FD OPTIONS`. Over the Unix socket FD go `ready`, `spare` with two descriptors (where the
child takes its job, where it writes its trace) and `exited`; there come `use`, `traceback` and `kill`. As the parent it
alone reaps and kills, so no signal ever meets a process that is not the run's own.
"""

import functools
import gc
import importlib
import json
import os
import platform
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy
import torch

from server.worker import confine, gpu, huge_pages
from server.worker.child import DUMP_SIGNAL, die_with_parent, run_child
from server.worker.preload import preload
from server.worker.probes import ops
from server.worker.run import rehearse

REHEARSALS = 12
"""How often a small program runs before the first fork: then CPython has its shortcuts in our code, and need not write
them to pages that the children share."""

HASTY = 8
"""Spare children that may die one after the other without a run; then something is wrong with this host."""

FIRST_UID = 61_000
"""Where the user ids begin of which each child that lives has its own, where the server runs as root."""


@dataclass(frozen=True)
class Options:
    """What the server asks of the workers. sandbox: require, best or off. memory: bytes; cpu: seconds of a run.

    device: cpu or cuda. gpu_memory: bytes of the GPU that a program may take.
    """

    entry: str
    spares: int
    sandbox: str
    memory: int
    cpu: int
    device: str
    gpu_memory: int


class Zygote:
    """Forks, kills and reaps the children; `serve` returns never."""

    def __init__(self, link: socket.socket, options: Options) -> None:
        self._link, self._options = link, options
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, tuple[int, int, int]] = {}  # child -> (pid, pidfd, slot)
        self._spare: set[int] = set()
        self._next = self._hasty = 0
        self._confinement: confine.Confinement | None = None
        self._entry: Callable[..., Any] | None = None

    def prepare(self) -> None:
        """Everything that is done once for all children."""
        module, _, function = self._options.entry.partition(":")
        self._entry = getattr(importlib.import_module(module), function)
        aside(preload)
        alone()
        layers: dict[str, str] = {}
        if self._options.sandbox != "off":
            layers = confine.probe()
            o = self._options
            got = functools.partial(gpu.initialize, o.gpu_memory) if o.device == "cuda" else None
            self._confinement = confine.Confinement(layers, o.memory, o.cpu, FIRST_UID, got)
        ops.register_kernels()
        if not torch.cuda.device_count():  # with one a backward makes threads, and a fork has none of them
            for _ in range(REHEARSALS):
                aside(rehearse)
            alone()
        if tasks() != 1:
            raise RuntimeError(f"the workers' first process has {tasks()} threads; its children would hang")
        gc.collect()
        self._filling = huge_pages.fill_free_blocks()
        gc.freeze()
        huge_pages.collapse()
        versions = {
            "torch": str(torch.__version__),
            "numpy": numpy.__version__,
            "python": platform.python_version(),
        }
        # asked of the driver's management library, which makes no context: a fork could not use one
        self._tell({"ready": versions, "layers": layers, "gpus": torch.cuda.device_count()})

    def serve(self) -> NoReturn:
        self._selector.register(self._link, selectors.EVENT_READ, None)
        self._fill()
        while True:
            for key, _ in self._selector.select():
                if key.data is not None:
                    self._over(key.data)
                elif not self._heard():
                    self._end()

    def _tell(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        try:
            socket.send_fds(self._link, [json.dumps(message).encode()], list(descriptors))
        except OSError:  # the server is gone
            self._end()

    def _heard(self) -> bool:
        try:
            data = self._link.recv(1 << 16)
        except OSError:
            return False
        if not data:
            return False
        message = json.loads(data)
        if "use" in message:
            self._spare.discard(int(message["use"]))
            self._hasty = 0
        elif "traceback" in message and int(message["traceback"]) in self._children:
            os.kill(self._children[int(message["traceback"])][0], DUMP_SIGNAL)
        elif "kill" in message and int(message["kill"]) in self._children:
            kill(self._children[int(message["kill"])][0])
        self._fill()
        return True

    def _fill(self) -> None:
        while len(self._spare) < self._options.spares and self._fork():
            pass

    def _fork(self) -> bool:
        """One spare child more; False where the machine has no room for it now."""
        taken = {slot for _, _, slot in self._children.values()}
        slot = next(k for k in range(len(taken) + 1) if k not in taken)
        parent = os.getpid()
        job, given = os.pipe()
        told, pipe = os.pipe()
        try:
            pid = os.fork()
        except OSError:  # no memory, or no room for one process more
            pid = -1
        if pid == 0:
            assert self._entry is not None
            run_child(self._entry, job, pipe, parent, self._confinement, slot)
        if pid > 0:
            self._next += 1
            number = self._next
            descriptor = os.pidfd_open(pid)
            self._children[number] = (pid, descriptor, slot)
            self._spare.add(number)
            self._selector.register(descriptor, selectors.EVENT_READ, number)
            self._tell({"spare": number}, (given, told))
        for end in (job, given, told, pipe):
            os.close(end)
        return pid > 0

    def _over(self, number: int) -> None:
        pid, descriptor, _ = self._children.pop(number)
        self._selector.unregister(descriptor)
        os.close(descriptor)
        kill(pid)  # what it forked; the dead child still holds the number
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._tell(
            {
                "exited": number,
                "signal": -code if code < 0 else None,
                "cpu_ms": round((usage.ru_utime + usage.ru_stime) * 1000, 3),
                "peak_bytes": usage.ru_maxrss * 1024,
            }
        )
        if number in self._spare:
            self._spare.discard(number)
            self._hasty += 1
            if self._hasty >= HASTY:
                raise RuntimeError("no child of the workers lives long enough to be given a program")
        self._fill()

    def _end(self) -> NoReturn:
        for pid, _, _ in self._children.values():
            kill(pid)
        os._exit(0)


def aside(act: Callable[[], object]) -> None:
    """Run it in a thread of its own: what torch counts for each thread, as nodes of the graph, then begins with the
    program. The thread has ended when this returns."""
    failed: list[BaseException] = []

    def acted() -> None:
        try:
            act()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=acted, name="aside")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def alone() -> None:
    """Wait for what has ended for Python, and ends for the kernel a moment later."""
    for _ in range(1000):
        if tasks() == 1:
            break
        time.sleep(0.001)


def tasks() -> int:
    """Threads of this process."""
    return len(list(Path("/proc/self/task").iterdir()))


def kill(pid: int) -> None:
    """A child and what it forked; it may have left its group. It is not reaped yet, so the number is its own."""
    for send in (os.killpg, os.kill):
        try:
            send(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def main() -> None:
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    zygote = Zygote(socket.socket(fileno=int(sys.argv[1])), Options(**json.loads(sys.argv[2])))
    zygote.prepare()
    zygote.serve()


if __name__ == "__main__":
    main()
