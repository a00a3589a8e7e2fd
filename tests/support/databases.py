"""Where a test's database is: an SQLite file in a folder, or one of a real PostgreSQL. A plugin, for its fixtures."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server.store.database import Database
from server.store.repository import ProgramRepository
from tests.support import postgres

Work = Callable[[ProgramRepository], Awaitable[Any]]


@dataclass(frozen=True)
class DatabaseConfig:
    """Where a database is, or will be, as the settings say it."""

    url: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.url, "GRADBOX_DATA": str(self.folder)}

    @asynccontextmanager
    async def open(self, largest: int = 10**6, quota: int = 10**9) -> AsyncIterator[ProgramRepository]:
        database = Database(self.url, self.folder)
        try:
            yield ProgramRepository(database, largest, quota)
        finally:
            await database.close()

    def do(self, work: Work, **bounds: int) -> Any:
        async def with_repository() -> Any:
            async with self.open(**bounds) as store:
                return await work(store)

        return asyncio.run(with_repository())


DatabaseFactory = Callable[[str], DatabaseConfig]
"""Configures a new, empty database of a kind: sqlite or postgresql."""


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[], str]]:
    """The address of a PostgreSQL, started when it is first asked for."""
    running: list[Any] = []

    def address() -> str:
        if not running:
            where = postgres.programs()
            if where is None:
                pytest.skip("no PostgreSQL on this machine")
            running.append(postgres.running(where))
            running.append(running[0].__enter__())
        return str(running[1])

    yield address
    if running:
        running[0].__exit__(None, None, None)


@pytest.fixture(scope="session")
def new_database(servers: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> DatabaseFactory:
    """Configures a new, empty database of a kind."""
    numbers = itertools.count()

    def configure(kind: str) -> DatabaseConfig:
        folder = tmp_path_factory.mktemp("data") / "new"
        return DatabaseConfig(postgres.database(servers(), f"t{next(numbers)}") if kind == "postgresql" else "", folder)

    return configure
