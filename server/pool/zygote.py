"""The server's end of the workers' first process: boots it, takes its spare children, hears how they end."""

import asyncio
import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from server.wire.trace import Stopped

ROOT = Path(__file__).parent.parent.parent
CHUNK = 1 << 16
ENTRY = "server.worker.run:run"
PATIENCE = 30.0
"""Most seconds between two tries to boot it."""

log = logging.getLogger("gradbox.pool")


class Down(Exception):
    """The workers' first process can't be started."""


@dataclass(frozen=True)
class Options:
    """What the workers are asked; `server.worker.zygote.Options` says what each means."""

    spares: int
    sandbox: str
    memory: int
    cpu: int
    entry: str = ENTRY
    device: str = "cpu"
    gpu_memory: int = 0


@dataclass
class Child:
    """One child as its supervisor sees it: `exit` is what the zygote reported; `told`: its last line has come. `ended` is
    set by either, or by a limit.

    job, pipe: descriptors, -1 once closed. room: bytes that it may write.
    """

    number: int
    job: int
    pipe: int
    room: int = 0
    data: bytearray = field(default_factory=bytearray)
    limit: Stopped | None = None
    told: bool = False
    exit: dict[str, Any] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    exited: asyncio.Event = field(default_factory=asyncio.Event)
    began: float = 0.0

    def give(self, job: bytes, room: int) -> None:
        """Have it run a job; its lines are taken as they come, up to about `room` bytes of them."""
        self.began, self.room = time.perf_counter(), room
        self._rest = memoryview(job)
        asyncio.get_running_loop().add_reader(self.pipe, self.read)
        self._write()

    def _write(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self.job, self._rest) :]
        except BlockingIOError:
            asyncio.get_running_loop().add_writer(self.job, self._write)
            return
        except OSError:  # it is dead, as will be heard
            pass
        self.silence()

    def silence(self) -> None:
        """Nothing more is written to it."""
        if self.job >= 0:
            asyncio.get_running_loop().remove_writer(self.job)
            os.close(self.job)
            self.job = -1

    def read(self) -> bool:
        """Take what has come; whether more may lie there."""
        if self.pipe < 0:
            return False
        try:
            chunk = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return False
        self.data += chunk
        if len(self.data) > self.room + CHUNK and self.limit is None:
            self.limit = Stopped(limit="trace", value=self.room)
            self.ended.set()
        elif whole(self.data):
            self.told = True
            self.ended.set()
        if chunk and self.limit is None and not self.told:
            return True
        asyncio.get_running_loop().remove_reader(self.pipe)
        return False

    def over(self, told: dict[str, Any]) -> None:
        """It is dead. All it wrote lies in the pipe by now, which another process may still hold open."""
        if self.exit is None:
            while self.read():
                pass
            self.exit = told
            self.ended.set()
            self.exited.set()

    def close(self) -> None:
        self.silence()
        if self.pipe >= 0:
            asyncio.get_running_loop().remove_reader(self.pipe)
            os.close(self.pipe)
            self.pipe = -1


def whole(data: bytearray) -> bool:
    """Whether the line that ends a trace has come. Searches no further back than it may be long."""
    last = data.rfind(b"\n", max(len(data) - CHUNK, 0), len(data) - 1)
    return data.endswith(b"\n") and data.startswith(b'{"outcome"', last + 1)


