"""The server's matrix: measured once on this host's torch, when the workers are idle or on first request, and then
stored."""

import asyncio
import contextlib
import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from server.http.responses import CachedResponseBody, ResponseBodyCache
from server.matrix.programs import MATRIX_QUESTIONS, MATRIX_ROWS, SITUATIONS, CellProgram, Situation, cell_program
from server.pool.interface import NoAnswers, PoolInterface
from server.pool.zygote import WorkersUnavailable
from server.wire.matrix import Answer, AnswerJob, MatrixCell, MatrixVersions, Measurement
from server.wire.problems import ProblemError, WorkerQueueFull

FILE_NAME = "matrix.json"
"""The file in the server's data folder."""

RESOURCE_ERRORS = ("MemoryError", "KeyboardInterrupt", "SystemExit", "OSError", "BlockingIOError", "ImportError")
"""Exceptions that programs of the matrix raise only if the machine lacks resources."""

CellsByOperation = dict[str, dict[str, MatrixCell]]
"""The cells of one situation, by operation and question."""


@cache
def cell_programs(situation: Situation) -> list[CellProgram]:
    """Return the programs of a situation: all questions about each operation."""
    return [cell_program(row, question, situation) for row in MATRIX_ROWS for question in MATRIX_QUESTIONS]


@cache
def programs_digest() -> str:
    """Return a digest of all programs. Other programs need another measurement."""
    total = hashlib.sha256()
    for situation in SITUATIONS:
        for program in cell_programs(situation):
            total.update(program.source.encode())
    return total.hexdigest()


def cells_from_answers(situation: Situation, answers: list[Answer]) -> CellsByOperation:
    """Return the cells of a situation, from its programs' answers in order. Raises NoAnswers for an answer that depends
    on the machine rather than on torch, because that must not be stored."""
    for answer in answers:
        if is_resource_error_answer(answer):
            raise NoAnswers(f"a program answered {answer.raised or answer.printed!r}"[:200])
    pairs = iter(zip(cell_programs(situation), answers, strict=True))
    cells: CellsByOperation = {}
    for row in MATRIX_ROWS:
        read = {
            question.name: program.read_answer(answer, question)
            for question, (program, answer) in zip(MATRIX_QUESTIONS, islice(pairs, len(MATRIX_QUESTIONS)), strict=True)
        }
        for question in MATRIX_QUESTIONS:
            if question.meta and read[question.name].verdict == "raises" and read["handle"].verdict != "raises":
                read[question.name].verdict = "not_applicable"
        cells[row.name] = read
    return cells


def is_resource_error_answer(answer: Answer) -> bool:
    """Return whether a program neither answered its question nor raised an error that it would raise again."""
    if answer.line is None:
        return answer.printed.partition(" ")[0] not in ("True", "False")
    message = answer.raised or ""
    return message.startswith(RESOURCE_ERRORS) or "allocate memory" in message


def create_measurement(versions: Mapping[str, str], cells: dict[str, CellsByOperation]) -> Measurement:
    """Create a measurement with these versions and the present time.

    cells: the cells by situation
    """
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")
    named = MatrixVersions(torch=versions["torch"], numpy=versions["numpy"], python=versions["python"], measured=now)
    return Measurement(versions=named, digest=programs_digest(), cells=cells)


def load_measurement(folder: Path, versions: Mapping[str, str]) -> Measurement | None:
    """Load a stored measurement; None if there is none with these versions and programs."""
    try:
        stored = Measurement.model_validate_json((folder / FILE_NAME).read_bytes())
    except (OSError, ValidationError):
        return None
    same = stored.digest == programs_digest() and has_every_cell(stored)
    return stored if same and stored.versions.model_dump(exclude={"measured"}) == versions else None


def has_every_cell(stored: Measurement) -> bool:
    """Return whether there is a cell for every situation, operation and question."""
    rows, questions = [row.name for row in MATRIX_ROWS], [question.name for question in MATRIX_QUESTIONS]
    return list(stored.cells) == [situation.key for situation in SITUATIONS] and all(
        list(cells) == rows and all(list(cell) == questions for cell in cells.values())
        for cells in stored.cells.values()
    )


def store_measurement(folder: Path, measured: Measurement) -> None:
    """Store a measurement for the next server with this folder. Raises OSError."""
    if folder.is_dir():
        draft = folder / f"{FILE_NAME}.new"
        draft.write_bytes(measured.model_dump_json(exclude_defaults=True).encode())
        draft.replace(folder / FILE_NAME)


