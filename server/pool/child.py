"""The server's end of one child: writes its job, reads the lines of its trace, knows how it ended."""

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field

from server.wire.trace import Stopped

CHUNK = 1 << 16
"""Most bytes that are read at once."""


@dataclass(frozen=True)
class Exit:
    """How a child's process ended. signal: that killed it. cpu_ms, peak_bytes: what it used; None where nobody knows.

    lost: the zygote died, and the child with it.
    """

    signal: int | None = None
    cpu_ms: float | None = None
    peak_bytes: int | None = None
    lost: bool = False


@dataclass
class Child:
    """A child process, as the server sees it.

    job, pipe: the descriptors that take its job and give its lines; -1 once closed. room: bytes that it may write.
    limit: the limit that the server stopped it at. outcome_received: whether the last line of its trace has come.
    ended: set by an outcome, an exit or a limit. exited: set by its exit. began: `time.perf_counter` when it got its job.
    """

    number: int
    job: int
    pipe: int
    room: int = 0
    data: bytearray = field(default_factory=bytearray)
    limit: Stopped | None = None
    outcome_received: bool = False
    exit: Exit | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    exited: asyncio.Event = field(default_factory=asyncio.Event)
    began: float = 0.0

    @property
    def died_unused(self) -> bool:
        """Whether something killed it before the program began; the header comes before that."""
        killed = self.exit is not None and self.exit.signal == signal.SIGKILL
        return killed and not self.data and self.limit is None

    def start(self, job: bytes, room: int) -> None:
        """Write the job to the child, and read its lines as they come, up to about `room` bytes of them."""
        self.began, self.room = time.perf_counter(), room
        self._unwritten = memoryview(job)
        asyncio.get_running_loop().add_reader(self.pipe, self.read)
        self._write()

    def _write(self) -> None:
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(self.job, self._unwritten) :]
        except BlockingIOError:
            asyncio.get_running_loop().add_writer(self.job, self._write)
            return
        except OSError:  # the child is dead; its exit will be reported
            pass
        self.close_job()

    def close_job(self) -> None:
        """Close the pipe that takes the job: the child then begins."""
        if self.job >= 0:
            asyncio.get_running_loop().remove_writer(self.job)
            os.close(self.job)
            self.job = -1

    def read(self) -> bool:
        """Read a chunk of the child's lines. Returns whether there may be more."""
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
        elif has_outcome(self.data):
            self.outcome_received = True
            self.ended.set()
        if chunk and self.limit is None and not self.outcome_received:
            return True
        asyncio.get_running_loop().remove_reader(self.pipe)
        return False

    def mark_exited(self, exit_: Exit) -> None:
        """The child has exited. All it wrote lies in the pipe by now, which another process may still hold open."""
        if self.exit is None:
            while self.read():
                pass
            self.exit = exit_
            self.ended.set()
            self.exited.set()

    def close(self) -> None:
        """Close both descriptors."""
        self.close_job()
        if self.pipe >= 0:
            asyncio.get_running_loop().remove_reader(self.pipe)
            os.close(self.pipe)
            self.pipe = -1


def has_outcome(data: bytearray) -> bool:
    """Whether the data ends with the line that ends a trace. Searches no further back than that line may be long."""
    last = data.rfind(b"\n", max(len(data) - CHUNK, 0), len(data) - 1)
    return data.endswith(b"\n") and data.startswith(b'{"outcome"', last + 1)
