"""The parts that one server consists of: made with the application, started and closed with it."""

import asyncio
import contextlib
import importlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from starlette.types import Scope

from gradbox.wire.api import Job
from server import PROJECT_FOLDER
from server.gallery.claims import Claims, ScenarioTraces
from server.gallery.course import Lesson, load_lessons
from server.gallery.scenarios import Scenario, load_scenarios
from server.gallery.thumbnails import Thumbnails, operation_examples, scenario_examples
from server.http.responses import ConstantBody
from server.matrix.service import MatrixService
from server.operating import log, settings_checks
from server.operating.metrics import Metrics
from server.pictures.drawing_queue import DrawingQueue
from server.pictures.renderer_client import Renderer
from server.pool.cache import Cache
from server.pool.executions import Executions, Result, SharedResults
from server.pool.interface import PoolInterface
from server.pool.local import Pool
from server.runs.service import OtherRuns, RunService
from server.saved.programs import ProgramService
from server.saved.series import SeriesService
from server.settings import Settings
from server.store.database import Database, StoreUnavailable
from server.store.health import StoreHealth
from server.store.repository import Repository
from server.store.series import SeriesStore
from server.visitors import clients
from server.visitors.authenticator import Authenticator
from server.visitors.clients import Network
from server.visitors.rate_limits import (
    Counts,
    RateLimiter,
    RequestLimiter,
    SaveSpace,
    SharedRateLimiter,
    SharedSaveSpace,
)

SCENARIOS = PROJECT_FOLDER / "scenarios"
LESSONS = PROJECT_FOLDER / "lessons"
CLASSROOM_LIMIT, CLASSROOM_REQUESTS = "3000/minute", "20000/minute"
"""Runs, and saves, of a class behind one address; and its requests of any kind."""

DAY = 24 * 3600.0


TRACE_CACHE_BYTES = 32_000_000
"""Bytes of saved programs' traces that are kept in memory."""


MAX_PROPOSALS = 32
"""Programs that may wait at the same time for a process to propose fixes of them."""


class SharedState(Protocol):
    """What web processes share: see `server.cluster.parts.SharedState`. reachable: whether they do now."""

    @property
    def counts(self) -> Counts: ...

    @property
    def results(self) -> SharedResults: ...

    @property
    def runs(self) -> OtherRuns: ...

    @property
    def reachable(self) -> bool: ...

    async def close(self) -> None: ...


@dataclass
class Services:
    """cookie_key: signs cookies. proxies: whose X-Forwarded-For is believed. started: seconds since 1970.

    proposals: whose turn it is to have fixes proposed, in fair turns like drawings.
    stills: the pictures of the gallery's cards, made as the operations' thumbnails are.
    matrix_bodies: responses made of the matrix, by what they are: one for each situation, language and form. matrix_lock:
    held while one of them is made. shared: with other web processes, None where there is one.
    """

    settings: Settings
    scenarios: list[Scenario]
    lessons: list[Lesson]
    cookie_key: bytes
    proxies: tuple[Network, ...]
    request_limits: RequestLimiter
    picture_limits: SharedRateLimiter
    pool: PoolInterface
    executions: Executions
    runs: RunService
    store: Repository
    store_health: StoreHealth
    metrics: Metrics
    authenticator: Authenticator
    renderer: Renderer
    programs: ProgramService
    series: SeriesService
    matrix: MatrixService
    scenario_traces: ScenarioTraces
    claims: Claims
    thumbnails: Thumbnails
    stills: Thumbnails
    proposals: DrawingQueue
    shared: SharedState | None = None
    matrix_bodies: dict[str, ConstantBody] = field(default_factory=dict)
    matrix_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    started: float = field(default_factory=time.time)
    _start_tasks: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def scenarios_by_name(self) -> dict[str, Scenario]:
        return {scenario.name: scenario for scenario in self.scenarios}

    async def start(self) -> None:
        """Begin to boot the workers, to trace the first scenario and to open the database; waits for none of them."""
        self.started = time.time()
        for name, why in settings_checks.warnings(self.settings):
            log.setting_warning(name, why)
        await self.pool.start()
        if self.shared is not None:
            self.shared.runs.start(self.executions)
        self._start_tasks = [asyncio.create_task(self._warm_up()), asyncio.create_task(self._open_store())]

    async def close(self) -> None:
        for task in self._start_tasks:
            task.cancel()
        await asyncio.wait(self._start_tasks)
        await self.matrix.close()
        await self.scenario_traces.close()
        await self.thumbnails.close()
        await self.stills.close()
        await self.renderer.close()
        await self.executions.close()
        await self.pool.close()
        if self.shared is not None:
            await self.shared.close()
        await self.store_health.close()
        await self.store.database.close()

    async def _warm_up(self) -> None:
        """Run the scenario that the page opens with, then measure the matrix."""
        for scenario in self.scenarios[:1]:
            await self.scenario_traces.prepare(scenario)
        await self.matrix.warm()

    async def _open_store(self) -> None:
        """Migrate the database. Where that fails, the first request that needs it tries again."""
        with contextlib.suppress(StoreUnavailable):
            await self.store.database.open_if_exists()