class Zygote:
    """One zygote after the other: where one dies, the next is booted. boot: seconds it may take."""

    def __init__(self, options: Options, boot: float) -> None:
        self._options, self._boot_s = options, boot
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._ready: asyncio.Future[None] | None = None
        self._closed = False
        self._again: asyncio.TimerHandle | None = None
        self._deaths = 0
        self.boots = 0
        self._idle: deque[Child] = deque()
        self._waiting: deque[asyncio.Future[Child]] = deque()
        self._children: dict[int, Child] = {}
        self.versions: dict[str, str] = {}
        self.layers: dict[str, str] = {}
        self.gpus = 0  # that torch could use on this machine

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def ready(self) -> bool:
        """Whether a program would start at once, or as soon as a child is forked."""
        boot = self._ready
        return self._link is not None and boot is not None and boot.done() and boot.exception() is None

    @property
    def spares(self) -> int:
        """Children that wait for a program."""
        return len(self._idle)

    def start(self) -> None:
        """Begin to boot; does not wait for it."""
        self._again = None
        self.boots += 1
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        kept = {
            name: os.environ[name]
            for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "PYTHONDONTWRITEBYTECODE")
            if name in os.environ
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "server.worker.zygote", str(theirs.fileno()), json.dumps(asdict(self._options))],
                cwd=ROOT,
                env={**kept, **one, "PYTHONHASHSEED": "0", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C in a terminal is the server's to hear
            )
        loop = asyncio.get_running_loop()
        self._link, self._ready = ours, loop.create_future()
        loop.add_reader(ours, self._heard)

    async def booted(self) -> None:
        """Wait for it; boot another where it died. Raises Down."""
        if self._closed:
            raise Down("the server is going down")
        if self._link is None and self._again is None:
            self.start()
        if self._ready is None or self._link is None:
            raise Down("the workers do not start")
        try:
            async with asyncio.timeout(self._boot_s):  # `wait_for` of Python 3.11 can swallow a cancellation
                await asyncio.shield(self._ready)
        except (TimeoutError, ConnectionError) as error:
            raise Down("the workers do not start") from error

    async def child(self) -> Child:
        """A spare child, the caller's from now on, to be given a job and closed. Raises Down."""
        await self.booted()
        if self._idle:
            return self._use(self._idle.popleft())
        waiting: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(self._boot_s):
                return await waiting
        except (TimeoutError, ConnectionError) as error:
            raise Down("the machine has no room for another program") from error
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                await self.release(waiting.result())
            raise
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    def _use(self, child: Child) -> Child:
        self._send({"use": child.number})
        return child

    async def release(self, child: Child) -> None:
        """End a child, whatever it does; afterwards it is reaped and nothing of it is left."""
        try:
            if child.exit is None:
                self._send({"kill": child.number})
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(5):
                        await child.exited.wait()
            if child.exit is None:
                log.error("a run can't be killed")
                child.exit = {}
        finally:
            if child.exit is None:  # cancelled while it waited: it dies all the same
                child.exit = {}
            child.close()
            self._children.pop(child.number, None)

    def where(self, child: Child) -> None:
        """Have it write the line that it is at."""
        self._send({"where": child.number})

    def _send(self, message: dict[str, Any]) -> None:
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.send(json.dumps(message).encode())

    def _heard(self) -> None:
        while self._link is not None:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._link, CHUNK, 2)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                self._died()
                return
            message = json.loads(data)
            if "ready" in message and self._ready is not None and not self._ready.done():
                self.versions, self.layers, self.gpus = message["ready"], message["layers"], message["gpus"]
                self._deaths = 0
                self._ready.set_result(None)
                self._confess()
            elif "spare" in message:
                self._came(Child(int(message["spare"]), descriptors[0], descriptors[1]))
            elif "exited" in message:
                self._left(self._children.get(int(message["exited"])), message)

    def _confess(self) -> None:
        """Say loudly what a program could do here that it should not."""
        if self._options.sandbox == "off":
            log.warning("GRADBOX_SANDBOX is off: a program can do whatever this user can")
        for name, why in self.layers.items():
            if why and (name != "uid" or os.geteuid() == 0):
                log.warning("programs run without the layer %s: %s", name, why)

    def _came(self, child: Child) -> None:
        os.set_blocking(child.job, False)
        os.set_blocking(child.pipe, False)
        self._children[child.number] = child
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(self._use(child))
                return
        self._idle.append(child)

    def _left(self, child: Child | None, told: dict[str, Any]) -> None:
        if child is None:
            return
        child.over(told)
        if child in self._idle:
            self._idle.remove(child)
            child.read()
            log.warning("a spare child died: %s", bytes(child.data[:500]))
            child.close()
            del self._children[child.number]

    def _died(self) -> None:
        if self._closed:
            return
        log.error("the workers' first process is gone")
        self._lose()
        self._deaths += 1
        wait = 0.0 if self._deaths == 1 else min(2.0 ** (self._deaths - 1), PATIENCE)
        self._again = asyncio.get_running_loop().call_later(wait, self.start)

    def _lose(self) -> None:
        """The zygote is gone, and its children with it."""
        if self._link is not None:
            asyncio.get_running_loop().remove_reader(self._link)
            self._link.close()
            self._link = None
        lost = ConnectionError("the workers' first process died")
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(lost)
            self._ready.exception()
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_exception(lost)
        for child in list(self._children.values()):
            child.over({"lost": True})
        while self._idle:
            child = self._idle.popleft()
            child.close()
            self._children.pop(child.number, None)

    async def close(self) -> None:
        """End it, and with it whatever runs."""
        self._closed = True
        if self._again is not None:
            self._again.cancel()
        if self._process is not None and not self.ready:  # it has no children, and would hear of the end too late
            self._process.kill()
        self._lose()
        if self._process is not None:
            try:
                await asyncio.to_thread(self._process.wait, 5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
