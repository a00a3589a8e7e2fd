"""The application: services, routes, and the middleware around them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
from fastapi import FastAPI, Response
from fastapi.staticfiles import StaticFiles

from gradbox.wire.api import MAX_INPUT
from server import PROJECT_FOLDER, __version__, errors
from server.http.documentation import DocumentationFiles
from server.http.security import SecurityMiddleware
from server.middleware import AuthenticationMiddleware, HttpMetricsMiddleware, RequestRateMiddleware
from server.operating import log, settings_checks
from server.pool.zygote import PREPARE_FUNCTION
from server.routes import (
    api,
    builder,
    compare,
    embeds,
    exports,
    gallery,
    matrix,
    operating,
    pages,
    saved_programs,
    series,
    session,
)
from server.services import create_services, get_services
from server.settings import Settings

JSON_EXPANSION = 6
"""The most bytes that JSON needs for one byte of a program, as in `\\u0000`."""


ROUTES = (operating, api, exports, embeds, saved_programs, series, pages, gallery, matrix, builder, compare)


class StaticAssets(StaticFiles):
    """The page's scripts and styles, served to any origin because a sandboxed frame has none."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update({"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"})
        return response


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    log.capture_uvicorn_errors()
    services = get_services({"app": app})
    # its first use imports what a streamed response runs on: 20 ms, for which the first request for one would wait
    await asyncio.to_thread(anyio.run, anyio.sleep, 0)
    await services.start()
    yield
    await services.close()


def create_app(settings: Settings | None = None, prepare: str = PREPARE_FUNCTION) -> FastAPI:
    """Create the application. Raises SettingError.

    prepare: the `module:function` that makes workers ready to run programs; tests pass their own
    """
    settings = settings or Settings()
    settings_checks.check_settings(settings)
    log.configure_logging()
    app = FastAPI(
        title="Gradbox",
        version=__version__,
        summary="See what PyTorch does: paste a program, step through its memory and its gradients.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    services = app.state.services = create_services(settings, prepare)
    routers = [routes.router for routes in ROUTES]
    if settings.password:
        routers.append(session.router)
    for router in routers:
        app.include_router(router)
    app.state.routes = [route for router in routers for route in router.routes]
    errors.install_error_handlers(app, app.state.routes)
    app.mount("/static/dist", StaticAssets(directory=PROJECT_FOLDER / "static/dist", check_dir=False), name="static")
    app.mount("/docs", DocumentationFiles(), name="docs")
    if services.visitors.authenticator.is_enabled:
        app.add_middleware(AuthenticationMiddleware, authenticator=services.visitors.authenticator)
    app.add_middleware(
        RequestRateMiddleware, limits=services.visitors.limits.requests, proxies=services.visitors.proxies
    )
    app.add_middleware(
        SecurityMiddleware,
        hosts=settings.hosts.split(","),
        max_body=(settings.source + MAX_INPUT) * JSON_EXPANSION + 4096,
        root=urlsplit(settings.public_url).path.rstrip("/"),
    )
    app.add_middleware(HttpMetricsMiddleware, metrics=services.metrics)
    return app
