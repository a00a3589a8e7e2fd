"""Thumbnails of operations and stills of scenarios, each drawn once from a trace when the workers are idle."""

import asyncio
import contextlib
import functools
import hashlib
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from gradbox.wire.processes import DrawRequest, Theme
from server.gallery.scenarios import Scenario
from server.operations.catalogue import TABLES, example_program
from server.pictures.renderer_client import Renderer
from server.pool.interface import PoolInterface
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.wire.problems import ProblemError, WorkerQueueFull

MAX_WAIT = 1.5
"""Seconds that a request waits for a thumbnail."""

IDLE_WAIT = 3.0
"""Seconds that a requested thumbnail waits for idle workers before it joins the queue."""

POLL_INTERVAL = 0.05
"""Seconds between two checks whether the workers are idle."""

RETRY_SECONDS = 60.0
"""Seconds before a failed thumbnail is tried again."""

THEMES: tuple[Theme, ...] = get_args(Theme)

log = logging.getLogger("gradbox.thumbnails")


@dataclass(frozen=True)
class ExampleProgram:
    """A program to draw.

    line: the line whose last step a still shows; None to let the renderer choose
    """

    kind: Literal["thumbnail", "still"]
    source: str
    line: int | None = None


@functools.cache
def operation_examples() -> dict[str, ExampleProgram]:
    """Return the example of each operation by name."""
    return {row.name: ExampleProgram("thumbnail", example_program(row)) for rows in TABLES.values() for row in rows}


def scenario_examples(scenarios: list[Scenario]) -> dict[str, ExampleProgram]:
    """Return the program of each scenario by name."""
    return {scenario.name: ExampleProgram("still", scenario.source, scenario.still_line) for scenario in scenarios}


class ThumbnailNotMade(ProblemError):
    """A thumbnail is not made yet, or could not be made.

    seconds: after which it is worth asking again
    """

    def __init__(self, message: str = "this thumbnail is not made yet", seconds: float = 2.0) -> None:
        super().__init__(503, "no_picture", f"{message}; try again in {seconds:.0f} s", retry_after=seconds)


class Thumbnails:
    """Makes thumbnails one at a time, each once and in every theme, for all requests that wait for it."""

    def __init__(
        self, pool: PoolInterface, renderer: Renderer, settings: Settings, examples: Mapping[str, ExampleProgram]
    ) -> None:
        self._pool, self._renderer, self._settings, self._examples = pool, renderer, settings, examples
        self._pictures: dict[str, dict[Theme, bytes]] = {}
        self._tasks: dict[str, asyncio.Task[dict[Theme, bytes]]] = {}
        self._failed_at: dict[str, float] = {}
        self._turn = asyncio.Lock()

    async def entity_tag(self, name: str) -> str:
        """Return a tag of torch's version, the drawing code and the example. Raises ThumbnailNotMade."""
        example = self._find_example(name)
        try:
            async with asyncio.timeout(MAX_WAIT):
                await self._pool.wait_until_booted()
        except (TimeoutError, WorkersUnavailable):
            raise ThumbnailNotMade("the workers are not ready") from None
        parts = (self._pool.versions.get("torch", ""), self._renderer.version, example)
        return f'W/"{hashlib.sha256(repr(parts).encode()).hexdigest()[:24]}"'

    async def get(self, name: str, theme: Theme, max_wait: float = MAX_WAIT) -> bytes:
        """Return the thumbnail as SVG. Raises ThumbnailNotMade, ProblemError (404)."""
        example = self._find_example(name)
        if name not in self._pictures:
            if time.monotonic() - self._failed_at.get(name, -RETRY_SECONDS) < RETRY_SECONDS:
                raise ThumbnailNotMade("this thumbnail could not be made", RETRY_SECONDS)
            if name not in self._tasks:
                self._tasks[name] = asyncio.create_task(self._draw_themes(name, example))
                self._tasks[name].add_done_callback(lambda task: self._store_pictures(name, task))
            await asyncio.wait((self._tasks[name],), timeout=max_wait)
        if name not in self._pictures:
            raise ThumbnailNotMade
        return self._pictures[name][theme]

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _find_example(self, name: str) -> ExampleProgram:
        if name not in self._examples:
            raise ProblemError(404, "not_found", "there is no picture of that name", field="name")
        return self._examples[name]

    async def _draw_themes(self, name: str, example: ExampleProgram) -> dict[Theme, bytes]:
        """Run the example and draw its trace in every theme. Raises ProblemError, WorkersUnavailable."""
        async with self._turn:
            trace = None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(IDLE_WAIT):
                    while self._pool.queue.running_count:
                        await asyncio.sleep(POLL_INTERVAL)
            while trace is None:
                try:
                    trace = await self._pool.run_job(Job(source=example.source, limits=self._settings.run_limits()))
                except WorkerQueueFull:
                    await asyncio.sleep(POLL_INTERVAL)
            if trace.status != "finished" and (example.kind, trace.status) != ("still", "raised"):
                raise ThumbnailNotMade(f"the example was {trace.status}", RETRY_SECONDS)
            step = last_step_at_line(trace, example.line)
            drawn: dict[Theme, bytes] = {}
            for theme in THEMES:
                draw = DrawRequest(kind=example.kind, step=step, title=name, theme=theme)
                drawn[theme] = await self._renderer.get_drawing(f"{example.kind} {name}", draw, trace.body, None)
            return drawn

    def _store_pictures(self, name: str, task: "asyncio.Task[dict[Theme, bytes]]") -> None:
        del self._tasks[name]
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._pictures[name] = task.result()
            self._failed_at.pop(name, None)
        else:
            self._failed_at[name] = time.monotonic()
            log.error("the thumbnail of %s could not be made: %s", name, error)


def last_step_at_line(trace: RecordedTrace, line: int | None) -> int | None:
    """Return the last step of a line; None if no line is given or it has no step."""
    if line is None:
        return None
    return max((step.i for step in trace.decoded().steps if step.line == line), default=None)
