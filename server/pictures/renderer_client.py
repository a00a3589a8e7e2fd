"""The server's end of the renderer: one process, one drawing at a time, and a cache."""

import asyncio
import contextlib
import hashlib
import json
import logging
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

from server import PROJECT_FOLDER
from server.pool.cache import Cache
from server.wire.pictures import DrawReply, DrawRequest
from server.wire.problems import ProblemError

COMMAND = (sys.executable, "-m", "server.pictures.renderer_process")
TIMEOUT = 20.0
"""Seconds for a drawing, including the start of a new process."""

MAX_WAITING = 32
"""Drawings that may wait at the same time, each for any number of requests."""

MAX_LINE = 100_000
"""Bytes of a line of the process."""

log = logging.getLogger("gradbox.pictures")


def assets_version() -> str:
    """A hash of all files that pictures, offline files and frames are made of; "" where the page is not built."""
    parts = [PROJECT_FOLDER / "static/dist" / name for name in ("exports.js", "offline.js", "embed.js", "style.css")]
    if not all(part.exists() for part in parts):
        return ""
    parts += [
        PROJECT_FOLDER / "templates" / name
        for name in ("embed.html", "partials/_offline.html", "partials/_controls.html")
    ]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:8]


class RenderingFailed(ProblemError):
    """Nothing was drawn. temporary: whether another try may succeed."""

    def __init__(self, why: str, temporary: bool = True) -> None:
        super().__init__(503, "no_picture", why, headers={"Retry-After": "5"} if temporary else None)
        self.temporary = temporary


class StepNotFound(ProblemError):
    """The trace has no step of that number."""

    def __init__(self, step: int, steps: int) -> None:
        steps_there = f"0 to {steps - 1}" if steps else "none"
        super().__init__(404, "no_step", f"there is no step {step}; this trace has {steps_there}", field="step")


class Renderer:
    """capacity: bytes of drawings that are cached. version: of the code that draws, "" where the page is not built."""

    def __init__(self, capacity: int) -> None:
        self.cache = Cache(capacity)
        self.version = assets_version()
        self._drawing = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: Counter[str] = Counter()
        self.starts = self.failures = 0

    async def get(self, name: str, draw: DrawRequest, trace: bytes, before_drawing: Callable[[], None]) -> bytes:
        """The drawing, cached or new. name: of the trace, for the cache. trace: gzipped JSON.

        before_drawing: is called unless the drawing is cached; what it raises is passed on. Raises StepNotFound,
        RenderingFailed.
        """
        sized = draw.model_copy(update={"size": len(trace)})
        key = f"{name} {hashlib.sha256(sized.model_dump_json().encode()).hexdigest()}"
        cached = self.cache.get(key)
        if cached is not None:
            return cached
        before_drawing()
        if key not in self._waiting and len(self._waiting) >= MAX_WAITING:
            raise RenderingFailed("too many pictures are being drawn; try again later")
        self._waiting[key] += 1
        try:
            async with self._drawing:
                body = self.cache.get(key)
                if body is None:
                    body = await self._draw(sized, trace)
                    self.cache.put(key, body)
                return body
        finally:
            self._waiting[key] -= 1
            self._waiting += Counter()  # drops counts of zero

    async def close(self) -> None:
        async with self._drawing:
            await self._kill_process()

    async def _draw(self, draw: DrawRequest, trace: bytes) -> bytes:
        try:
            async with asyncio.timeout(TIMEOUT):
                reply, body = await self._exchange(draw, trace)
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError) as error:
            self.failures += 1
            log.error("drawing: %s", type(error).__name__)
            await self._kill_process()
            raise RenderingFailed("pictures can't be drawn here now") from error
        except asyncio.CancelledError:  # else the next request would read its reply
            await self._kill_process()
            raise
        if reply.failed is not None:
            self.failures += 1
            await self._kill_process()
            raise RenderingFailed(reply.failed, temporary=False)
        if reply.steps is not None:
            assert draw.step is not None
            raise StepNotFound(draw.step, reply.steps)
        return body

    async def _exchange(self, draw: DrawRequest, trace: bytes) -> tuple[DrawReply, bytes]:
        process = await self._running_process()
        assert process.stdin is not None
        process.stdin.write(json.dumps(draw.model_dump()).encode() + b"\n" + trace)
        await process.stdin.drain()
        reply = await self._read_reply(process)
        assert process.stdout is not None
        return reply, await process.stdout.readexactly(reply.size)

    async def _running_process(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        self.starts += 1
        self._process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=PROJECT_FOLDER,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(PROJECT_FOLDER)},
            limit=MAX_LINE,
        )
        await self._read_reply(self._process)
        return self._process

    async def _read_reply(self, process: asyncio.subprocess.Process) -> DrawReply:
        assert process.stdout is not None
        return DrawReply.model_validate_json(await process.stdout.readuntil(b"\n"))

    async def _kill_process(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
