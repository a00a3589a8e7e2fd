"""The database: an SQLite file, created at the first write, or PostgreSQL. It is migrated when it is opened."""

import asyncio
import logging
import os
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import aiosqlite
import asyncpg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from server.settings import SettingError
from server.throttled_log import ThrottledLog
from server.wire.problems import ProblemError

MIGRATIONS = Path(__file__).parent / "migrations"
DATABASE_FILE = "gradbox.sqlite"
DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
STATEMENT_TIMEOUT = 4.0
"""Seconds for one statement of the server, including the wait for a lock of another process."""

LONG_STATEMENT_TIMEOUT = 600.0
"""The same for commands that a host runs, and for migrations of PostgreSQL."""

FILE_MIGRATION_TIMEOUT = 8.0
"""The same for migrations of an SQLite file; the next request tries again."""

CONNECT_TIMEOUT = 3.0
"""Seconds for a connection to be made."""

OPEN_TIMEOUT = 4.0
"""Seconds for which a request waits until the database is opened and migrated; that goes on afterwards."""

STALLED_AFTER = 4.0
"""Seconds for which a request waits for a connection, or for its turn to write, while no other request in this process
makes progress."""

CLOSE_TIMEOUT = 3.0
"""Seconds for closing connections properly."""

POLL_INTERVAL = 0.5
"""Seconds between two checks whether others make progress."""

RETRY_INTERVAL = 1.0
"""Seconds after the database failed to answer in which no request waits for it."""

IDLE_TRANSACTION_TIMEOUT = 30_000
"""Milliseconds after which PostgreSQL ends an idle transaction, which may hold the lock of writers."""

WRITERS_LOCK_KEY = 0x67726164
"""The key of the PostgreSQL advisory lock that writers hold."""

Result = TypeVar("Result")

_MIGRATING = threading.Lock()

log = logging.getLogger("gradbox.store")


class StoreUnavailable(ProblemError):
    """The database does not answer, or answers with an error.

    why: the reason that clients are told
    """

    def __init__(self, why: str = "the database can't be reached now") -> None:
        super().__init__(503, "no_store", why, headers={"Retry-After": "5"})


class EmptiedDatabase(OSError):
    """The file exists but is empty, which no server leaves behind."""


class DatabaseReplaced(OSError):
    """The file is not the one that was opened: it was removed or replaced."""


class DiskFull(OSError):
    """The disk has no room for the largest content that may be saved."""


PROBLEM_WORDS = {
    "locked": "the database is locked by another process",
    "disk is full": "the disk of the database is full",
    "No space left": "the disk of the database is full",
    "readonly": "the database can't be written to",
    "malformed": "the file of the database is damaged",
    "not a database": "the file of the database is damaged",
}
"""What clients are told for an error whose driver message contains these words."""


def describe_problem(error: BaseException) -> str:
    """What clients are told about an error of the database: the cause, without names of hosts and files."""
    if isinstance(error, TimeoutError):
        return "the database does not answer"
    if isinstance(error, EmptiedDatabase):
        return "the file of the database is empty; the host of this server has to restore it"
    if isinstance(error, DatabaseReplaced):
        return "the file of the database was removed or replaced; the host of this server has to start it again"
    if isinstance(error, DiskFull) or type(getattr(error, "orig", None) or error).__name__.endswith("DiskFullError"):
        return PROBLEM_WORDS["disk is full"]
    return next(
        (told for words, told in PROBLEM_WORDS.items() if words in str(error)), "the database can't be reached now"
    )


