"""Saved programs in the database: finding, saving, removing, exporting and importing them."""

import asyncio
import base64
import gzip
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Row, case, func, insert, select, update
from sqlalchemy import text as sql
from sqlalchemy.ext.asyncio import AsyncConnection

from server.store.database import Database
from server.store.ids import candidate_ids, digest, is_plausible
from server.store.tables import saved_programs
from server.wire.problems import ProblemError
from server.wire.saved_programs import ArchiveRecord, Content, Versions
from server.wire.trace import Trace
from server.wire.upgrade import upgrade_gzip

PAGE_SIZE = 20
"""Rows that are read at a time."""

COLUMNS = saved_programs.c


class ProgramRemoved(ProblemError):
    """The host removed this program for good."""

    def __init__(self) -> None:
        super().__init__(410, "removed", "the host of this server has removed this program")


class ProgramTooLarge(ProblemError):
    """The program and its trace have more bytes than GRADBOX_SCENARIO allows."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(413, "too_large", f"the program has {size} bytes with its trace; {limit} are allowed")


class QuotaExceeded(ProblemError):
    """The saved programs have as many bytes as GRADBOX_QUOTA allows."""

    def __init__(self) -> None:
        super().__init__(507, "full", "this server has no space for more programs")


@dataclass(frozen=True)
class SavedProgram:
    """A program as it was saved. trace: gzipped JSON. created: milliseconds since 1970."""

    id: str
    digest: str
    created: int
    versions: Versions
    content: Content
    trace: bytes


@dataclass(frozen=True)
class ListEntry:
    """A program in a list. size: bytes. title: None where it was removed."""

    id: str
    created: int
    size: int
    title: str | None


@dataclass(frozen=True)
class StoreTotals:
    """The numbers of programs and of removed ones, and their size in bytes. revision: of the tables, None before any exist."""

    programs: int = 0
    removed: int = 0
    size: int = 0
    revision: str | None = None


class TraceCache(Protocol):
    """Traces that were read lately, by a key: whoever reads the same one at the same time shares its bytes."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, body: bytes) -> None: ...


