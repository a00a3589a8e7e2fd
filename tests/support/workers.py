"""A pool of workers that tests share: booting one takes seconds, a run milliseconds."""

import asyncio
import json
from typing import Any

from gradbox.wire.api import Job
from gradbox.wire.trace import Trace
from server.pool.local import LocalPool
from server.settings import Settings
from tests.forks import prepared_modules

MAX_WAIT = 60
"""Seconds of wall and of processor time that a program may take, as in `python -m server trace`."""


class Workers:
    """The server's own pool with default settings but for time. It boots at the first run, and runs one after the
    other."""

    def __init__(self, **settings_of_test: Any) -> None:
        prepared_modules.prepare()
        settings = Settings({}, wall=float(MAX_WAIT), cpu=MAX_WAIT, **settings_of_test)
        self._limits, self._pool, self._loop = settings.run_limits(), LocalPool(settings), asyncio.new_event_loop()
        self._started = False
        self._traces: dict[str, bytes] = {}

    def run(self, source: str, **job: Any) -> Trace:
        """The trace of a fresh run.

        job: further fields of the job
        """
        return self._json(source, **job)[1]

    def trace(self, source: str) -> dict[str, Any]:
        """The trace as JSON values, a copy for each caller. A program is run once."""
        if source not in self._traces:
            self._traces[source], _ = self._json(source)
        trace: dict[str, Any] = json.loads(self._traces[source])
        return trace

    def _json(self, source: str, **job: Any) -> tuple[bytes, Trace]:
        if not self._started:
            self._started = True
            self._loop.run_until_complete(self._pool.start())
        recorded = self._loop.run_until_complete(self._pool.run_job(Job(source=source, limits=self._limits, **job)))
        return recorded.json(), recorded.decoded()

    def close(self) -> None:
        """End the workers."""
        if self._started:
            self._loop.run_until_complete(self._pool.close())
        self._loop.close()
