"""Series: saving one under a permalink, finding it with those of its programs that still exist, and its offline
file."""

import asyncio
import base64
import gzip
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass

from server.operating import log
from server.quantity_formats import format_bytes
from server.store.contents import ContentRemoved, canonical_json, iso_time
from server.store.repository import ProgramRepository, SavedProgram
from server.store.series import SavedSeries, SeriesStore
from server.store.stored_traces import count_steps
from server.visitors.clients import Client
from server.visitors.rate_limits import SharedRateLimiter, SharedSavedBytesLimiter
from server.wire.problems import ProblemError
from server.wire.saved_programs import SeriesContent, SeriesItem, SeriesItemReply, SeriesReply

MAX_KNOWN_COUNTS = 10_000
"""Programs whose number of steps is kept in memory."""


@dataclass(frozen=True)
class SeriesWithTitles:
    """A saved series with the titles of its programs; None for a program that the host removed."""

    saved: SavedSeries
    titles: list[str | None]

    @property
    def items(self) -> list[SeriesItem]:
        return self.saved.content.items

    def item_at(self, place: int) -> SeriesItem:
        """The item at a place, from 1. Raises ProblemError (404)."""
        if not 1 <= place <= len(self.items):
            message = f"this series has no program {place}; it has {len(self.items)}"
            raise ProblemError(404, "no_item", message, field="place")
        return self.items[place - 1]

    def first_available_place(self) -> int:
        """The place, from 1, of the first program that still exists. Raises ContentRemoved if all were removed."""
        for place, title in enumerate(self.titles, 1):
            if title is not None:
                return place
        raise ContentRemoved("series' programs")


class SeriesService:
    """Saves series and finds them again.

    limits, save_space: how many series and bytes one visitor may save; programs and series count together
    """

    def __init__(
        self,
        store: SeriesStore,
        programs: ProgramRepository,
        limits: SharedRateLimiter,
        save_space: SharedSavedBytesLimiter,
    ) -> None:
        self._store, self._programs, self._limits, self._save_space = store, programs, limits, save_space
        self._step_counts: dict[str, int] = {}  # of steps, by program: they never change
        self.reading_lock = asyncio.Lock()
        """Held while the traces of a series are read, one series at a time, because that takes processor time."""

    async def find_series(self, id_: str) -> SeriesWithTitles:
        """Find a series. Raises ProblemError (404), ContentRemoved and StoreUnavailable."""
        saved = await self._store.find_series(id_)
        if saved is None:
            raise ProblemError(404, "no_series", "there is no series at this address", field="id")
        titles = await self._programs.find_titles(item.program for item in saved.content.items)
        return SeriesWithTitles(saved, [titles.get(item.program) for item in saved.content.items])

    async def find_program(self, series: SeriesWithTitles, place: int) -> SavedProgram:
        """The program at a place, from 1. Raises ProblemError (404), ContentRemoved, StoreUnavailable."""
        with suppress(ContentRemoved):
            program = await self._programs.find_program(series.item_at(place).program)
            if program is not None:
                return program
        message = f"the host of this server has removed program {place} of this series; the others are still there"
        raise ProblemError(410, "removed", message, field="place")

    async def save_series(self, content: SeriesContent, client: Client) -> tuple[SeriesWithTitles, bool]:
        """Save a series. Returns it, and whether it is new; the same content is saved once.

        Raises ProblemError (422), which names the item and its field, RateLimited, ContentRemoved, QuotaExceeded and
        StoreUnavailable.
        """
        text = canonical_json(content)
        await self._save_space.count_saved_bytes(client, 1)
        await self._limits.count_request(client)
        await self._require_programs_and_steps(content.items)
        await self._save_space.count_saved_bytes(client, len(text))
        id_, new = await self._store.save_series(text)
        log.event_log.info("save series", id=id_, bytes=len(text), new=new)
        return await self.find_series(id_), new

    async def _require_programs_and_steps(self, items: list[SeriesItem]) -> None:
        """Raise ProblemError if a program does not exist, or has no such step."""
        titles = await self._programs.find_titles(item.program for item in items)
        for place, item in enumerate(items):
            if titles.get(item.program) is None:
                message = f"items.{place}: there is no saved program {item.program} on this server"
                raise ProblemError(422, "no_program", message, field=f"items.{place}.program")
            if item.step is None:
                continue
            count = await self._count_steps(item.program)
            if item.step >= count:
                message = f"items.{place}: there is no step {item.step}; this program has {count} steps"
                raise ProblemError(422, "no_step", message, field=f"items.{place}.step")

    async def _count_steps(self, id_: str) -> int:
        async with self.reading_lock:
            if id_ not in self._step_counts:
                program = await self._programs.find_program(id_)
                while len(self._step_counts) >= MAX_KNOWN_COUNTS:
                    del self._step_counts[next(iter(self._step_counts))]
                self._step_counts[id_] = await asyncio.to_thread(count_steps, program.trace) if program else 0
            return self._step_counts[id_]


