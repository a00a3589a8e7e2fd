"""What saved programs and series share in the database: storage by digest, ids, the quota, removal.

An id is a hash of the content, in characters that are hard to confuse and spell no words.
"""

import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Table, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gradbox.wire.base import RequestModel
from server.store.database import Database
from server.store.tables import CONTENT_TABLES
from server.wire.problems import ProblemError

ALPHABET = "256789dfhjkmnprtvwx"
"""No vowels, no digits that look like vowels (0, 1, 3, 4), and one of each group of similar characters."""

MIN_LENGTH, LENGTH_STEP = 10, 2
_MAX_LENGTH = 61
"""Characters that represent 256 bits."""

_ID_PATTERN = re.compile(f"[{ALPHABET}]{{{MIN_LENGTH},{_MAX_LENGTH}}}")


def canonical_json(content: RequestModel) -> str:
    """The content as canonical JSON in ASCII. Defaults are left out, so that a new field changes no digest."""
    content_fields = content.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps(content_fields, sort_keys=True, separators=(",", ":"))


def content_digest(text: str) -> str:
    """The SHA-256 of a canonical content, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def candidate_content_ids(digest: str) -> Iterator[str]:
    """The possible ids of a content, the shortest first. The content gets the first one that no other content has."""
    number, id_ = int(digest, 16), ""
    for _ in range(_MAX_LENGTH):
        number, remainder = divmod(number, len(ALPHABET))
        id_ += ALPHABET[remainder]
    yield from (id_[:length] for length in range(MIN_LENGTH, _MAX_LENGTH, LENGTH_STEP))
    yield id_


def is_well_formed_id(text: str) -> bool:
    """Whether a text has the form of an id."""
    return _ID_PATTERN.fullmatch(text) is not None


PAGE_SIZE = 20
"""Rows that are read at a time."""


class ContentRemoved(ProblemError):
    """The host has removed this content for good.

    content_name: `program` or `series`
    """

    def __init__(self, content_name: str) -> None:
        super().__init__(410, "removed", f"the host of this server has removed this {content_name}")


class QuotaExceeded(ProblemError):
    """All saved content together would exceed the bytes of GRADBOX_QUOTA."""

    def __init__(self) -> None:
        super().__init__(507, "full", "this server has no space for more programs")


class ContentStore:
    """One table of `tables.py`.

    content_name: what a row holds
    quota: bytes of all tables together
    """

    def __init__(self, database: Database, table: Table, content_name: str, quota: int) -> None:
        self.database, self._table, self._content_name, self._quota = database, table, content_name, quota

    async def was_id_assigned(self, id_: str) -> bool:
        """Whether this id was ever assigned, even to content that was removed. Raises StoreUnavailable."""
        async with self.database.reading_connection() as connection:
            query = select(self._table.c.id).where(self._table.c.id == id_)
            return connection is not None and (await connection.execute(query)).first() is not None

    async def remove_content(self, id_: str, reason: str | None = None) -> bool:
        """Delete everything except for the record of the removal. Returns False if there is no such row. Raises
        StoreUnavailable."""
        if not await self.database.open_if_exists():
            return False
        columns = self._table.c
        emptied = {name: None for name in ("content", "trace") if name in columns}
        tombstone: dict[str, Any] = {**emptied, "size": 0, "removed": now_ms(), "reason": reason}
        async with self.database.writing_transaction() as connection:
            statement = update(self._table).where(columns.id == id_, columns.removed.is_(None)).values(**tombstone)
            return (await connection.execute(statement)).rowcount == 1

    async def _save_content(self, text: str, size: int, **values: Any) -> tuple[str, bool]:
        """Save a content. Returns its id, and whether it is new. Raises ContentRemoved, QuotaExceeded and
        StoreUnavailable.

        text: canonical
        size: bytes of the row
        values: of further columns
        """
        columns, hash_ = self._table.c, content_digest(text)
        async with self.database.writing_transaction() as connection:
            query = select(columns.id, columns.removed).where(columns.digest == hash_)
            existing = (await connection.execute(query)).first()
            if existing is not None and existing.removed is not None:
                raise ContentRemoved(self._content_name)
            if existing is not None:
                return str(existing.id), False
            if await sum_stored_content_bytes(connection) + size > self._quota:
                raise QuotaExceeded
            id_ = await self._shortest_free_id(connection, hash_)
            row = {"id": id_, "digest": hash_, "created": now_ms(), "size": size, "content": text}
            await connection.execute(insert(self._table).values(**row, **values))
        return id_, True

    async def _import_rows(self, rows: Sequence[dict[str, Any]]) -> int:
        """Save rows of an archive. Returns the number of new ones; existing and removed contents do not change.

        Raises ValueError if an id belongs to another content; then nothing is saved.
        """
        columns, count = self._table.c, 0
        async with self.database.writing_transaction() as connection:
            for row in rows:
                query = select(columns.id, columns.digest)
                query = query.where((columns.id == row["id"]) | (columns.digest == row["digest"]))
                existing = (await connection.execute(query)).all()
                if any((other.id, other.digest) != (row["id"], row["digest"]) for other in existing):
                    raise ValueError(
                        f"{row['id']}: this id belongs to another content in this database, or this content to another "
                        "id"
                    )
                if not existing:
                    await connection.execute(insert(self._table).values(**row))
                    count += 1
        return count

    async def _iterate_rows(self, *columns: Any) -> AsyncIterator[Row[Any]]:
        last, id_ = "", self._table.c.id
        while True:
            async with self.database.reading_connection() as connection:
                if connection is None:
                    return
                rows = (
                    await connection.execute(select(*columns).where(id_ > last).order_by(id_).limit(PAGE_SIZE))
                ).all()
            for row in rows:
                yield row
            if len(rows) < PAGE_SIZE:
                return
            last = rows[-1].id

    async def _shortest_free_id(self, connection: AsyncConnection, hash_: str) -> str:
        """The shortest id of this digest that no other content has."""
        candidates = list(candidate_content_ids(hash_))
        id_ = self._table.c.id
        used = {row.id for row in await connection.execute(select(id_).where(id_.in_(candidates)))}
        return next(name for name in candidates if name not in used)


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def iso_time(milliseconds: int) -> str:
    """A time in milliseconds since 1970 as ISO 8601, UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


async def sum_stored_content_bytes(connection: AsyncConnection) -> int:
    """The bytes of all saved content, from the indexes of sizes alone."""
    sums = [select(func.coalesce(func.sum(table.c.size), 0)) for table in CONTENT_TABLES]
    return sum([int((await connection.execute(query)).scalar_one()) for query in sums])


def require_consistent_record(id_: str, hash_: str, content: str | None, is_removed: bool) -> None:
    """Raise ValueError if an archive's id, digest and content do not fit together."""
    if id_ not in candidate_content_ids(hash_):
        raise ValueError(f"{id_}: this id does not follow from the digest")
    if content is not None and not is_removed and content_digest(content) != hash_:
        raise ValueError(f"{id_}: the content does not match the digest")
