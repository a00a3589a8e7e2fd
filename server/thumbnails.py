"""Thumbnails of the catalogue's operations: each drawn once from the trace of its example, while nobody's program runs."""

import asyncio
import functools
import hashlib
import logging
import time
from typing import get_args

from server.operations.catalogue import TABLES, example
from server.pictures.renderer_client import Renderer
from server.pool.fair_queue import Busy
from server.pool.local import Pool
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.wire.api import Job
from server.wire.pictures import DrawRequest, Theme
from server.wire.problems import ProblemError

PATIENCE = 1.5
"""Seconds that a request waits for a thumbnail."""

PAUSE = 0.05
"""Seconds between two looks at whether the workers are free."""

RETRY = 60.0
"""Seconds before a thumbnail that could not be made is tried again."""

THEMES: tuple[Theme, ...] = get_args(Theme)

log = logging.getLogger("gradbox.thumbnails")


@functools.cache
def examples() -> dict[str, str]:
    """The example of each operation, by its name."""
    return {row.name: example(row) for rows in TABLES.values() for row in rows}


class Thumbnails:
    """At most one is being made at a time, and each once, in every theme, for as many requests as want it."""

    def __init__(self, pool: Pool, renderer: Renderer, settings: Settings) -> None:
        self._pool, self._renderer, self._settings = pool, renderer, settings
        self._made: dict[str, dict[Theme, bytes]] = {}
        self._making: dict[str, asyncio.Task[dict[Theme, bytes]]] = {}
        self._failed: dict[str, float] = {}
        self._turn = asyncio.Lock()

    async def tag(self, name: str) -> str:
        """The entity tag: of torch's version, the code that draws, and the example. Raises ProblemError (404, 503)."""
        source = self._example(name)
        try:
            async with asyncio.timeout(PATIENCE):
                await self._pool.zygote.wait_until_booted()
        except (TimeoutError, WorkersUnavailable):
            raise no_thumbnail("the workers are not ready") from None
        parts = (self._pool.zygote.versions.get("torch", ""), self._renderer.version, source)
        return f'W/"{hashlib.sha256(repr(parts).encode()).hexdigest()[:24]}"'

    async def get(self, name: str, theme: Theme, patience: float = PATIENCE) -> bytes:
        """The thumbnail as SVG. Raises ProblemError: 404 for an unknown name, 503 where it is not made in that time."""
        source = self._example(name)
        if name not in self._made:
            if time.monotonic() - self._failed.get(name, -RETRY) < RETRY:
                raise no_thumbnail("this thumbnail could not be made", RETRY)
            if name not in self._making:
                self._making[name] = asyncio.create_task(self._make(name, source))
                self._making[name].add_done_callback(lambda task: self._finish(name, task))
            await asyncio.wait((self._making[name],), timeout=patience)
        if name not in self._made:
            raise no_thumbnail("this thumbnail is not made yet")
        return self._made[name][theme]

    async def close(self) -> None:
        for task in self._making.values():
            task.cancel()
        await asyncio.gather(*self._making.values(), return_exceptions=True)

    def _example(self, name: str) -> str:
        if name not in examples():
            raise ProblemError(404, "not_found", "there is no such operation", field="name")
        return examples()[name]

    async def _make(self, name: str, source: str) -> dict[Theme, bytes]:
        """Run the example and draw its trace in every theme. Raises ProblemError, WorkersUnavailable."""
        async with self._turn:
            trace = None
            while trace is None:
                while self._pool.queue.running:
                    await asyncio.sleep(PAUSE)
                try:
                    trace = await self._pool.run(Job(source=source, limits=self._settings.limits()))
                except Busy:
                    await asyncio.sleep(PAUSE)
            if trace.status != "finished":
                raise no_thumbnail(f"the example was {trace.status}", RETRY)
            drawn: dict[Theme, bytes] = {}
            for theme in THEMES:
                draw = DrawRequest(kind="thumbnail", title=name, theme=theme)
                drawn[theme] = await self._renderer.get(f"thumbnail {name}", draw, trace.body, lambda: None)
            return drawn

    def _finish(self, name: str, task: "asyncio.Task[dict[Theme, bytes]]") -> None:
        del self._making[name]
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._made[name] = task.result()
            self._failed.pop(name, None)
        else:
            self._failed[name] = time.monotonic()
            log.error("the thumbnail of %s could not be made: %s", name, error)


def no_thumbnail(message: str, seconds: float = 2.0) -> ProblemError:
    return ProblemError(503, "no_picture", f"{message}; try again in {seconds:.0f} s", retry_after=seconds)
