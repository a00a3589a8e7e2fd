"""The server's end of one child: writes its job, reads the lines of its trace, knows how it ended."""

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field

from gradbox.wire.trace import Stopped

CHUNK_BYTES = 1 << 16
"""The most bytes that are read at once."""


@dataclass(frozen=True)
class ChildExit:
    """How a child process ended.

    signal: the signal that killed it, if any
    cpu_ms, peak_bytes: CPU time and peak memory that it used; None if unknown
    lost: the zygote died, and the child with it
    """

    signal: int | None = None
    cpu_ms: float | None = None
    peak_bytes: int | None = None
    lost: bool = False


@dataclass
class Child:
    """A child process as the server sees it.

    job_fd, trace_fd: the descriptors through which the server sends the job and reads the trace; -1 once closed
    max_bytes: how many bytes of lines it may write
    limit: the limit for which the server stopped it
    outcome_received: whether the last line of its trace has arrived
    ended: set by an outcome, an exit or a limit
    exited: set when it exits
    started_at: `time.perf_counter` when it got its job
    """

    number: int
    pid: int
    job_fd: int
    trace_fd: int
    max_bytes: int = 0
    data: bytearray = field(default_factory=bytearray)
    limit: Stopped | None = None
    outcome_received: bool = False
    exit: ChildExit | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    exited: asyncio.Event = field(default_factory=asyncio.Event)
    started_at: float = 0.0

    @property
    def died_before_program(self) -> bool:
        """Whether the child was killed before the program began, that is, before it sent the header."""
        killed = self.exit is not None and self.exit.signal == signal.SIGKILL
        return killed and not self.data and self.limit is None

    def start_job(self, job: bytes, max_bytes: int) -> None:
        """Write the job to the child, and read its lines as they come, up to about `max_bytes` bytes of them."""
        self.started_at, self.max_bytes = time.perf_counter(), max_bytes
        self._unwritten = memoryview(job)
        asyncio.get_running_loop().add_reader(self.trace_fd, self.read_chunk)
        self._write_job()

    def _write_job(self) -> None:
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(self.job_fd, self._unwritten) :]
        except BlockingIOError:
            asyncio.get_running_loop().add_writer(self.job_fd, self._write_job)
            return
        except OSError:  # the child is dead; its exit will be reported
            pass
        self.close_job()

    def close_job(self) -> None:
        """Close the pipe that takes the job: the child then begins."""
        if self.job_fd >= 0:
            asyncio.get_running_loop().remove_writer(self.job_fd)
            os.close(self.job_fd)
            self.job_fd = -1

    def read_chunk(self) -> bool:
        """Read a chunk of the child's lines. Returns whether there may be more."""
        if self.trace_fd < 0:
            return False
        try:
            chunk = os.read(self.trace_fd, CHUNK_BYTES)
        except BlockingIOError:
            return False
        self.data += chunk
        if len(self.data) > self.max_bytes + CHUNK_BYTES and self.limit is None:
            self.limit = Stopped(limit="trace", value=self.max_bytes)
            self.ended.set()
        elif ends_with_outcome(self.data):
            self.outcome_received = True
            self.ended.set()
        if chunk and self.limit is None and not self.outcome_received:
            return True
        asyncio.get_running_loop().remove_reader(self.trace_fd)
        return False

    def mark_exited(self, exit_: ChildExit) -> None:
        """Note that the child has exited. Everything it wrote is in the pipe by now, which another process may still
        hold open."""
        if self.exit is None:
            while self.read_chunk():
                pass
            self.exit = exit_
            self.ended.set()
            self.exited.set()

    def close_descriptors(self) -> None:
        """Close both descriptors."""
        self.close_job()
        if self.trace_fd >= 0:
            asyncio.get_running_loop().remove_reader(self.trace_fd)
            os.close(self.trace_fd)
            self.trace_fd = -1


def ends_with_outcome(data: bytearray) -> bool:
    """Whether the data ends with the last line of a trace. Searches no further back than such a line can be long."""
    last = data.rfind(b"\n", max(len(data) - CHUNK_BYTES, 0), len(data) - 1)
    return data.endswith(b"\n") and data.startswith(b'{"outcome"', last + 1)
