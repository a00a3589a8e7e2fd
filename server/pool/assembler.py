"""The server's end of the processes that assemble traces: as many as programs run at once, started as they are needed."""

import asyncio
import contextlib
import logging
import subprocess
import sys
from asyncio.subprocess import Process

from gradbox.wire.api import Job
from gradbox.wire.assembly import LARGE_TRACE, AssemblyReply, AssemblyRequest
from server import HELPER_ENVIRONMENT, PROJECT_FOLDER

COMMAND = (sys.executable, "-m", "server.pool.assembler_process")
TIMEOUT = 20.0
"""Seconds for a trace, including the start of a new process. Lines that recorders write take a tenth of a second."""

MAX_LARGE_AT_ONCE = 2
"""Large traces that are assembled at the same time, however many programs run: each may take 300 MB."""

MAX_LINE_BYTES = 100_000
"""Bytes of a line of the process."""

log = logging.getLogger("gradbox.pool")


class AssemblyFailed(Exception):
    """There is no trace of these lines: the process died of them, took too long, or could not be started."""


class Assembler:
    """processes: how many traces are assembled at the same time, at most."""

    def __init__(self, processes: int) -> None:
        self._slots, self._large = asyncio.Semaphore(processes), asyncio.Semaphore(MAX_LARGE_AT_ONCE)
        self._idle: list[Process] = []
        self._starting: asyncio.Task[None] | None = None
        self._closed = False
        self.failing = False  # no process could be started for the last trace
        self.failures = 0

    def start(self) -> None:
        """Begin to start the first process; does not wait for it."""
        self._starting = asyncio.create_task(self._start_first())

    async def _start_first(self) -> None:
        request = AssemblyRequest(job=Job(source=""))
        with contextlib.suppress(OSError, ValueError, EOFError):  # the first trace then tries again
            await self._exchange(await start_process(), request, b"")
            self.failing = False

    async def assemble(self, request: AssemblyRequest, data: bytes | bytearray) -> tuple[AssemblyReply, bytes]:
        """The reply, and the gzipped trace of these lines. Raises AssemblyFailed."""
        async with self._large if len(data) > LARGE_TRACE else contextlib.nullcontext(), self._slots:
            try:
                async with asyncio.timeout(TIMEOUT):
                    if self._starting is not None:
                        await asyncio.shield(self._starting)
                    if self._idle:
                        with contextlib.suppress(OSError, ValueError, EOFError):  # it died since
                            return await self._exchange(self._idle.pop(), request, data)
                    if self._closed:
                        raise OSError("the server is going down")
                    self.failing = True
                    process = await start_process()
                    self.failing = False
                    return await self._exchange(process, request, data)
            except (TimeoutError, OSError, ValueError, EOFError) as error:
                self.failures += 1
                log.error("assembling a trace of %d bytes: %s", len(data), type(error).__name__)
                raise AssemblyFailed(type(error).__name__) from error

    async def _exchange(
        self, process: Process, request: AssemblyRequest, data: bytes | bytearray
    ) -> tuple[AssemblyReply, bytes]:
        """Send a request and read the reply. Raises OSError, ValueError and EOFError where the process is gone."""
        assert process.stdin is not None and process.stdout is not None
        answered = False
        try:
            sized = request.model_copy(update={"size": len(data)})
            process.stdin.write(sized.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            process.stdin.write(data)
            await process.stdin.drain()
            reply = AssemblyReply.model_validate_json(await process.stdout.readuntil(b"\n"))
            body = await process.stdout.readexactly(reply.size)
            answered = not self._closed
            return reply, body
        finally:  # also where it is cancelled: else the next request would read its reply
            if answered:
                self._idle.append(process)
            else:
                await kill_process(process)

    async def close(self) -> None:
        """End the processes; those at work end with their traces."""
        self._closed = True
        if self._starting is not None:
            await self._starting
        while self._idle:
            await kill_process(self._idle.pop())


async def start_process() -> Process:
    """Start a process that assembles. Raises OSError."""
    return await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=PROJECT_FOLDER,
        env=HELPER_ENVIRONMENT,
        limit=MAX_LINE_BYTES,
    )


async def kill_process(process: Process) -> None:
    """End a process, whatever it does, and collect it."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
