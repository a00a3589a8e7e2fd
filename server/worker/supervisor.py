"""Forks the children of one process, keeps spares, kills and reaps them. It knows nothing of torch.

The link to the server is a Unix socket. The supervisor sends `ready`, `spare` with two descriptors (for a child's job
and for its trace), `exited` and `failed`; it receives `use`, `traceback` and `kill`. Only the supervisor, being the
parent, reaps and kills, so a signal never reaches a process that is not its child.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import time
from dataclasses import dataclass
from typing import NoReturn

from server.wire.link import ServerMessage, WorkerOptions, ZygoteMessage
from server.worker import confine
from server.worker.child import EXIT_NO_JOB, TRACEBACK_SIGNAL, ChildWork, run_child
from server.worker.threads import require_one_thread

MAX_SPARE_DEATHS = 8
"""Spare children that may die in a row without a run in between; after that the supervisor gives up."""

FORK_RETRY_SECONDS = 0.5
"""Seconds until another spare is forked if the server had no room for the descriptors of the last one."""

FIRST_UID = 61_000
"""The first of the user ids for children. If the server runs as root, each living child has its own."""


MAX_FAULT_BYTES = 1000
"""The most bytes that are kept of what a child wrote before it died unready."""


@dataclass(frozen=True)
class _SupervisedChild:
    pid: int
    pidfd: int
    slot: int


@dataclass(frozen=True)
class _StartingChild:
    """A child that is getting ready: the descriptors by which it reports that, and those that the server gets then."""

    number: int
    pid: int
    ready_fd: int
    job_fd: int
    trace_fd: int


class Supervisor:
    """The loop of the process that forks the children; it must have one thread."""

    def __init__(self, link: socket.socket, options: WorkerOptions, worker: ChildWork) -> None:
        self._link, self._options, self._worker = link, options, worker
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, _SupervisedChild] = {}
        self._spares: set[int] = set()
        self._starting: dict[int, _StartingChild] = {}  # children for the GPU, whose context is being made
        self._last_fault = ""
        self._last_number = self._spare_deaths = 0
        self._paused_until = 0.0
        self._layers: dict[str, str] = {}
        self._confinement: confine.Confinement | None = None

    def try_confinement(self) -> None:
        """Try the layers of confinement on this host. The children get those that work."""
        options = self._options
        if options.sandbox != "off":
            self._layers = confine.try_layers()
            self._confinement = confine.Confinement(
                self._layers,
                options.memory,
                options.cpu,
                FIRST_UID,
                self._worker.initialize_gpu,
                self._worker.warm_up_gpu,
            )

    def serve_forever(self) -> NoReturn:
        """Send `ready`, maintain the spares, and serve the server's messages until it closes the link. Never
        returns."""
        require_one_thread()
        self._send_message({"ready": self._worker.versions, "layers": self._layers})
        self._selector.register(self._link, selectors.EVENT_READ, None)
        while True:
            self._fork_spares()  # here alone, so that each child begins at the same depth of the stack
            pause = self._paused_until - time.monotonic()
            for key, _ in self._selector.select(pause if pause > 0 else None):
                if isinstance(key.data, _StartingChild):
                    self._offer_ready_child(key.data)
                elif key.data is not None:
                    self._reap_child(key.data)
                elif not self._receive_message():
                    self._kill_children_and_exit()

    def _send_message(self, message: ZygoteMessage, descriptors: tuple[int, ...] = ()) -> None:
        try:
            socket.send_fds(self._link, [json.dumps(message).encode()], list(descriptors))
        except OSError:  # the server is gone
            self._kill_children_and_exit()

    def _receive_message(self) -> bool:
        """Handle a message. Returns whether the server is still there."""
        try:
            data = self._link.recv(1 << 16)
        except OSError:
            return False
        if not data:
            return False
        message: ServerMessage = json.loads(data)
        if "use" in message:
            self._spares.discard(message["use"])
            self._spare_deaths = 0
        elif "traceback" in message:
            if message["traceback"] in self._children:
                os.kill(self._children[message["traceback"]].pid, TRACEBACK_SIGNAL)
        elif message["kill"] in self._children:
            kill_child(self._children[message["kill"]].pid)
        return True

    def _fork_spares(self) -> None:
        if time.monotonic() < self._paused_until:
            return
        while len(self._spares) < self._options.spares and self._fork_spare():
            pass

    def _fork_spare(self) -> bool:
        """Fork one spare child. Returns False if the machine has no room for it now."""
        used_slots = {child.slot for child in self._children.values()}
        slot = next(number for number in range(len(used_slots) + 1) if number not in used_slots)
        parent = os.getpid()
        job_reader, job_writer = os.pipe()
        trace_reader, trace_writer = os.pipe()
        ready_reader, ready_writer = os.pipe() if self._worker.initialize_gpu is not None else (None, None)
        try:
            pid = os.fork()
        except OSError:  # no memory, or no room for one process more
            pid = -1
        if pid == 0:
            run_child(self._worker, job_reader, trace_writer, ready_writer, parent, self._confinement, slot)
        if pid > 0:
            self._last_number += 1
            number = self._last_number
            pidfd = os.pidfd_open(pid)
            self._children[number] = _SupervisedChild(pid, pidfd, slot)
            self._spares.add(number)
            self._selector.register(pidfd, selectors.EVENT_READ, number)
            if ready_reader is None:
                self._send_message({"spare": number, "pid": pid}, (job_writer, trace_reader))
            else:
                starting = _StartingChild(number, pid, os.dup(ready_reader), os.dup(job_writer), os.dup(trace_reader))
                self._starting[number] = starting
                self._selector.register(starting.ready_fd, selectors.EVENT_READ, starting)
        for descriptor in (job_reader, job_writer, trace_reader, trace_writer, ready_reader, ready_writer):
            if descriptor is not None:
                os.close(descriptor)
        return pid > 0

    def _offer_ready_child(self, started: _StartingChild) -> None:
        """Offer a child to the server once it is ready. If it died before, remember what it wrote."""
        if self._starting.pop(started.number, None) is None:
            return
        self._selector.unregister(started.ready_fd)
        if os.read(started.ready_fd, 1):
            self._send_message({"spare": started.number, "pid": started.pid}, (started.job_fd, started.trace_fd))
        else:
            os.set_blocking(started.trace_fd, False)
            with contextlib.suppress(BlockingIOError):
                self._last_fault = os.read(started.trace_fd, MAX_FAULT_BYTES).decode(errors="replace").strip()
        for descriptor in (started.ready_fd, started.job_fd, started.trace_fd):
            os.close(descriptor)

    def _reap_child(self, number: int) -> None:
        """Reap a child that has exited, and report how it ended."""
        child = self._children.pop(number)
        self._selector.unregister(child.pidfd)
        os.close(child.pidfd)
        kill_child(child.pid)  # what it forked; the dead child still holds the number
        _, status, usage = os.wait4(child.pid, 0)
        if number in self._starting:
            self._offer_ready_child(self._starting[number])
        code = os.waitstatus_to_exitcode(status)
        self._send_message(
            {
                "exited": number,
                "signal": -code if code < 0 else None,
                "cpu_ms": round((usage.ru_utime + usage.ru_stime) * 1000, 3),
                "peak_bytes": usage.ru_maxrss * 1024,
            }
        )
        if number in self._spares:
            self._spares.discard(number)
            if code == EXIT_NO_JOB:
                self._paused_until = time.monotonic() + FORK_RETRY_SECONDS
                return
            self._spare_deaths += 1
            if self._spare_deaths >= MAX_SPARE_DEATHS:
                why = self._last_fault or f"the last one ended with status {code}"
                raise RuntimeError(f"no child of the workers lives long enough to be given a program: {why}")

    def _kill_children_and_exit(self) -> NoReturn:
        for child in self._children.values():
            kill_child(child.pid)
        os._exit(0)


def kill_child(pid: int) -> None:
    """Kill a child that is not reaped yet, and everything it forked. The child may have left its process group."""
    for send in (os.killpg, os.kill):
        try:
            send(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
