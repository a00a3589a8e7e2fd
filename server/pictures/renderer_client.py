"""The server's side of the renderer: a cache, and two processes that each make one drawing at a time, so that a picture
of a small run waits for none of a large one."""

import asyncio
import contextlib
import hashlib
import json
import logging
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from gradbox.pictures.built_files import offline_files
from gradbox.wire.processes import DrawReply, DrawRequest
from server import HELPER_ENVIRONMENT, PROJECT_FOLDER
from server.pictures.drawing_times import DrawingTimes, uncompressed_size
from server.pool.cache import ResultCache
from server.pool.fair_lock import FairLock, QueueFull
from server.wire.problems import ProblemError

COMMAND = (sys.executable, "-m", "gradbox.pictures.renderer_process")
QUICK_SECONDS, DRAWING_SECONDS = 1.0, 8.0
"""Seconds that a drawing may take in the first process, which small ones wait for, and in the second."""

TIMEOUT, START_TIMEOUT = 12.0, 60.0
"""Seconds after those until a reply comes, painted and packed, and for the start of a new process."""

MAX_WAITING = 32
"""The most drawings that may wait at the same time, each for any number of requests."""

ABANDONED_SECONDS = 1.0
"""Seconds for which a drawing continues after the last request has left."""

MAX_KNOWN_FAILURES = 1000
"""The most drawings that are remembered to fail."""

FAILURE_SECONDS = 600.0
"""Seconds before a failed drawing is tried again; a busy machine may have been the cause."""

MAX_DRAWING_BYTES = 64 << 20
"""The most bytes of a drawing."""

LARGE_BYTES = 300_000
"""Bytes of a trace's JSON from which on its drawings are made in the second process."""

SLOW_DRAWING_KINDS = frozenset({"comparison_file", "film", "series_file"})
"""What takes long to draw of a small trace, too."""

PLAIN_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
    'font-size="20"><rect width="100%" height="100%" fill="#8881"/><text x="50%" y="50%" text-anchor="middle" '
    'fill="#888">{text}</text></svg>'
)
PLAIN_TEXTS = {
    "en": "This picture is being drawn. Load it again in a few seconds.",
    "zh": "正在绘制此图，请过几秒重新加载。",
}

IDLE_SECONDS = 60.0
"""Seconds after its last drawing that the second process ends."""

MAX_LINE_BYTES = 100_000
"""The most bytes of a line from the process."""

log = logging.getLogger("gradbox.pictures")


def assets_version() -> str:
    """Return a hash of all files from which pictures, offline files and frames are made; "" if the page is not
    built."""
    parts = [PROJECT_FOLDER / "static/dist" / name for name in ("exports.js", "embed.js", *offline_files())]
    if not all(part.exists() for part in parts):
        return ""
    parts += [
        PROJECT_FOLDER / "templates" / name
        for name in ("embed.html", "partials/_offline.html", "partials/_viewer.html", "partials/_controls.html")
    ]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:8]


class RenderingFailed(ProblemError):
    """Nothing was drawn.

    temporary: whether trying again may succeed
    """

    def __init__(self, why: str, temporary: bool = True) -> None:
        super().__init__(503, "no_picture", why, headers={"Retry-After": "5"} if temporary else None)
        self.temporary = temporary


BeforeDrawing = Callable[[], Awaitable[None]]


class DrawingLate(RenderingFailed):
    """A drawing would have taken more seconds than it may."""


class StepNotFound(ProblemError):
    """The trace has no step with that number."""

    def __init__(self, step: int, steps: int) -> None:
        steps_there = f"0 to {steps - 1}" if steps else "none"
        super().__init__(404, "no_step", f"there is no step {step}; this trace has {steps_there}", field="step")


@dataclass
class PendingDrawing:
    """A drawing that is waiting or being made.

    name: of the trace and of what is drawn of it, whatever the step
    owners: the owners of the requests for it; it waits at the best of their places
    begun: whether its turn has come
    """

    key: str
    name: str
    draw: DrawRequest
    trace: bytes
    owners: list[str] = field(default_factory=list)
    begun: bool = False
    task: asyncio.Task[bytes] = field(init=False)


