"""The application: settings, pool, routes and the layers around them."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Response
from fastapi.staticfiles import StaticFiles

from server import __version__, clients, errors, log, settings_checks
from server.authentication import AuthenticationMiddleware, Authenticator
from server.language import scenarios
from server.metrics import Metrics
from server.pictures.renderer_client import Renderer
from server.pool.cache import Cache
from server.pool.executions import Executions, Result
from server.pool.fair_queue import Busy
from server.pool.local import Pool
from server.pool.zygote import ENTRY, WorkersUnavailable
from server.rate_limits import RateLimiter
from server.routes import api, embeds, exports, health, pages, saved_programs, session, status
from server.security import SecurityMiddleware
from server.settings import Settings
from server.store.database import Database, StoreUnavailable
from server.store.health import StoreHealth
from server.store.repository import Repository
from server.wire.api import Job

ROOT = Path(__file__).parent.parent
JSON_EXPANSION = 6
"""Bytes that JSON may need for one of the program: `\\u0000`."""


CLASSROOM_LIMIT = "3000/minute"
"""Runs of a class behind one address, and saves."""


class StaticAssets(StaticFiles):
    """The page's files; a frame in a sandbox is of no origin, and needs them as well."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        answer = super().file_response(*args, **kwargs)
        answer.headers.update({"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"})
        return answer


async def open_store(store: Repository) -> None:
    """Bring the database up to date now; where that fails, whoever needs it next tries again."""
    with contextlib.suppress(StoreUnavailable):
        await store.database.ensure_open()


async def trace_scenarios(app: FastAPI) -> None:
    """Run every scenario once, so that the first page comes with its picture."""
    settings = app.state.settings
    for scenario in app.state.shelf:
        try:
            trace = await app.state.pool.run(Job(source=scenario.source, limits=settings.limits()))
        except (Busy, WorkersUnavailable):
            continue
        if trace.outcome.status not in ("finished", "raised"):  # what the machine did to it is no picture to keep
            continue
        app.state.traces[scenario.name] = trace.json().decode()


def create_app(settings: Settings | None = None, entry: str = ENTRY) -> FastAPI:
    """The server. entry: another function than the recorder for the workers to run, for tests."""
    settings = settings or Settings()
    settings_checks.check(settings)
    log.configure()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.began = time.time()
        log.capture_uvicorn_errors()
        pool = app.state.pool = Pool(settings, entry)
        cache = Cache(settings.cache)
        database = Database(settings.database_url, Path(settings.data))
        store = app.state.store = Repository(database, settings.scenario, settings.quota)
        watch = app.state.watch = StoreHealth(store)
        metrics = app.state.metrics = Metrics(pool, cache, watch, settings.quota)

        def ended(job: Job, result: Result) -> None:
            metrics.ended(job, result)
            log.run_finished(job, result, settings.log_programs)

        executions = app.state.executions = Executions(pool, cache, settings.cache, ended)
        for setting, wrong in settings_checks.warnings(settings):
            log.setting_warning(setting, wrong)
        await pool.start()
        beginning = [asyncio.create_task(trace_scenarios(app)), asyncio.create_task(open_store(store))]
        drawings = app.state.drawings = Renderer(settings.pictures)
        yield
        for task in beginning:
            task.cancel()
        await asyncio.wait(beginning)
        await drawings.close()
        await executions.close()
        await pool.close()
        await watch.close()
        await database.close()

    root = urlsplit(settings.public_url).path.rstrip("/")
    app = FastAPI(
        title="Gradbox",
        version=__version__,
        summary="See what PyTorch does: paste a program, step through its memory and its gradients.",
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.settings = settings
    app.state.shelf = scenarios.load_scenarios(ROOT / "scenarios")
    app.state.traces = {}
    app.state.secret = clients.signing_key(settings.secret)
    app.state.proxies = clients.parse_networks(settings.trusted_proxies)
    limits = (settings.rate_limit, CLASSROOM_LIMIT if settings.classroom else settings.address_limit)
    app.state.rates = RateLimiter(*limits)
    saves = (settings.save_limit, CLASSROOM_LIMIT if settings.classroom else settings.save_address_limit)
    app.state.saves = RateLimiter(*saves, what="save", names=("SAVE_LIMIT", "SAVE_ADDRESS_LIMIT"))
    app.state.drawn = RateLimiter(
        settings.picture_limit, settings.picture_limit, what="picture", names=("PICTURE_LIMIT",) * 2
    )
    authenticator = app.state.authenticator = Authenticator(settings, app.state.secret)
    errors.install(app)
    routers = [routes.router for routes in (health, status, api, exports, embeds, saved_programs, pages)]
    if settings.password:
        routers.append(session.router)
    app.state.addresses = [route for router in routers for route in router.routes]
    for router in routers:
        app.include_router(router)
    app.mount("/static/dist", StaticAssets(directory=ROOT / "static/dist", check_dir=False), name="static")
    if authenticator.enabled:
        app.add_middleware(AuthenticationMiddleware, authenticator=authenticator)
    app.add_middleware(
        SecurityMiddleware, hosts=settings.hosts.split(","), largest=settings.source * JSON_EXPANSION + 4096, root=root
    )
    return app