def describe_series(series: SeriesWithTitles, url: str) -> SeriesReply:
    """The interface's description of a series.

    url: its permalink
    """
    saved = series.saved
    items = [
        SeriesItemReply(**item.model_dump(), title=title or "", available=title is not None)
        for item, title in zip(series.items, series.titles, strict=True)
    ]
    content = saved.content
    return SeriesReply(
        id=saved.id,
        url=url,
        created=iso_time(saved.created),
        title=content.title,
        description=content.description,
        language=content.language,
        items=items,
    )


class SeriesTooLarge(ProblemError):
    """The compressed traces have more bytes than GRADBOX_SERIES_FILE allows."""

    def __init__(self, limit: int) -> None:
        message = f"the runs of this series have more than {format_bytes(limit)}, too much for one file"
        super().__init__(413, "too_large", message)


@dataclass(frozen=True)
class OfflineSeries:
    """A series as one file.

    name: the name by which the cache of drawings finds it
    data: JSON, gzipped
    """

    name: str
    data: bytes


async def create_offline_series(
    service: SeriesService, series: SeriesWithTitles, limit: int, address: str
) -> OfflineSeries:
    """Create the data of a series' offline file.

    A program that occurs twice in the series is in the file once. Raises SeriesTooLarge, ContentRemoved and
    StoreUnavailable.

    limit: bytes of all traces, compressed
    address: the series' page, if it has an absolute address
    """
    series.first_available_place()
    async with service.reading_lock:
        return await _read_and_pack_programs(service, series, limit, address)


async def _read_and_pack_programs(
    service: SeriesService, series: SeriesWithTitles, limit: int, address: str
) -> OfflineSeries:
    traces: dict[str, bytes] = {}
    for place, (item, title) in enumerate(zip(series.items, series.titles, strict=True), 1):
        if title is not None and item.program not in traces:
            traces[item.program] = (await service.find_program(series, place)).trace
            if sum(map(len, traces.values())) > limit:
                raise SeriesTooLarge(limit)
    content = series.saved.content
    items = [
        {"place": place, "title": title, **item.model_dump()}
        for place, (item, title) in enumerate(zip(series.items, series.titles, strict=True), 1)
        if title is not None
    ]
    fields = {"title": content.title, "description": content.description, "address": address, "items": items}
    return await asyncio.to_thread(pack_series, {**fields, "removed": series.titles.count(None)}, traces)


def pack_series(series: dict[str, object], traces: dict[str, bytes]) -> OfflineSeries:
    """Pack a series as one JSON object in a gzip stream; each trace stays compressed, in base64.

    The JSON is put together from bytes, because an encoder would hold Python's lock while it processes megabytes.
    """
    texts = [b'"%s":"%s"' % (id_.encode(), base64.b64encode(trace)) for id_, trace in traces.items()]
    text = b'{"series":%s,"traces":{%s}}' % (json.dumps(series).encode(), b",".join(texts))
    return OfflineSeries(f"series {hashlib.sha256(text).hexdigest()}", gzip.compress(text, 0, mtime=0))