class Renderer:
    """The renderer of one server: its process, its cache, and the waiting requests.

    capacity: the most bytes of cached drawings
    version: of the code that draws; "" if the page is not built
    """

    def __init__(self, capacity: int) -> None:
        self.cache = ResultCache(capacity)
        self.version = assets_version()
        self._small, self._large = DrawingProcess(), DrawingProcess(IDLE_SECONDS)
        self._drawings: dict[str, PendingDrawing] = {}
        self._times = DrawingTimes()
        self._drawn_on: set[asyncio.Task[bytes]] = set()
        self._closed = False
        self._failures: OrderedDict[str, tuple[str, float]] = OrderedDict()  # why a drawing failed, and when

    @property
    def starts(self) -> int:
        """How often a process was started."""
        return self._small.starts + self._large.starts

    @property
    def failures(self) -> int:
        """Drawings that failed."""
        return self._small.failures + self._large.failures

    async def start(self) -> None:
        """Start the process for small drawings, so that the first one does not wait for it."""
        if not self.version:
            return
        with contextlib.suppress(RenderingFailed):
            await self.draw_plain_picture("en", png=True)

    async def draw_plain_picture(self, language: str, png: bool) -> bytes:
        """The picture that says that another one is being drawn. Raises RenderingFailed."""
        text = PLAIN_TEXTS.get(language, PLAIN_TEXTS["en"])
        svg = PLAIN_PICTURE.format(width=1200, height=630, text=text).encode()
        return await self.get_drawing("plain", DrawRequest(kind="plain", language=language), svg, None) if png else svg

    async def get_drawing_within(
        self,
        seconds: float | None,
        trace_name: str,
        draw: DrawRequest,
        trace: bytes,
        before_drawing: BeforeDrawing | None,
        owner: str = "",
    ) -> bytes | None:
        """What `get_drawing` returns and raises; None after so many seconds. Then it is drawn on, for whoever asks
        next. Nothing is drawn on where whoever asks is cancelled."""
        drawing = asyncio.ensure_future(self.get_drawing(trace_name, draw, trace, before_drawing, owner))
        self._drawn_on.add(drawing)
        drawing.add_done_callback(self._drop_finished)
        try:
            done, _ = await asyncio.wait({drawing}, timeout=seconds)
        except asyncio.CancelledError:
            drawing.cancel()
            raise
        return await drawing if done else None

    def _drop_finished(self, drawing: asyncio.Task[bytes]) -> None:
        self._drawn_on.discard(drawing)
        if not drawing.cancelled():
            drawing.exception()  # whoever waited has it; nobody else is told

    async def get_drawing(
        self, trace_name: str, draw: DrawRequest, trace: bytes, before_drawing: BeforeDrawing | None, owner: str = ""
    ) -> bytes:
        """Return a drawing, cached or new. Raises StepNotFound, RenderingFailed.

        trace_name: the trace's name in the cache
        trace: gzipped JSON
        owner: who requests it
        before_drawing: awaited unless the drawing is cached; its exceptions propagate. A drawing is not made once
            nobody waits for it.
        """
        sized = draw.model_copy(update={"size": len(trace)})
        key = f"{trace_name} {hashlib.sha256(sized.model_dump_json().encode()).hexdigest()}"
        cached = self.cache.get(key)
        if cached is not None:
            return cached
        if before_drawing is not None:
            await before_drawing()
        why, failed_at = self._failures.get(key, ("", -FAILURE_SECONDS))
        if time.monotonic() - failed_at < FAILURE_SECONDS:
            raise RenderingFailed(why, temporary=False)
        if self._closed:
            raise RenderingFailed("the server is going down")
        drawing = self._drawings.get(key)
        if drawing is None:
            name = f"{trace_name} {draw.kind} {draw.png} {draw.moving}"
            drawing = self._drawings[key] = PendingDrawing(key, name, sized, trace)
            drawing.task = asyncio.create_task(self._draw_in_turn(drawing))
            drawing.task.add_done_callback(lambda _: self._forget_drawing(drawing))
        return await self._wait_for_drawing(drawing, owner)

    async def close(self) -> None:
        self._closed = True
        drawings = [drawing.task for drawing in self._drawings.values()]
        for task in drawings:
            task.cancel()
        await asyncio.gather(*drawings, return_exceptions=True)
        for process in (self._small, self._large):
            await process.close()

    async def _wait_for_drawing(self, drawing: PendingDrawing, owner: str) -> bytes:
        drawing.owners.append(owner)
        try:
            return await asyncio.shield(drawing.task)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise RenderingFailed("the server is going down") from None
        finally:
            drawing.owners.remove(owner)
            if not drawing.owners:
                wait = ABANDONED_SECONDS if drawing.begun else 0.0
                asyncio.get_running_loop().call_later(wait, self._abandon_drawing, drawing)

    def _abandon_drawing(self, drawing: PendingDrawing) -> None:
        if not drawing.owners:
            drawing.task.cancel()
            if self._drawings.get(drawing.key) is drawing:  # new requests get another one
                del self._drawings[drawing.key]

    def _forget_drawing(self, drawing: PendingDrawing) -> None:
        if self._drawings.get(drawing.key) is drawing:
            del self._drawings[drawing.key]
        error = None if drawing.task.cancelled() else drawing.task.exception()
        if isinstance(error, RenderingFailed) and not error.temporary:
            self._failures.pop(drawing.key, None)
            self._failures[drawing.key] = error.problem.message, time.monotonic()
            while len(self._failures) > MAX_KNOWN_FAILURES:
                self._failures.popitem(last=False)

    async def _draw_in_turn(self, drawing: PendingDrawing) -> bytes:
        """Draw it in the process that has the room. What takes too long in the first goes on to the second."""
        size = uncompressed_size(drawing.trace)
        is_quick = drawing.draw.kind not in SLOW_DRAWING_KINDS and size < LARGE_BYTES
        try:
            if is_quick and self._times.expected(drawing.name, size) < QUICK_SECONDS:
                with contextlib.suppress(DrawingLate):
                    return await self._draw_in(self._small, QUICK_SECONDS, drawing, size)
                self._times.count(drawing.name, DRAWING_SECONDS)
            return await self._draw_in(self._large, DRAWING_SECONDS, drawing, size)
        except QueueFull:
            raise RenderingFailed("too many pictures are being drawn; try again later") from None

    async def _draw_in(self, process: "DrawingProcess", seconds: float, drawing: PendingDrawing, size: int) -> bytes:
        expected = self._times.expected(drawing.name, size)
        async with process.queue.wait_for_turn(drawing.owners, expected):
            drawing.begun = True
            body = await process.draw(drawing.draw.model_copy(update={"seconds": seconds}), drawing.trace)
            self._times.count(drawing.name, process.seconds)
            self.cache.put(drawing.key, body)
            return body


