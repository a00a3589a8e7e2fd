"""Pools for tests, with a recorder that stands in: of this machine, and of workers elsewhere. A plugin, for its
fixtures."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from server.cluster.factories import create_pool
from server.pool.interface import PoolInterface
from server.pool.local import LocalPool
from server.settings import Settings
from server.store.database import Database
from tests.support.brokers import SECRET, STAND_IN
from tests.support.waiting import PATIENT

BOUNDS: dict[str, float] = {}
"""The limits of a test's jobs: a worker elsewhere does not know the settings of the pool."""


def local(work: Callable[[LocalPool], Awaitable[None]], **settings: float) -> None:
    """Do this with a pool of this machine."""
    pooled_by(lambda: LocalPool(Settings({}, sandbox="off", **(PATIENT | settings)), STAND_IN), work)


def pooled_by(create: Callable[[], Any], work: Callable[[Any], Awaitable[None]]) -> None:
    async def main() -> None:
        pool = create()
        await pool.start()
        try:
            await pool.wait_until_booted()
            await work(pool)
        finally:
            await pool.close()

    asyncio.run(main())


Pooled = Callable[..., None]
"""Does this with a pool, a function of one, that has these settings."""


@pytest.fixture(params=["local", "remote"])
def create(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., PoolInterface]:
    """Makes a pool with these settings."""
    if request.param == "local":
        return lambda **settings: LocalPool(Settings({}, sandbox="off", **(PATIENT | settings)), STAND_IN)
    url = request.getfixturevalue("remote_workers")
    return lambda **settings: create_pool(
        Settings({}, queue_url=url, secret=SECRET, **(PATIENT | settings)), Database("", tmp_path / "data")
    )


@pytest.fixture
def pooled(create: Callable[..., PoolInterface]) -> Pooled:
    """Each test with it is done twice: see the first lines of this file."""

    def with_pool(work: Callable[[PoolInterface], Awaitable[None]], **settings: float) -> None:
        limits = PATIENT | settings
        bounds = {name: limits[name] for name in ("wall", "trace") if name in limits}

        with patch.dict(BOUNDS, bounds):
            pooled_by(lambda: create(**settings), work)

    return with_pool
