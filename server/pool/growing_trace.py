"""The trace of a program that still runs, as far as its lines have come."""

import asyncio
from collections.abc import Mapping

from gradbox.wire.api import Job
from gradbox.wire.processes import LARGE_TRACE_BYTES, AssemblyRequest
from gradbox.wire.trace import Outcome
from server.pool.assembly import Assembler, AssemblyFailed

RUNNING_OUTCOME = Outcome(status="running")

MIN_INTERVAL = 1.0
"""Seconds for which an assembled trace is given to everybody who asks; only then are the lines assembled again."""

MAX_BYTES = LARGE_TRACE_BYTES
"""Bytes of lines up to which they are assembled again. A longer trace stays as it was until the program has ended."""


class GrowingTrace:
    """The trace so far of one run.

    versions: of the libraries that run the program
    lines: the buffer that receives the child's lines
    """

    def __init__(self, assembler: Assembler, job: Job, versions: Mapping[str, str], lines: bytearray) -> None:
        self._assembler, self._lines = assembler, lines
        self._request = AssemblyRequest(job=job, versions=dict(versions), outcome=RUNNING_OUTCOME)
        self._assembling = asyncio.Lock()
        self._body: bytes | None = None
        self._size, self._assembled_at = 0, float("-inf")

    async def read(self) -> bytes | None:
        """The gzipped JSON of the trace, with the outcome `running`; None before its first step, and for a gradient
        check, which has no steps."""
        if self._request.job.check is not None:
            return None
        async with self._assembling:
            loop = asyncio.get_running_loop()
            size = self._lines.rfind(b"\n") + 1  # what follows is a line that has not come whole
            is_due = loop.time() - self._assembled_at >= MIN_INTERVAL
            if is_due and self._size < size <= MAX_BYTES and self._lines.count(b"\n", 0, size) > 1:
                try:
                    _, self._body = await self._assembler.assemble_trace(self._request, self._lines[:size])
                except AssemblyFailed:  # the run's end will say more
                    return self._body
                finally:
                    self._size, self._assembled_at = size, loop.time()
            return self._body