class Database:
    """The connection to the database, for use in one event loop. Raises SettingError.

    Only one transaction writes at a time, so what it reads before it writes is still true when it commits. No request
    waits long for a database that does not answer: see the constants of this module.

    failures: how often the database did not answer, or answered with an error
    url: `DATABASE_URL`, or "" for a file in `folder`
    statement_timeout: seconds for one statement
    """

    def __init__(self, url: str, folder: Path, statement_timeout: float = STATEMENT_TIMEOUT) -> None:
        self._address = parse_database_url(url, folder)
        self.embedded = self._address.get_backend_name() == "sqlite"
        self._file = Path(self._address.database or "") if self.embedded else None
        self._engine = create_engine(self._address, statement_timeout)
        self._write_engine = self._engine.execution_options(gradbox_writes=True)
        self._write_lock, self._is_open = asyncio.Lock(), False
        self._opening: asyncio.Task[bool] | None = None
        self._identity: tuple[int, int] | None = None
        self._progressed_at = self._down_until = -1e9  # as `time.monotonic`
        self._throttled_log = ThrottledLog(log)
        self.failures = 0

    def require_database_not_emptied(self) -> None:
        """Raise SettingError if the file was emptied; it would otherwise be taken for a new one."""
        if self._file is not None and is_emptied(self._file):
            raise SettingError(
                f"{self._file} is empty: the saved programs that were in it are gone. Put a backup in its place"
                " (docs/hosting.md, Backup and restore), or, if nothing was saved yet, remove the file"
            )

    async def open_if_exists(self, create: bool = False) -> bool:
        """Open and migrate the database if that has not happened yet. Returns whether it exists. Raises
        StoreUnavailable, also if it takes long; opening goes on then.

        create: create the database if it does not exist
        """
        while not self._is_open:
            if self._opening is None:
                self._opening = asyncio.create_task(self._open(create))
                self._opening.add_done_callback(self._forget_opening)
            opening = self._opening
            with self._translating_errors():
                done, _ = await asyncio.wait({opening}, timeout=OPEN_TIMEOUT)
                if not done:
                    raise TimeoutError
                if not opening.result() and not create:
                    return False
        return True

    def _forget_opening(self, opening: asyncio.Task[bool]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # each who waits for it is told; there may be none

    async def _open(self, create: bool) -> bool:
        """Open the database. Returns whether it exists."""
        if self._file is not None:
            if is_emptied(self._file):
                raise EmptiedDatabase(str(self._file))
            if not self._file.exists():
                if not create:
                    return False
                await self._create_file(self._file)
        await self.migrate_to("head")
        self._identity = file_identity(self._file)
        self._is_open = True
        return True

    def _require_same_database_file(self) -> None:
        """Raise OSError if the file is not the one that was opened; what is written to that one would be lost."""
        if self._file is None:
            return
        if is_emptied(self._file):
            raise EmptiedDatabase(str(self._file))
        if file_identity(self._file) != self._identity:
            raise DatabaseReplaced(str(self._file))

    async def _create_file(self, file: Path) -> None:
        """Create the file with all tables in one step, so that nobody finds an empty one whenever this process ends."""
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{file.name}-", dir=file.parent) as folder:
            draft = Database("", Path(folder))
            try:
                await draft.migrate_to("head")
            finally:
                await draft.close()
            await asyncio.to_thread(move_unless_exists, Path(folder) / DATABASE_FILE, file)

    async def migrate_to(self, revision: str) -> None:
        """Migrate to a revision; concurrent migrations wait for each other."""
        engine = create_engine(self._address, FILE_MIGRATION_TIMEOUT if self.embedded else LONG_STATEMENT_TIMEOUT)
        try:
            async with engine.execution_options(gradbox_writes=True).connect() as connection:
                if self.embedded:
                    await enable_wal(connection)
                async with connection.begin(), one_migration_at_a_time():
                    await self._lock_database(connection)
                    await connection.run_sync(migrate_schema, revision)
        finally:
            await engine.dispose()

    @asynccontextmanager
    async def reading_connection(self) -> AsyncIterator[AsyncConnection | None]:
        """A connection for reading; None if the database does not exist yet. Raises StoreUnavailable."""
        if not await self.open_if_exists():
            yield None
            return
        with self._translating_errors():
            async with self._connect(self._engine) as connection:
                yield connection

    @asynccontextmanager
    async def writing_transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction for writing, committed unless the block raises. Raises StoreUnavailable."""
        await self.open_if_exists(create=True)
        with self._translating_errors():
            await self._wait_while_others_advance(self._write_lock.acquire(), lambda _: self._write_lock.release())
            try:
                async with self._connect(self._write_engine, writes=True) as connection:
                    yield connection
            finally:
                self._write_lock.release()

    def require_disk_space(self, needed: int) -> None:
        """Raise StoreUnavailable if the disk of an SQLite file has less than this many bytes left."""
        if self._file is None:
            return
        with self._translating_errors():
            folder = next(path for path in self._file.absolute().parents if path.exists())
            if shutil.disk_usage(folder).free < needed:
                raise DiskFull(f"the disk of {self._file} is full")

    async def close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening}, timeout=CLOSE_TIMEOUT)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await self._engine.dispose()

    @asynccontextmanager
    async def _connect(self, engine: AsyncEngine, writes: bool = False) -> AsyncIterator[AsyncConnection]:
        """A connection. If a statement takes too long, it is closed at once.

        writes: for a transaction that writes, one at a time
        """
        self._require_same_database_file()
        connecting = engine.connect().start()
        connection = await self._wait_while_others_advance(connecting, lambda late: asyncio.ensure_future(late.close()))
        try:
            if writes:
                await connection.begin()
                await self._lock_database(connection)
            yield connection
            if writes:
                self._require_same_database_file()
                await connection.commit()
            self._progressed_at = time.monotonic()
        except TimeoutError:
            await abandon_connection(connection)
            raise
        finally:  # which rolls back what is not committed
            await asyncio.shield(asyncio.ensure_future(connection.close()))

    async def _wait_while_others_advance(
        self, work: Coroutine[Any, Any, Result], undo: Callable[[Result], object]
    ) -> Result:
        """Wait for the result of work that needs its turn. Raises TimeoutError if no other work in this process has
        made progress for a while.

        undo: called with a result that comes too late
        """
        task, began = asyncio.ensure_future(work), time.monotonic()
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=POLL_INTERVAL)
                if not task.done() and time.monotonic() - max(began, self._progressed_at) > STALLED_AFTER:
                    raise TimeoutError
        except BaseException:
            task.add_done_callback(
                lambda late: undo(late.result()) if not late.cancelled() and not late.exception() else None
            )
            task.cancel()
            raise
        return task.result()

    async def _lock_database(self, connection: AsyncConnection) -> None:
        if not self.embedded:  # in SQLite, BEGIN IMMEDIATE locks
            lock = "SELECT set_config('idle_in_transaction_session_timeout', :idle, true), pg_advisory_xact_lock(:key)"
            await connection.execute(text(lock), {"idle": str(IDLE_TRANSACTION_TIMEOUT), "key": WRITERS_LOCK_KEY})

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Log errors of the database and its drivers, and raise StoreUnavailable instead. After the database failed to
        answer, no request waits for it for a moment."""
        if time.monotonic() < self._down_until:
            error = TimeoutError("it did not answer just now")
            raise StoreUnavailable(describe_problem(error)) from error
        try:
            yield
        except (SQLAlchemyError, CommandError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            self.failures += 1
            if isinstance(error, TimeoutError) and not self.embedded:
                self._down_until = time.monotonic() + RETRY_INTERVAL
            first = (str(error).splitlines() or [""])[0]
            self._throttled_log.error(f"the database: {type(error).__name__}", first)
            raise StoreUnavailable(describe_problem(error)) from error


def is_emptied(file: Path) -> bool:
    """Whether the file exists and is empty."""
    try:
        return file.stat().st_size == 0
    except OSError:
        return False


def file_identity(file: Path | None) -> tuple[int, int] | None:
    """The device and inode number of a file; None if it does not exist."""
    try:
        facts = file.stat() if file is not None else None
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino) if facts is not None else None


def move_unless_exists(draft: Path, file: Path) -> None:
    """Give a file its name unless another process was quicker, and flush that to the disk. Raises OSError."""
    try:
        os.link(draft, file)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not file.exists():
            draft.rename(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


async def abandon_connection(connection: AsyncConnection) -> None:
    """Close a connection that does not answer, without notifying the other side."""
    with suppress(Exception):
        raw = await connection.get_raw_connection()
        driver: Any = raw.driver_connection
        if isinstance(driver, asyncpg.Connection):
            driver.terminate()
        await connection.invalidate()


def parse_database_url(url: str, folder: Path) -> URL:
    """The database's URL with the installed driver. Raises SettingError."""
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


def create_engine(address: URL, statement_timeout: float) -> AsyncEngine:
    """Create the connections to a database. What an SQLite file confirms is on the disk.

    statement_timeout: seconds for a statement
    """
    if address.get_backend_name() != "sqlite":
        timeouts = {"timeout": CONNECT_TIMEOUT, "command_timeout": statement_timeout}
        return create_async_engine(address, pool_pre_ping=True, connect_args=timeouts)
    engine = create_async_engine(address, connect_args={"timeout": statement_timeout})

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


@asynccontextmanager
async def one_migration_at_a_time() -> AsyncIterator[None]:
    """Allow one migration at a time in this process, because Alembic supports only one, of whatever database."""
    while not _MIGRATING.acquire(blocking=False):
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        _MIGRATING.release()


def migrate_schema(connection: Connection, revision: str) -> None:
    """Upgrade to `head`, or downgrade to another revision."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    if revision == "head":
        command.upgrade(config, revision)
    else:
        command.downgrade(config, revision)
