"""Saved programs in the database: finding, saving, removing, exporting and importing them."""

import asyncio
import base64
import gzip
import secrets
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import ColumnElement, case, delete, func, insert, select, update
from sqlalchemy import text as sql

from gradbox.wire.schema import upgrade_gzipped_trace
from gradbox.wire.trace import Trace
from server.store.contents import (
    ContentRemoved,
    ContentStore,
    QuotaExceeded,
    canonical_json,
    content_digest,
    is_well_formed_id,
    now_ms,
    require_consistent_record,
    sum_stored_content_bytes,
)
from server.store.database import Database
from server.store.tables import run_lines, saved_programs
from server.wire.problems import ProblemError
from server.wire.saved_programs import ArchiveRecord, Content, Versions

COLUMNS = saved_programs.c

MAX_TITLES = 10_000
"""Titles that are kept in memory."""

WRITE_CHECK_BYTES = 8192
"""Bytes that are written to check whether writing is possible."""


class ProgramTooLarge(ProblemError):
    """The program and its trace have more bytes than GRADBOX_SCENARIO allows."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(413, "too_large", f"the program has {size} bytes with its trace; {limit} are allowed")


@dataclass(frozen=True)
class SavedProgram:
    """A program as it was saved.

    trace: gzipped JSON
    created: milliseconds since 1970
    """

    id: str
    digest: str
    created: int
    versions: Versions
    content: Content
    trace: bytes

    @property
    def trace_name(self) -> str:
        """The name of its trace. A better one that takes its place has another name."""
        return f"{self.digest} {self.created}"


@dataclass(frozen=True)
class ListEntry:
    """A program in a list.

    size: bytes
    title: None if it was removed
    """

    id: str
    created: int
    size: int
    title: str | None


@dataclass(frozen=True)
class StoreTotals:
    """The numbers of saved and removed programs, and the bytes of programs and series.

    revision: of the tables; None before they exist
    """

    programs: int = 0
    removed: int = 0
    size: int = 0
    revision: str | None = None


class TraceCache(Protocol):
    """Recently read traces by key. Callers that read the same trace at the same time share its bytes."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, body: bytes) -> None: ...


