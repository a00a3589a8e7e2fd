"""Series in the database: finding, saving, removing, exporting and importing them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from server.store.contents import ContentRemoved, ContentStore, is_well_formed_id, require_consistent_record
from server.store.database import Database
from server.store.repository import ListEntry
from server.store.tables import series
from server.wire.saved_programs import SeriesContent, SeriesRecord

COLUMNS = series.c


@dataclass(frozen=True)
class SavedSeries:
    """A series as it was saved.

    created: milliseconds since 1970
    """

    id: str
    digest: str
    created: int
    content: SeriesContent


class SeriesStore(ContentStore):
    """The series in the database.

    quota: bytes of all programs and series
    """

    def __init__(self, database: Database, quota: int) -> None:
        super().__init__(database, series, "series", quota)

    async def find_series(self, id_: str) -> SavedSeries | None:
        """The series of this id, or None. Raises ContentRemoved, StoreUnavailable."""
        if not is_well_formed_id(id_):
            return None
        async with self.database.reading_connection() as connection:
            row = connection and (await connection.execute(select(series).where(COLUMNS.id == id_))).first()
        if not row:
            return None
        if row.removed is not None:
            raise ContentRemoved("series")
        return SavedSeries(row.id, row.digest, row.created, SeriesContent.model_validate_json(row.content))

    async def save_series(self, text: str) -> tuple[str, bool]:
        """Save a series. Returns its id, and whether it is new. Raises ContentRemoved, QuotaExceeded and
        StoreUnavailable.

        text: canonical content
        """
        return await self._save_content(text, len(text))

    async def iterate_list_entries(self) -> AsyncIterator[ListEntry]:
        """Yield all series, by id."""
        async for row in self._iterate_rows(COLUMNS.id, COLUMNS.created, COLUMNS.size, COLUMNS.content):
            title = SeriesContent.model_validate_json(row.content).title if row.content is not None else None
            yield ListEntry(row.id, row.created, row.size, title)

    async def iterate_archive_records(self) -> AsyncIterator[SeriesRecord]:
        """Yield all series for an archive, including removed ones, by id."""
        async for row in self._iterate_rows(series):
            names = ("id", "digest", "created", "content", "removed", "reason")
            yield SeriesRecord(**{name: getattr(row, name) for name in names})

    async def import_archive_records(self, records: Sequence[SeriesRecord]) -> int:
        """Save records of an archive. Returns the number of new ones; existing and removed series do not change.

        Raises ValueError for an invalid record, and if an id belongs to another content; then nothing is saved.
        """
        return await self._import_rows([record_to_row(record) for record in records])


def record_to_row(record: SeriesRecord) -> dict[str, Any]:
    """The row of a record. Raises ValueError for an invalid one."""
    require_consistent_record(record.id, record.digest, record.content, record.removed is not None)
    row = record.model_dump(exclude={"kind"})
    if record.removed is not None:
        return row | {"content": None, "size": 0}
    if record.content is None:
        raise ValueError(f"{record.id}: the content is missing, though the series was not removed")
    SeriesContent.model_validate_json(record.content)
    return row | {"size": len(record.content)}