class DrawingProcess:
    """A process that makes one drawing at a time, started for the first one, and the queue for it.

    idle_seconds: after which it ends; None for never
    seconds: that the last drawing took
    starts, failures: how often it was started, and the drawings that it did not make
    """

    def __init__(self, idle_seconds: float | None = None) -> None:
        self.queue = FairLock(MAX_WAITING)
        self.starts = self.failures = 0
        self.seconds = 0.0
        self._process: asyncio.subprocess.Process | None = None
        self._idle_seconds = idle_seconds
        self._ending: asyncio.Task[None] | None = None

    async def draw(self, draw: DrawRequest, trace: bytes) -> bytes:
        """A new drawing; whoever asks holds the queue. Raises StepNotFound, RenderingFailed."""
        if self._ending is not None:
            self._ending.cancel()
        try:
            return await self._draw_in_time(draw, trace)
        finally:
            if self._idle_seconds is not None:
                self._ending = asyncio.create_task(self._end_when_idle(self._idle_seconds))

    async def _end_when_idle(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.kill()

    async def _draw_in_time(self, draw: DrawRequest, trace: bytes) -> bytes:
        try:
            async with asyncio.timeout(START_TIMEOUT):
                process = await self.get_or_start()
            began = time.monotonic()
            async with asyncio.timeout(draw.seconds + TIMEOUT):
                reply, body = await self._send_and_read_reply(process, draw, trace)
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError) as error:
            self.failures += 1
            log.error("drawing: %s", type(error).__name__)
            await self.kill()
            raise RenderingFailed("pictures can't be drawn here now") from error
        except asyncio.CancelledError:  # otherwise the next request would read its reply
            await self.kill()
            raise
        if reply.failed is not None:
            self.failures += 1
            if reply.ends:
                await self.kill()
            raise (DrawingLate if reply.late else RenderingFailed)(reply.failed, temporary=False)
        if reply.steps is not None:
            assert draw.step is not None
            raise StepNotFound(draw.step, reply.steps)
        self.seconds = time.monotonic() - began
        return body

    async def _send_and_read_reply(
        self, process: asyncio.subprocess.Process, draw: DrawRequest, trace: bytes
    ) -> tuple[DrawReply, bytes]:
        assert process.stdin is not None
        process.stdin.write(json.dumps(draw.model_dump()).encode() + b"\n" + trace)
        await process.stdin.drain()
        reply = await self._read_reply(process)
        assert process.stdout is not None
        if reply.size > MAX_DRAWING_BYTES:
            raise ValueError("too large a drawing")
        return reply, await process.stdout.readexactly(reply.size)

    async def get_or_start(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        self.starts += 1
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=PROJECT_FOLDER,
                env=HELPER_ENVIRONMENT,
                limit=MAX_LINE_BYTES,
            )
        )
        try:
            self._process = await asyncio.shield(starting)
        except asyncio.CancelledError:  # whoever is cancelled ends it, so it has to be known
            self._process = await starting
            raise
        await self._read_reply(self._process)
        return self._process

    async def _read_reply(self, process: asyncio.subprocess.Process) -> DrawReply:
        assert process.stdout is not None
        return DrawReply.model_validate_json(await process.stdout.readuntil(b"\n"))

    async def close(self) -> None:
        """End for good."""
        if self._ending is not None:
            self._ending.cancel()
        await self.kill()

    async def kill(self) -> None:
        """Kill the process, if there is one; the next drawing starts another."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