class ProgramRepository(ContentStore):
    """The saved programs in the database.

    max_program_bytes: bytes of one program
    quota: bytes of all programs and series
    """

    def __init__(
        self, database: Database, max_program_bytes: int, quota: int, traces: TraceCache | None = None
    ) -> None:
        super().__init__(database, saved_programs, "program", quota)
        self._max_program_bytes, self._traces = max_program_bytes, traces
        self._titles: dict[str, str] = {}  # of programs that were listed lately; a title never changes

    async def find_program(self, id_: str) -> SavedProgram | None:
        """The program of this id, or None. Raises ContentRemoved, StoreUnavailable."""
        return await self._find_program_where(COLUMNS.id == id_) if is_well_formed_id(id_) else None

    async def find_program_with_content(self, text: str) -> SavedProgram | None:
        """The program with this canonical content, or None. Raises ContentRemoved, StoreUnavailable."""
        return await self._find_program_where(COLUMNS.digest == content_digest(text))

    async def _find_program_where(self, condition: ColumnElement[bool]) -> SavedProgram | None:
        columns = (column for column in COLUMNS if column is not COLUMNS.trace)
        async with self.database.reading_connection() as connection:
            row = connection and (await connection.execute(select(*columns).where(condition))).first()
            if not row:
                return None
            key = f"{row.digest} {row.created}"
            trace = self._traces.get(key) if self._traces is not None else None
            if row.removed is not None:
                raise ContentRemoved(self._content_name)
            if trace is None:
                assert connection is not None
                stored = (await connection.execute(select(COLUMNS.trace).where(COLUMNS.id == row.id))).scalar_one()
                if stored is None:  # since the first query
                    raise ContentRemoved(self._content_name)
                trace = await asyncio.to_thread(upgrade_gzipped_trace, bytes(stored))
                if self._traces is not None:
                    self._traces.put(key, trace)
        versions, content = Versions.model_validate_json(row.versions), Content.model_validate_json(row.content)
        return SavedProgram(row.id, row.digest, row.created, versions, content, trace)

    async def find_titles(self, ids: Iterable[str]) -> dict[str, str | None]:
        """The titles of those programs that exist; None for a removed one. Raises StoreUnavailable."""
        async with self.database.reading_connection() as connection:
            if connection is None:
                return {}
            query = select(COLUMNS.id, COLUMNS.removed).where(COLUMNS.id.in_(sorted(set(ids))))
            rows = (await connection.execute(query)).all()
            unread = [row.id for row in rows if row.removed is None and row.id not in self._titles]
            query = select(COLUMNS.id, COLUMNS.content).where(COLUMNS.id.in_(unread), COLUMNS.removed.is_(None))
            read = (await connection.execute(query)).all() if unread else []
        fresh = {row.id: Content.model_validate_json(row.content).title for row in read}
        titles = {
            row.id: None if row.removed is not None else fresh.get(row.id, self._titles.get(row.id)) for row in rows
        }
        self._titles |= fresh
        for id_ in list(self._titles)[: max(0, len(self._titles) - MAX_TITLES)]:
            del self._titles[id_]
        return titles

    async def save_program(self, text: str, trace: bytes, versions: Versions) -> tuple[str, bool]:
        """Save a program. Returns its id, and whether it is new. Raises ContentRemoved, ProgramTooLarge, QuotaExceeded
        and StoreUnavailable.

        text: canonical content
        trace: gzipped JSON
        """
        size = len(text) + len(trace)
        if size > self._max_program_bytes:
            raise ProgramTooLarge(size, self._max_program_bytes)
        return await self._save_content(text, size, trace=trace, versions=versions.model_dump_json())

    async def replace_trace(self, program: SavedProgram, trace: bytes, versions: Versions) -> bool:
        """Replace a program's trace as if it had been saved now. Returns whether that was done; it is not if the
        program was removed, or has another trace by now. Raises ProgramTooLarge, QuotaExceeded and StoreUnavailable."""
        size = len(canonical_json(program.content)) + len(trace)
        if size > self._max_program_bytes:
            raise ProgramTooLarge(size, self._max_program_bytes)
        values = {"trace": trace, "versions": versions.model_dump_json(), "created": max(now_ms(), program.created + 1)}
        same = (COLUMNS.id == program.id, COLUMNS.created == program.created, COLUMNS.removed.is_(None))
        async with self.database.writing_transaction() as connection:
            old = (await connection.execute(select(COLUMNS.size).where(*same))).scalar_one_or_none()
            if old is None:
                return False
            if await sum_stored_content_bytes(connection) + size - old > self._quota:
                raise QuotaExceeded
            await connection.execute(update(saved_programs).where(*same).values(size=size, **values))
        return True

    async def read_totals(self) -> StoreTotals:
        """Read the totals from the index of sizes only, where a removed program has size 0. Raises StoreUnavailable."""
        tombstones = func.sum(case((COLUMNS.size == 0, 1), else_=0))
        query = select(func.count(), func.coalesce(tombstones, 0))
        async with self.database.reading_connection() as connection:
            if connection is None:
                return StoreTotals()
            count, removed = (await connection.execute(query.select_from(saved_programs))).one()
            size = await sum_stored_content_bytes(connection)
            revision = (await connection.execute(sql("SELECT version_num FROM alembic_version"))).scalar_one_or_none()
        return StoreTotals(count - int(removed), int(removed), size, revision)

    async def check_writable(self) -> None:
        """Write something and remove it. Raises StoreUnavailable if that fails, or if there is no room for a program.

        Does not create a database.
        """
        self.database.require_disk_space(self._max_program_bytes)
        if not await self.database.open_if_exists():
            return
        name, now = f"health {secrets.token_hex(8)}", now_ms()
        async with self.database.writing_transaction() as connection:
            await connection.execute(insert(run_lines).values(run=name, created=now, lines=bytes(WRITE_CHECK_BYTES)))
            await connection.execute(delete(run_lines).where(run_lines.c.run == name))

    async def iterate_list_entries(self) -> AsyncIterator[ListEntry]:
        """Yield all programs, by id."""
        columns = (COLUMNS.id, COLUMNS.created, COLUMNS.size, COLUMNS.content)
        async for row in self._iterate_rows(*columns):
            title = Content.model_validate_json(row.content).title if row.content is not None else None
            yield ListEntry(row.id, row.created, row.size, title)

    async def iterate_archive_records(self) -> AsyncIterator[ArchiveRecord]:
        """Yield all programs for an archive, including removed ones, by id."""
        async for row in self._iterate_rows(saved_programs):
            yield ArchiveRecord(
                trace=base64.b64encode(row.trace).decode() if row.trace is not None else None,
                versions=Versions.model_validate_json(row.versions),
                **{name: getattr(row, name) for name in ("id", "digest", "created", "content", "removed", "reason")},
            )

    async def import_archive_records(self, records: Sequence[ArchiveRecord]) -> int:
        """Save records of an archive. Returns the number of new ones; existing and removed programs do not change.

        Raises ValueError for an invalid record, and if an id belongs to another content; then nothing is saved.
        """
        return await self._import_rows([record_to_row(record) for record in records])


def record_to_row(record: ArchiveRecord) -> dict[str, Any]:
    """The row of a record. Raises ValueError for an invalid one."""
    require_consistent_record(record.id, record.digest, record.content, record.removed is not None)
    row = record.model_dump(exclude={"versions", "trace"})
    if record.removed is not None:
        row |= {"content": None, "trace": None, "size": 0}
    elif record.content is None or record.trace is None:
        raise ValueError(f"{record.id}: the content or the trace is missing, though the program was not removed")
    else:
        Content.model_validate_json(record.content)
        trace = base64.b64decode(record.trace, validate=True)
        try:
            trace = upgrade_gzipped_trace(trace)
            Trace.model_validate_json(gzip.decompress(trace))
        except (OSError, EOFError, zlib.error):
            raise ValueError(f"{record.id}: the trace can't be decompressed") from None
        row |= {"trace": trace, "size": len(record.content) + len(trace)}
    return row | {"versions": record.versions.model_dump_json()}
