"""The server's end of the zygote: boots it, takes spare children from it, and learns how they end."""

import asyncio
import contextlib
import json
import logging
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from dataclasses import asdict, replace

from server import PACKAGE_FOLDERS, PROJECT_FOLDER
from server.pool.child import Child, ChildExit
from server.pool.interface import WORKERS_STARTING_MESSAGE
from server.pool.machine_resources import processor_seconds
from server.wire.link import ServerMessage, WorkerOptions, ZygoteMessage
from server.wire.problems import ProblemError

MAX_MESSAGE_BYTES = 1 << 16
"""Bytes of a message from the zygote."""

PREPARE_FUNCTION = "server.worker.prepare:prepare"
"""The function that makes the zygote ready to trace programs."""
MAX_BACKOFF = 30.0
"""The most seconds between two attempts to boot the zygote."""

SPARE_RETRY_SECONDS = 1.0
"""Seconds until the zygote replaces a spare for whose descriptors this process had no room."""

EXIT_SECONDS = 2.0
"""The most seconds to wait for the exit status of a process that has closed its connection, so that the error can name
it."""

EXIT_POLL_SECONDS = 0.005
"""Seconds between two checks for that exit status."""

BOOT_WAIT_FACTOR = 10
"""How many times as long as the boot may take in processor time a caller waits for it on a machine that is busy."""

MIN_BOOT_PROCESSOR_SHARE = 0.02
"""The share of a processor below which a boot makes no progress: it hangs."""


SPARE_TIMEOUT = 2.0
"""Seconds within which the next spare is ready after the last one was taken."""

log = logging.getLogger("gradbox.pool")


PREPARATION_ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "PYTHONHASHSEED": "0",
    "CUDA_VISIBLE_DEVICES": "",  # a process that forks must not touch a GPU: its children could not use it
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # so that torch need not load the driver to know that there is none
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # no package of another device's is imported with torch
}
"""The environment variables with which a zygote prepares itself."""


class WorkersUnavailable(ProblemError):
    """No child process is available: the zygote does not start, or the machine has no room for a fork."""

    def __init__(self, message: str) -> None:
        super().__init__(503, "no_worker", message, headers={"Retry-After": "5"})


