"""The services of one server, created, started and closed with the application, and the dependencies by which routes
get them."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.types import Scope

from server.gallery.gallery import Gallery, create_gallery
from server.http.response_delivery import Disconnected
from server.matrix.service import MatrixService
from server.operating import log, settings_checks
from server.operating.metrics import Metrics
from server.pictures.renderer_client import Renderer
from server.pool.cache import ResultCache
from server.pool.interface import PoolInterface
from server.pool.local import LocalPool
from server.runs.service import RunService, SharedState, create_run_service
from server.saved.content import SavedContent, create_program_repository, create_saved_content
from server.settings import Settings
from server.store.database import Database, StoreUnavailable
from server.store.health import StoreHealth
from server.visitors.clients import Client, identify_client
from server.visitors.visitors import Visitors, create_visitors


@dataclass
class Services:
    """The services of one server.

    shared: the state shared with other web processes; None if there are none
    started: in seconds since 1970
    """

    settings: Settings
    pool: PoolInterface
    visitors: Visitors
    runs: RunService
    saved: SavedContent
    gallery: Gallery
    matrix: MatrixService
    renderer: Renderer
    metrics: Metrics
    shared: SharedState | None = None
    started: float = field(default_factory=time.time)
    _start_tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Start booting the workers, tracing the first scenario and opening the database, without waiting for them."""
        self.started = time.time()
        for name, why in settings_checks.setting_warnings(self.settings):
            log.log_setting_warning(name, why)
        await self.pool.start()
        if self.shared is not None:
            self.shared.runs.start_answering(self.runs.executions)
        self._start_tasks = [
            asyncio.create_task(self._record_and_measure()),
            asyncio.create_task(self._open_store()),
        ]

    async def close(self) -> None:
        for task in self._start_tasks:
            task.cancel()
        await asyncio.wait(self._start_tasks)
        await self.matrix.close()
        await self.gallery.close()
        await self.renderer.close()
        await self.runs.executions.close()
        await self.pool.close()
        if self.shared is not None:
            await self.shared.close()
        await self.saved.close()

    async def _record_and_measure(self) -> None:
        """Run the scenario that the page opens with, measure the matrix, and get ready to draw."""
        await self.gallery.start_recording_first_scenario()
        await self.matrix.measure_when_idle()
        await self.renderer.start()

    async def _open_store(self) -> None:
        """Migrate the database. If that fails, the first request that needs it tries again."""
        with contextlib.suppress(StoreUnavailable):
            await self.saved.store.database.open_if_exists()


def create_services(settings: Settings, prepare: str) -> Services:
    """Create the services. Raises SettingError, and ScenarioError if a scenario can't be read.

    prepare: the `module:function` that makes workers ready to run programs
    """
    database = Database(settings.database_url, Path(settings.data))
    database.require_database_not_emptied()
    pool = create_pool(settings, prepare, database)
    shared = create_shared_state(settings, database)
    cache = ResultCache(settings.cache)
    store = create_program_repository(settings, database)
    health = StoreHealth(store)
    metrics = Metrics(pool, cache, health, settings.quota, shared)
    visitors = create_visitors(settings, metrics.count_failed_sign_in, shared.counts if shared is not None else None)
    renderer = Renderer(settings.pictures)
    return Services(
        settings=settings,
        pool=pool,
        visitors=visitors,
        runs=create_run_service(settings, pool, cache, visitors.limits, metrics, shared),
        saved=create_saved_content(settings, store, health, visitors.limits, metrics),
        gallery=create_gallery(settings, pool, renderer),
        matrix=MatrixService(pool, Path(settings.data)),
        renderer=renderer,
        metrics=metrics,
        shared=shared,
    )


def create_pool(settings: Settings, prepare: str, database: Database) -> PoolInterface:
    """Create the pool of this machine, or of the machines behind GRADBOX_QUEUE_URL."""
    if not settings.queue_url:
        return LocalPool(settings, prepare)
    from server.cluster import factories  # noqa: PLC0415 it needs Celery and Redis, of the extra `cluster`

    return factories.create_pool(settings, database)


def create_shared_state(settings: Settings, database: Database) -> SharedState | None:
    """Create the state that web processes share through GRADBOX_QUEUE_URL; None if it is not set."""
    if not settings.queue_url:
        return None
    from server.cluster import factories  # noqa: PLC0415 it needs Celery and Redis, of the extra `cluster`

    return factories.create_shared_state(settings, database)


def get_services(scope: Scope) -> Services:
    """Return the services of the application that serves this request."""
    services: Services = scope["app"].state.services
    return services


# coroutines, although none of them waits, because FastAPI would run plain functions in a thread
async def get_services_of_request(request: Request) -> Services:
    return get_services(request.scope)


ServicesDep = Annotated[Services, Depends(get_services_of_request)]


async def get_gallery(services: ServicesDep) -> Gallery:
    return services.gallery


async def get_matrix(services: ServicesDep) -> MatrixService:
    return services.matrix


async def get_runs(services: ServicesDep) -> RunService:
    return services.runs


async def get_saved_content(services: ServicesDep) -> SavedContent:
    return services.saved


async def get_settings(services: ServicesDep) -> Settings:
    return services.settings


async def get_visitors(services: ServicesDep) -> Visitors:
    return services.visitors


GalleryDep = Annotated[Gallery, Depends(get_gallery)]
MatrixDep = Annotated[MatrixService, Depends(get_matrix)]
RunsDep = Annotated[RunService, Depends(get_runs)]
SavedDep = Annotated[SavedContent, Depends(get_saved_content)]
SettingsDep = Annotated[Settings, Depends(get_settings)]
VisitorsDep = Annotated[Visitors, Depends(get_visitors)]


async def get_client(request: Request, visitors: VisitorsDep) -> Client:
    return identify_client(request.scope, visitors.cookie_key, visitors.proxies)


ClientDep = Annotated[Client, Depends(get_client)]


async def disconnect_waiter(request: Request) -> Disconnected:
    async def wait_for_disconnect() -> None:
        message: Any = {}
        while message.get("type") != "http.disconnect":
            message = await request.receive()

    return wait_for_disconnect


DisconnectedDep = Annotated[Disconnected, Depends(disconnect_waiter)]