@dataclass(frozen=True)
class VisitorLimits:
    """What one visitor, and one address, may ask of the server in a stretch of time. save_space: bytes that they save in a day."""

    runs: SharedRateLimiter
    live_runs: SharedRateLimiter
    saves: SharedRateLimiter
    save_space: SharedSaveSpace
    pictures: SharedRateLimiter
    requests: RequestLimiter


def create_limits(settings: Settings, counts: Counts | None) -> VisitorLimits:
    """The limits that the settings name; in a classroom one address is many visitors. counts: those that web processes share."""
    run, live, save = settings.address_limit, settings.live_address_limit, settings.save_address_limit
    request, save_space = settings.request_limit, settings.save_space
    if settings.classroom:
        run = live = save = CLASSROOM_LIMIT
        request, save_space = CLASSROOM_REQUESTS, settings.quota
    live_names, save_names = ("LIVE_LIMIT", "LIVE_ADDRESS_LIMIT"), ("SAVE_LIMIT", "SAVE_ADDRESS_LIMIT")
    picture = settings.picture_limit
    live_runs = RateLimiter(settings.live_limit, live, action="live run", names=live_names)
    saves = RateLimiter(settings.save_limit, save, action="save", names=save_names)
    pictures = RateLimiter(picture, picture, action="picture", names=("PICTURE_LIMIT",) * 2)
    return VisitorLimits(
        runs=SharedRateLimiter(RateLimiter(settings.rate_limit, run), counts),
        live_runs=SharedRateLimiter(live_runs, counts),
        saves=SharedRateLimiter(saves, counts),
        save_space=SharedSaveSpace(SaveSpace(save_space, DAY), counts),
        pictures=SharedRateLimiter(pictures, counts),
        requests=RequestLimiter(request),
    )


def create_services(settings: Settings, prepare: str) -> Services:
    """prepare: `module:function` that makes the workers ready to run programs.

    Raises SettingError, and ScenarioError where a scenario can't be read.
    """
    key = clients.signing_key(settings.secret)
    database = Database(settings.database_url, Path(settings.data))
    pool = create_pool(settings, prepare, database)
    cache = Cache(settings.cache)
    store = Repository(database, settings.scenario, settings.quota, Cache(TRACE_CACHE_BYTES))
    health = StoreHealth(store)
    shared = create_shared_state(settings, database)
    counts = shared.counts if shared is not None else None
    metrics = Metrics(pool, cache, health, settings.quota, shared)
    limits = create_limits(settings, counts)
    executions = create_executions(settings, pool, cache, metrics, shared)
    renderer = Renderer(settings.pictures)
    scenarios = load_scenarios(SCENARIOS)
    scenario_traces = ScenarioTraces(pool, settings)
    return Services(
        settings=settings,
        scenarios=scenarios,
        lessons=load_lessons(LESSONS, {scenario.name for scenario in scenarios}),
        cookie_key=key,
        proxies=clients.parse_networks(settings.trusted_proxies),
        request_limits=limits.requests,
        picture_limits=limits.pictures,
        pool=pool,
        executions=executions,
        runs=RunService(
            settings, pool, executions, limits.runs, limits.live_runs, shared.runs if shared is not None else None
        ),
        store=store,
        store_health=health,
        metrics=metrics,
        authenticator=Authenticator(settings, key, metrics.sign_in_failed, counts),
        renderer=renderer,
        matrix=MatrixService(pool, Path(settings.data)),
        scenario_traces=scenario_traces,
        claims=Claims(scenario_traces),
        thumbnails=Thumbnails(pool, renderer, settings, operation_examples()),
        stills=Thumbnails(pool, renderer, settings, scenario_examples(scenarios)),
        programs=ProgramService(store, limits.saves, limits.save_space, metrics),
        series=SeriesService(SeriesStore(database, settings.quota), store, limits.saves, limits.save_space),
        proposals=DrawingQueue(MAX_PROPOSALS),
        shared=shared,
    )


def create_pool(settings: Settings, prepare: str, database: Database) -> PoolInterface:
    """The pool of this machine, or that of the machines behind GRADBOX_QUEUE_URL, whose libraries are then imported."""
    if not settings.queue_url:
        return Pool(settings, prepare)
    pool: PoolInterface = importlib.import_module("server.cluster.parts").create_pool(settings, database)
    return pool


def create_executions(
    settings: Settings, pool: PoolInterface, cache: Cache, metrics: Metrics, shared: SharedState | None
) -> Executions:
    """The executions of this process, whose results are counted and logged. shared: with other web processes."""

    def on_result(job: Job, result: Result) -> None:
        metrics.run_finished(job, result)
        log.run_finished(job, result, settings.log_programs)

    results, process = (shared.results, shared.runs.name) if shared is not None else (None, "")
    return Executions(pool, cache, settings.cache, on_result, results, process)


def create_shared_state(settings: Settings, database: Database) -> SharedState | None:
    """What web processes behind GRADBOX_QUEUE_URL share; None without it."""
    if not settings.queue_url:
        return None
    shared: SharedState = importlib.import_module("server.cluster.parts").create_shared_state(settings, database)
    return shared


def get_services(scope: Scope) -> Services:
    """Those of the application that serves this request."""
    services: Services = scope["app"].state.services
    return services
