"""The application: settings, pool, routes and the layers around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from server import __version__, errors
from server.headers import Headers
from server.pool.local import Pool
from server.routes import api, health, pages
from server.settings import Settings

STATIC = Path(__file__).parent.parent / "static"
OVERHEAD = 6
"""Bytes that JSON may need for one of the program: `\\u0000`."""


def create_app(settings: Settings | None = None, entry: str | None = None) -> FastAPI:
    """The server. entry: another function than the recorder for the workers to run, for tests."""
    settings = settings or Settings()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.pool = Pool(settings, entry)
        await app.state.pool.start()
        yield
        await app.state.pool.close()

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
    errors.install(app)
    for routes in (health, api, pages):
        app.include_router(routes.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Headers, hosts=settings.hosts.split(","), largest=settings.source * OVERHEAD + 4096)
    return app