def library_environment() -> dict[str, str]:
    """The variables of this process's environment that say where libraries and packages are."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE") if name in os.environ}
    return {**kept, **({"PYTHONPATH": os.pathsep.join(PACKAGE_FOLDERS)} if PACKAGE_FOLDERS else {})}


def start_zygote_process(
    link_fd: int, options: WorkerOptions, module: str = "server.worker.zygote"
) -> subprocess.Popen[bytes]:
    """Start the process of a zygote.

    link_fd: the descriptor of its socket
    module: whose main function it runs
    """
    return subprocess.Popen(
        [sys.executable, "-m", module, str(link_fd), json.dumps(asdict(options))],
        cwd=PROJECT_FOLDER,
        env={**library_environment(), **PREPARATION_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[link_fd],
        start_new_session=True,  # Ctrl-C in a terminal is for the server alone
    )


def describe_exit(status: int | None) -> str:
    """How a zygote ended that did not say why itself.

    status: as `Popen.wait` gives it; None if unknown
    """
    if status is not None and status < 0:
        names = {known.value: known.name for known in signal.Signals}
        how = f"was killed by signal {-status} ({names.get(-status, 'unknown')})"
    else:
        how = "ended" if status is None else f"ended with status {status}"
    where = "" if status == -signal.SIGKILL else "; its traceback is in this server's standard error"
    return f"the process that forks them {how}{where}"


class Zygote:
    """The zygote; it is restarted when it dies.

    boot_seconds: seconds of processor time that a start may take; a busy machine gives them in a longer time
    """

    def __init__(self, options: WorkerOptions, boot_seconds: float) -> None:
        self._options, self._boot_timeout = options, boot_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._booted: asyncio.Future[None] | None = None
        self._closed = False
        self._restart: asyncio.TimerHandle | None = None
        self._deaths = 0
        self.boots = 0
        self._spares: deque[Child] = deque()
        self._waiting_for_spare: deque[asyncio.Future[Child]] = deque()
        self._last_spare_taken = -math.inf
        self._children: dict[int, Child] = {}
        self.versions: dict[str, str] = {}
        self.layers: dict[str, str] = {}
        self.failure = ""  # why it did not start, or ended; "" once another is ready
        self._last_spare_fault, self._had_spare = "", False

    @property
    def pid(self) -> int | None:
        """The process id of the zygote that runs now."""
        return self._process.pid if self._process is not None else None

    @property
    def is_ready(self) -> bool:
        """Whether a program would start at once, or as soon as a child is forked."""
        ready = self._booted
        return self._link is not None and ready is not None and ready.done() and ready.exception() is None

    @property
    def has_spare(self) -> bool:
        """Whether a child waits for a job, or the last one was just taken and the next is being forked."""
        forking = time.monotonic() - self._last_spare_taken < SPARE_TIMEOUT
        return self.is_ready and (bool(self._spares) or forking)

    @property
    def has_had_spare(self) -> bool:
        """Whether at least one child has been ready for a job since the zygote was booted."""
        return self._had_spare

    @property
    def spare_count(self) -> int:
        """How many children wait for a job."""
        return len(self._spares)

    def set_spare_count(self, count: int) -> None:
        """Set how many children wait for a job, from the next start on."""
        self._options = replace(self._options, spares=count)

    def start(self) -> None:
        """Begin to boot the zygote; does not wait for it."""
        self._restart = None
        self._last_spare_fault, self._had_spare = "", False
        self.boots += 1
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        link, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        link.setblocking(False)
        with remote:
            self._process = start_zygote_process(remote.fileno(), self._options)
        loop = asyncio.get_running_loop()
        self._link, self._booted = link, loop.create_future()
        loop.add_reader(link, self._receive_messages)

    async def wait_until_booted(self) -> None:
        """Wait until the zygote is ready; boot another where it died. Raises WorkersUnavailable."""
        if self._closed:
            raise WorkersUnavailable("the server is going down")
        if self._link is None and self._restart is None:
            self.start()
        if self._booted is None or self._link is None:
            raise WorkersUnavailable(self._start_failure_reason())
        booted, used = self._booted, 0.0
        for _ in range(BOOT_WAIT_FACTOR):
            try:
                async with asyncio.timeout(self._boot_timeout):  # `wait_for` of Python 3.11 can swallow a cancellation
                    return await asyncio.shield(booted)
            except ConnectionError as error:
                raise WorkersUnavailable(self._start_failure_reason()) from error
            except TimeoutError:
                before, used = used, processor_seconds(self._process.pid) if self._process is not None else math.inf
                if used >= self._boot_timeout or used - before < self._boot_timeout * MIN_BOOT_PROCESSOR_SHARE:
                    break
        raise WorkersUnavailable(self._start_failure_reason())

    @property
    def unavailable_reason(self) -> str:
        """Why no program runs now, if the zygote is not ready."""
        return self._start_failure_reason() if self.failure else WORKERS_STARTING_MESSAGE

    def _start_failure_reason(self) -> str:
        late = f"they were not ready within {self._boot_timeout:g} s of processor time; GRADBOX_BOOT sets another limit"
        return f"the workers do not start: {self.failure or late}"

    async def take_child(self) -> Child:
        """Take a spare child. The caller starts it with a job and releases it at the end. Raises WorkersUnavailable."""
        await self.wait_until_booted()
        if self._spares:
            return self._mark_child_used(self._spares.popleft())
        waiting: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._waiting_for_spare.append(waiting)
        try:
            async with asyncio.timeout(self._boot_timeout):
                return await waiting
        except (TimeoutError, ConnectionError) as error:
            reason = "the server is going down" if self._closed else "the machine has no room for another program"
            raise WorkersUnavailable(reason) from error
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                await self.kill_child(waiting.result())
            raise
        finally:
            if waiting in self._waiting_for_spare:
                self._waiting_for_spare.remove(waiting)

    def _mark_child_used(self, child: Child) -> Child:
        self._last_spare_taken, self._last_spare_fault = time.monotonic(), ""
        self._send_message({"use": child.number})
        return child

    async def kill_child(self, child: Child) -> None:
        """Kill a child, wait until it is reaped, and close its descriptors."""
        try:
            if child.exit is None:
                self._send_message({"kill": child.number})
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await child.exited.wait()
            if child.exit is None:
                log.error("a run can't be killed")
                child.exit = ChildExit()
        finally:
            if child.exit is None:  # cancelled while it waited: it dies all the same
                child.exit = ChildExit()
            child.close_descriptors()
            self._children.pop(child.number, None)

    def request_traceback(self, child: Child) -> None:
        """Ask the child to write its traceback, which names its current line, into its pipe."""
        self._send_message({"traceback": child.number})

    def _send_message(self, message: ServerMessage) -> None:
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.send(json.dumps(message).encode())

    def _receive_messages(self) -> None:
        while self._link is not None:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._link, MAX_MESSAGE_BYTES, 2)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                asyncio.get_running_loop().remove_reader(self._link)
                self._handle_closed_link(self._link, time.monotonic() + EXIT_SECONDS)
                return
            message: ZygoteMessage = json.loads(data)
            if "spare" in message:
                self._add_spare_child(message["spare"], message["pid"], descriptors)
            elif "failed" in message:
                self.failure = message["failed"]
            elif "exited" in message:
                exit_ = ChildExit(message["signal"], message["cpu_ms"], message["peak_bytes"])
                self._handle_child_exit(self._children.get(message["exited"]), exit_)
            elif self._booted is not None and not self._booted.done():
                self.versions, self.layers = message["ready"], message["layers"]
                self._deaths, self.failure = 0, ""
                self._booted.set_result(None)
                self._warn_of_missing_layers()

    def _warn_of_missing_layers(self) -> None:
        """Log which layers of confinement are missing."""
        if self._options.sandbox == "off":
            log.warning("GRADBOX_SANDBOX is off: a program can do whatever this user can")
        for name, why in self.layers.items():
            if why and (name != "uid" or os.geteuid() == 0):
                log.warning("programs run without the layer %s: %s", name, why)

    def _add_spare_child(self, number: int, pid: int, descriptors: list[int]) -> None:
        if len(descriptors) != 2:  # the kernel closes those that this process has no room for
            for descriptor in descriptors:
                os.close(descriptor)
            log.error("this process has no room for another descriptor")
            asyncio.get_running_loop().call_later(SPARE_RETRY_SECONDS, self._kill_unusable_spare, self._link, number)
            return
        child = Child(number, pid, descriptors[0], descriptors[1])
        self._had_spare = True
        os.set_blocking(child.job_fd, False)
        os.set_blocking(child.trace_fd, False)
        self._children[child.number] = child
        while self._waiting_for_spare:
            waiting = self._waiting_for_spare.popleft()
            if not waiting.done():
                waiting.set_result(self._mark_child_used(child))
                return
        self._spares.append(child)

    def _kill_unusable_spare(self, link: socket.socket | None, number: int) -> None:
        """Kill a spare whose descriptors could not be received, so that another one is forked.

        link: the connection that announced it
        """
        if self._link is link:
            self._send_message({"use": number})
            self._send_message({"kill": number})

    def _handle_child_exit(self, child: Child | None, exit_: ChildExit) -> None:
        if child is None:
            return
        child.mark_exited(exit_)
        if child in self._spares:
            self._spares.remove(child)
            child.read_chunk()
            self._last_spare_fault = bytes(child.data[:500]).decode(errors="replace").strip()
            log.warning("a spare child died: %s", self._last_spare_fault)
            child.close_descriptors()
            del self._children[child.number]

    def _handle_closed_link(self, link: socket.socket, deadline: float) -> None:
        """Treat the zygote as dead once its exit status is known, or at the deadline."""
        if self._closed or self._link is not link:
            return
        try:
            status = self._process.wait(0) if self._process is not None else None
        except subprocess.TimeoutExpired:
            if time.monotonic() < deadline:
                asyncio.get_running_loop().call_later(EXIT_POLL_SECONDS, self._handle_closed_link, link, deadline)
                return
            status = None
        self._handle_zygote_death(status)

    def _handle_zygote_death(self, status: int | None) -> None:
        self.failure = self.failure or describe_exit(status)
        if self._last_spare_fault:
            self.failure += f" ({self._last_spare_fault})"
        log.error("the workers' first process is gone: %s", self.failure)
        self._close_link_and_fail_waiters()
        self._deaths += 1
        wait = 0.0 if self._deaths == 1 else min(2.0 ** (self._deaths - 1), MAX_BACKOFF)
        self._restart = asyncio.get_running_loop().call_later(wait, self.start)

    def _close_link_and_fail_waiters(self) -> None:
        """Close the connection and fail everything that waits for the zygote or for its children, which died
        with it."""
        if self._link is not None:
            asyncio.get_running_loop().remove_reader(self._link)
            self._link.close()
            self._link = None
        error = ConnectionError("the workers' first process died")
        if self._booted is not None and not self._booted.done():
            self._booted.set_exception(error)
            self._booted.exception()
        while self._waiting_for_spare:
            waiting = self._waiting_for_spare.popleft()
            if not waiting.done():
                waiting.set_exception(error)
        for child in list(self._children.values()):
            child.mark_exited(ChildExit(lost=True))
        while self._spares:
            child = self._spares.popleft()
            child.close_descriptors()
            self._children.pop(child.number, None)

    async def close(self) -> None:
        """End the zygote and everything that runs in its children."""
        self._closed = True
        if self._restart is not None:
            self._restart.cancel()
        if self._process is not None and not self.is_ready:  # it has no children, and would hear of the end too late
            self._process.kill()
        self._close_link_and_fail_waiters()
        if self._process is not None:
            try:
                await asyncio.to_thread(self._process.wait, 5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