class Repository:
    """largest: bytes of one program. quota: bytes of all."""

    def __init__(self, database: Database, largest: int, quota: int, traces: TraceCache | None = None) -> None:
        self.database, self._largest, self._quota, self._traces = database, largest, quota, traces

    async def find(self, id_: str) -> SavedProgram | None:
        """The program of this id, or None. Raises ProgramRemoved, StoreUnavailable."""
        return await self._find(COLUMNS.id == id_) if is_plausible(id_) else None

    async def find_content(self, text: str) -> SavedProgram | None:
        """The program with this canonical content, or None. Raises ProgramRemoved, StoreUnavailable."""
        return await self._find(COLUMNS.digest == digest(text))

    async def _find(self, condition: ColumnElement[bool]) -> SavedProgram | None:
        columns = (column for column in COLUMNS if column is not COLUMNS.trace)
        async with self.database.reading() as connection:
            row = connection and (await connection.execute(select(*columns).where(condition))).first()
            if not row:
                return None
            key = f"{row.digest} {row.created}"
            trace = self._traces.get(key) if self._traces is not None else None
            if row.removed is not None:
                raise ProgramRemoved
            if trace is None:
                assert connection is not None
                stored = (await connection.execute(select(COLUMNS.trace).where(COLUMNS.id == row.id))).scalar_one()
                if stored is None:  # since the first query
                    raise ProgramRemoved
                trace = await asyncio.to_thread(upgrade_gzip, bytes(stored))
                if self._traces is not None:
                    self._traces.put(key, trace)
        versions, content = Versions.model_validate_json(row.versions), Content.model_validate_json(row.content)
        return SavedProgram(row.id, row.digest, row.created, versions, content, trace)

    async def exists(self, id_: str) -> bool:
        """Whether this id was ever assigned, to a removed program as well. Raises StoreUnavailable."""
        async with self.database.reading() as connection:
            query = select(COLUMNS.id).where(COLUMNS.id == id_)
            return connection is not None and (await connection.execute(query)).first() is not None

    async def save(self, text: str, trace: bytes, versions: Versions) -> tuple[str, bool]:
        """Save a program; its id, and whether it is new. text: canonical content. trace: gzipped JSON.

        Raises ProgramRemoved, ProgramTooLarge, QuotaExceeded, StoreUnavailable.
        """
        size, hash_ = len(text) + len(trace), digest(text)
        if size > self._largest:
            raise ProgramTooLarge(size, self._largest)
        async with self.database.writing() as connection:
            query = select(COLUMNS.id, COLUMNS.removed).where(COLUMNS.digest == hash_)
            existing = (await connection.execute(query)).first()
            if existing is not None and existing.removed is not None:
                raise ProgramRemoved
            if existing is not None:
                return str(existing.id), False
            used = (await connection.execute(select(func.coalesce(func.sum(COLUMNS.size), 0)))).scalar_one()
            if int(used) + size > self._quota:
                raise QuotaExceeded
            id_ = await shortest_free_id(connection, hash_)
            row = {"id": id_, "digest": hash_, "created": now_ms(), "size": size, "content": text, "trace": trace}
            await connection.execute(insert(saved_programs).values(versions=versions.model_dump_json(), **row))
        return id_, True

    async def remove(self, id_: str, reason: str | None = None) -> bool:
        """Delete everything but the record of the removal. False where there is no such program. Raises StoreUnavailable."""
        if not await self.database.open_if_exists():
            return False
        tombstone: dict[str, Any] = {"content": None, "trace": None, "size": 0, "removed": now_ms(), "reason": reason}
        async with self.database.writing() as connection:
            statement = update(saved_programs).where(COLUMNS.id == id_, COLUMNS.removed.is_(None)).values(**tombstone)
            return (await connection.execute(statement)).rowcount == 1

    async def totals(self) -> StoreTotals:
        """Read from the index of sizes only, where a removed program has size 0. Raises StoreUnavailable."""
        tombstones = func.sum(case((COLUMNS.size == 0, 1), else_=0))
        query = select(func.count(), func.coalesce(tombstones, 0), func.coalesce(func.sum(COLUMNS.size), 0))
        async with self.database.reading() as connection:
            if connection is None:
                return StoreTotals()
            count, removed, size = (await connection.execute(query.select_from(saved_programs))).one()
            revision = (await connection.execute(sql("SELECT version_num FROM alembic_version"))).scalar_one_or_none()
        return StoreTotals(count - int(removed), int(removed), int(size), revision)

    async def entries(self) -> AsyncIterator[ListEntry]:
        """All programs, by id."""
        columns = (COLUMNS.id, COLUMNS.created, COLUMNS.size, COLUMNS.content)
        async for row in self._rows(*columns):
            title = Content.model_validate_json(row.content).title if row.content is not None else None
            yield ListEntry(row.id, row.created, row.size, title)

    async def records(self) -> AsyncIterator[ArchiveRecord]:
        """All programs for an archive, removed ones as well, by id."""
        async for row in self._rows(saved_programs):
            yield ArchiveRecord(
                trace=base64.b64encode(row.trace).decode() if row.trace is not None else None,
                versions=Versions.model_validate_json(row.versions),
                **{name: getattr(row, name) for name in ("id", "digest", "created", "content", "removed", "reason")},
            )

    async def import_records(self, records: Sequence[ArchiveRecord]) -> int:
        """Save records of an archive; the number of new ones. Programs that exist, or were removed, do not change.

        Raises ValueError for an invalid record, and for one whose id belongs to another content; then none is saved.
        """
        rows = [record_to_row(record) for record in records]
        count = 0
        async with self.database.writing() as connection:
            for row in rows:
                query = select(COLUMNS.id, COLUMNS.digest)
                query = query.where((COLUMNS.id == row["id"]) | (COLUMNS.digest == row["digest"]))
                existing = (await connection.execute(query)).all()
                if any((other.id, other.digest) != (row["id"], row["digest"]) for other in existing):
                    raise ValueError(
                        f"{row['id']}: this id belongs to another content in this database, or this content to another id"
                    )
                if not existing:
                    await connection.execute(insert(saved_programs).values(**row))
                    count += 1
        return count

    async def _rows(self, *columns: Any) -> AsyncIterator[Row[Any]]:
        last = ""
        while True:
            async with self.database.reading() as connection:
                if connection is None:
                    return
                query = select(*columns).where(COLUMNS.id > last).order_by(COLUMNS.id).limit(PAGE_SIZE)
                rows = (await connection.execute(query)).all()
            for row in rows:
                yield row
            if len(rows) < PAGE_SIZE:
                return
            last = rows[-1].id


def now_ms() -> int:
    return time.time_ns() // 1_000_000


async def shortest_free_id(connection: AsyncConnection, hash_: str) -> str:
    """The shortest id of this digest that no other content has."""
    candidates = list(candidate_ids(hash_))
    rows = await connection.execute(select(COLUMNS.id).where(COLUMNS.id.in_(candidates)))
    taken = {row.id for row in rows}
    return next(name for name in candidates if name not in taken)


def record_to_row(record: ArchiveRecord) -> dict[str, Any]:
    """The row of a record. Raises ValueError for an invalid one."""
    if record.id not in candidate_ids(record.digest):
        raise ValueError(f"{record.id}: this id does not follow from the digest")
    row = record.model_dump(exclude={"versions", "trace"})
    if record.removed is not None:
        row |= {"content": None, "trace": None, "size": 0}
    elif record.content is None or record.trace is None:
        raise ValueError(f"{record.id}: the content or the trace is missing, though the program was not removed")
    elif digest(record.content) != record.digest:
        raise ValueError(f"{record.id}: the content does not match the digest")
    else:
        Content.model_validate_json(record.content)
        trace = base64.b64decode(record.trace, validate=True)
        try:
            trace = upgrade_gzip(trace)
            Trace.model_validate_json(gzip.decompress(trace))
        except (OSError, EOFError, zlib.error):
            raise ValueError(f"{record.id}: the trace can't be decompressed") from None
        row |= {"trace": trace, "size": len(record.content) + len(trace)}
    return row | {"versions": record.versions.model_dump_json()}