MAX_WAIT = 5.0
"""Seconds that a request waits for the measurement."""

BATCH_SIZE = 320
"""Programs that one child answers. They take a fraction of a second, well below any limit of a run."""

WARM_UP_DELAY = 30.0
"""Seconds from the start until the server measures by itself; others may need the workers more."""

POLL_INTERVAL = 1.0
"""Seconds between two checks whether the workers are idle."""

RETRY_SECONDS = 60.0
"""Seconds before a measurement that failed is tried again."""

log = logging.getLogger("gradbox.matrix")


class MatrixService:
    """Measures the matrix and caches its responses: one body for each situation, language and format.

    folder: where the measurement is stored
    """

    def __init__(self, pool: PoolInterface, folder: Path) -> None:
        self._pool, self._folder = pool, folder
        self._measuring: asyncio.Task[Measurement] | None = None
        self._failed_at: float | None = None
        self._is_wanted = asyncio.Event()
        self.measured: Measurement | None = None
        self.situations_done = 0
        self._bodies = ResponseBodyCache()

    async def measure_when_idle(self) -> None:
        """Measure some time after the start, when no program runs. Raises nothing; later requests report a failure."""
        await asyncio.sleep(WARM_UP_DELAY)
        with contextlib.suppress(ProblemError):
            await self._await_measurement()

    async def get_measurement(self, max_wait: float = MAX_WAIT) -> Measurement:
        """Return the measurement. Raises ProblemError (503) if it failed or takes more than that many seconds."""
        if self.measured is None:
            self._is_wanted.set()
            try:
                async with asyncio.timeout(max_wait):
                    return await self._await_measurement()
            except TimeoutError:
                raise not_measured_error("the matrix is being measured", 10) from None
        return self.measured

    async def get_response_body(
        self, key: str, media_type: str, make: Callable[[Measurement], bytes], max_wait: float = MAX_WAIT
    ) -> CachedResponseBody:
        """Return the body for this key, which `make` makes once from the measurement. Raises ProblemError as
        `get_measurement` does."""
        measured = await self.get_measurement(max_wait)
        return await self._bodies.get(key, media_type, lambda: make(measured))

    @property
    def has_failed_recently(self) -> bool:
        """Return whether the last measurement failed and it is too early to try again."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_SECONDS

    async def close(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
            await asyncio.wait([self._measuring])

    async def _await_measurement(self) -> Measurement:
        if self.has_failed_recently:
            raise not_measured_error("the matrix could not be measured", RETRY_SECONDS)
        if self._measuring is None:
            self._measuring = asyncio.create_task(self._load_or_measure())
        try:
            self.measured = await asyncio.shield(self._measuring)
        except (NoAnswers, WorkersUnavailable) as error:
            if self._measuring is not None:
                log.error("the matrix could not be measured: %s", error)
                self._failed_at, self._measuring = time.monotonic(), None
            raise not_measured_error("the matrix could not be measured", RETRY_SECONDS) from error
        return self.measured

    async def _load_or_measure(self) -> Measurement:
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
                await self._wait_until_idle_or_wanted()
                answers += await self._run_answer_job_when_free(AnswerJob(programs=sources[start : start + BATCH_SIZE]))
            cells[situation.key] = await asyncio.to_thread(cells_from_answers, situation, answers)
            self.situations_done = len(cells)
        whole = await asyncio.to_thread(create_measurement, versions, cells)
        with contextlib.suppress(OSError):  # then the next start measures again, for a second
            await asyncio.to_thread(store_measurement, self._folder, whole)
        return whole

    async def _wait_until_idle_or_wanted(self) -> None:
        """Wait until no program runs or a request waits for the matrix."""
        while not self._is_wanted.is_set() and self._pool.queue.running_count:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_INTERVAL):
                    await self._is_wanted.wait()

    async def _run_answer_job_when_free(self, job: AnswerJob) -> list[Answer]:
        while True:
            try:
                return await self._pool.run_answer_job(job)
            except WorkerQueueFull:
                await asyncio.sleep(POLL_INTERVAL)


def not_measured_error(message: str, seconds: float) -> ProblemError:
    return ProblemError(503, "not_measured", f"{message}; try again in {seconds:.0f} s", retry_after=seconds)
