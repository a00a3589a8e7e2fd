"""The database: an SQLite file, created when it is first written to, or a PostgreSQL. It is migrated when it is opened."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiosqlite
import asyncpg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from server.settings import SettingError
from server.wire.problems import ProblemError

MIGRATIONS = Path(__file__).parent / "migrations"
DATABASE_FILE = "gradbox.sqlite"
DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
BUSY_TIMEOUT = 30.0
"""Seconds for which a writer waits for one in another process."""

CONNECT_TIMEOUT = 10.0
"""Seconds for a connection to be made."""

ADVISORY_LOCK = 0x67726164
"""The key of PostgreSQL's advisory lock that writers hold."""

log = logging.getLogger("gradbox.store")


class StoreUnavailable(ProblemError):
    """The database does not answer, or answers with an error."""

    def __init__(self) -> None:
        super().__init__(503, "no_store", "the database can't be reached now", headers={"Retry-After": "5"})


class Database:
    """url: `DATABASE_URL`, or "" for a file in `folder`. Raises SettingError. To be used in one event loop.

    One transaction writes at a time, so what it reads before it writes is still true when it commits.
    """

    def __init__(self, url: str, folder: Path) -> None:
        address = parse_database_url(url, folder)
        self.embedded = address.get_backend_name() == "sqlite"
        self._file = Path(address.database or "") if self.embedded else None
        self._engine = create_engine(address, self.embedded)
        self._write_engine = self._engine.execution_options(gradbox_writes=True)
        self._write_lock, self._open_lock, self._is_open = asyncio.Lock(), asyncio.Lock(), False

    async def open_if_exists(self, create: bool = False) -> bool:
        """Open and migrate the database, if it is not open yet. Whether it exists. create: create it. Raises
        StoreUnavailable.
        """
        if self._is_open:
            return True
        async with self._open_lock:
            if not self._is_open:
                with translating_errors():
                    if self._file is not None and not self._file.exists():
                        if not create:
                            return False
                        self._file.parent.mkdir(parents=True, exist_ok=True)
                    await self.migrate_to("head")
                    self._is_open = True
        return True

    async def migrate_to(self, revision: str) -> None:
        """Migrate to a revision; concurrent migrations wait for each other."""
        async with self._write_engine.connect() as connection:
            if self.embedded:
                await enable_wal(connection)
            async with connection.begin():
                await self._lock_database(connection)
                await connection.run_sync(migrate_schema, revision)

    @asynccontextmanager
    async def reading_connection(self) -> AsyncIterator[AsyncConnection | None]:
        """A connection; None where no database exists yet. Raises StoreUnavailable."""
        if not await self.open_if_exists():
            yield None
            return
        with translating_errors():
            async with self._engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def writing_transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, committed unless the block raises. Raises StoreUnavailable."""
        await self.open_if_exists(create=True)
        with translating_errors():
            async with self._write_lock, self._write_engine.begin() as connection:
                await self._lock_database(connection)
                yield connection

    async def close(self) -> None:
        await self._engine.dispose()

    async def _lock_database(self, connection: AsyncConnection) -> None:
        if not self.embedded:  # in SQLite, BEGIN IMMEDIATE locks
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})


@contextmanager
def translating_errors() -> Iterator[None]:
    """Log errors of the database and its drivers, and raise StoreUnavailable instead."""
    try:
        yield
    except (SQLAlchemyError, CommandError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        log.error("the database: %s: %s", type(error).__name__, str(error).splitlines()[0][:300])
        raise StoreUnavailable from error


def parse_database_url(url: str, folder: Path) -> URL:
    """The database's URL with the installed driver for it. Raises SettingError."""
    if not url:
        return URL.create("sqlite+aiosqlite", database=str(folder / DATABASE_FILE))
    try:
        address = make_url(url)
    except ArgumentError:
        address = URL.create("")
    driver = DRIVERS.get(address.drivername)
    if driver is None or (driver.startswith("sqlite") and not address.database):
        raise SettingError("DATABASE_URL takes an address like postgresql://user:password@host/name")
    query = {"ssl" if name == "sslmode" else name: value for name, value in address.query.items()}
    return address.set(drivername=driver, query=query)


def create_engine(address: URL, embedded: bool) -> AsyncEngine:
    """Connections to a database. embedded: it is a SQLite file, which confirmed saves reach before they are confirmed."""
    if not embedded:
        return create_async_engine(address, pool_pre_ping=True, connect_args={"timeout": CONNECT_TIMEOUT})
    engine = create_async_engine(address, connect_args={"timeout": BUSY_TIMEOUT})

    @event.listens_for(engine.sync_engine, "connect")
    def configure_connection(connection: Any, _: Any) -> None:
        connection.isolation_level = (
            None  # the driver's own BEGIN comes too late, and not before every kind of statement
        )
        cursor = connection.cursor()
        # a confirmed save survives a power failure; what was removed is overwritten in the file
        for pragma in ("synchronous = FULL", "secure_delete = ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        writes = connection.get_execution_options().get("gradbox_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


async def enable_wal(connection: AsyncConnection) -> None:
    """Turn on SQLite's write-ahead log. Concurrent attempts fail at once, in spite of the busy timeout."""
    raw = await connection.get_raw_connection()
    driver: Any = raw.driver_connection
    for attempt in range(100):
        try:
            async with driver.execute("PRAGMA journal_mode = WAL"):
                return
        except aiosqlite.OperationalError as error:
            if attempt == 99 or "locked" not in str(error):
                raise
            await asyncio.sleep(0.05)


def migrate_schema(connection: Connection, revision: str) -> None:
    """Upgrade to `head`, or downgrade to another revision."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    if revision == "head":
        command.upgrade(config, revision)
    else:
        command.downgrade(config, revision)
