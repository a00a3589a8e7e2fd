"""The server's matrix: measured once, when nobody else needs the workers or as soon as somebody asks, and then kept."""

import asyncio
import contextlib
import logging
import time
from pathlib import Path

from server.matrix.measurement import cell_programs, load_measurement, new_measurement, read_answers, store_measurement
from server.matrix.programs import SITUATIONS
from server.pool.fair_queue import Busy
from server.pool.interface import NoAnswers, PoolInterface
from server.pool.zygote import WorkersUnavailable
from server.wire.matrix import Answer, AnswerJob, Measurement
from server.wire.problems import ProblemError

MAX_WAIT = 5.0
"""Seconds that a request waits for the measurement."""

BATCH_SIZE = 320
"""Programs that one child answers: a fraction of a second, well below any limit of a run."""

WARM_UP_DELAY = 30.0
"""Seconds after the start before the server measures by itself: others may need the workers more."""

POLL_INTERVAL = 1.0
"""Seconds between two looks at whether the workers are free."""

RETRY_SECONDS = 60.0
"""Seconds before a measurement that failed is tried again."""

log = logging.getLogger("gradbox.matrix")


class MatrixService:
    """folder: where a measurement is stored."""

    def __init__(self, pool: PoolInterface, folder: Path) -> None:
        self._pool, self._folder = pool, folder
        self._measuring: asyncio.Task[Measurement] | None = None
        self._failed_at: float | None = None
        self._is_wanted = asyncio.Event()
        self.measured: Measurement | None = None
        self.situations_done = 0

    async def warm(self) -> None:
        """Measure a while after the start, when no program runs. Does not raise: whoever asks will be told."""
        await asyncio.sleep(WARM_UP_DELAY)
        with contextlib.suppress(ProblemError):
            await self._measurement()

    async def get(self, max_wait: float = MAX_WAIT) -> Measurement:
        """The measurement. Raises ProblemError (503) where there is none in that many seconds, or where it failed."""
        if self.measured is None:
            self._is_wanted.set()
            try:
                async with asyncio.timeout(max_wait):
                    return await self._measurement()
            except TimeoutError:
                raise not_measured_error("the matrix is being measured", 10) from None
        return self.measured

    @property
    def failed(self) -> bool:
        """Whether the last measurement failed, and is not to be tried again yet."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_SECONDS

    async def close(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
            await asyncio.wait([self._measuring])

    async def _measurement(self) -> Measurement:
        if self.failed:
            raise not_measured_error("the matrix could not be measured", RETRY_SECONDS)
        if self._measuring is None:
            self._measuring = asyncio.create_task(self._measure())
        try:
            self.measured = await asyncio.shield(self._measuring)
        except (NoAnswers, WorkersUnavailable) as error:
            if self._measuring is not None:
                log.error("the matrix could not be measured: %s", error)
                self._failed_at, self._measuring = time.monotonic(), None
            raise not_measured_error("the matrix could not be measured", RETRY_SECONDS) from error
        return self.measured

    async def _measure(self) -> Measurement:
        await self._pool.wait_until_booted()
        versions = self._pool.versions
        stored = await asyncio.to_thread(load_measurement, self._folder, versions)
        if stored is not None:
            return stored
        cells = {}
        for situation in SITUATIONS:
            sources = [program.source for program in await asyncio.to_thread(cell_programs, situation)]
            answers: list[Answer] = []
            for start in range(0, len(sources), BATCH_SIZE):
                await self._wait_for_turn()
                answers += await self._ask(AnswerJob(programs=sources[start : start + BATCH_SIZE]))
            cells[situation.key] = await asyncio.to_thread(read_answers, situation, answers)
            self.situations_done = len(cells)
        whole = await asyncio.to_thread(new_measurement, versions, cells)
        with contextlib.suppress(OSError):  # a folder that can't be written to costs the next start a second
            await asyncio.to_thread(store_measurement, self._folder, whole)
        return whole

    async def _wait_for_turn(self) -> None:
        """Wait until no program runs, or until somebody waits for the matrix."""
        while not self._is_wanted.is_set() and self._pool.queue.running:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_INTERVAL):
                    await self._is_wanted.wait()

    async def _ask(self, job: AnswerJob) -> list[Answer]:
        while True:
            try:
                return await self._pool.answer(job)
            except Busy:
                await asyncio.sleep(POLL_INTERVAL)


def not_measured_error(message: str, seconds: float) -> ProblemError:
    return ProblemError(503, "not_measured", f"{message}; try again in {seconds:.0f} s", retry_after=seconds)
