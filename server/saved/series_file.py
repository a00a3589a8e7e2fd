"""The offline file of a series: its notes and the stored traces of its programs, as the renderer gets them."""

import asyncio
import base64
import gzip
import hashlib
import json
from dataclasses import dataclass

from server.quantities import format_bytes
from server.saved.series import Series, SeriesService
from server.wire.problems import ProblemError


class SeriesTooLarge(ProblemError):
    """The compressed traces have more bytes than GRADBOX_SERIES_FILE allows."""

    def __init__(self, limit: int) -> None:
        message = f"the runs of this series have more than {format_bytes(limit)}, too much for one file"
        super().__init__(413, "too_large", message)


@dataclass(frozen=True)
class OfflineSeries:
    """name: by which the cache of drawings finds it. data: JSON, gzipped."""

    name: str
    data: bytes


async def offline_series(service: SeriesService, series: Series, limit: int, address: str) -> OfflineSeries:
    """What the file holds. limit: bytes of all traces, compressed. address: the series' page, if it has an absolute one.

    A program that stands in the series twice is in the file once. Raises SeriesTooLarge, ContentRemoved, StoreUnavailable.
    """
    series.first_available()
    async with service.reading_lock:
        return await _read_and_pack(service, series, limit, address)


async def _read_and_pack(service: SeriesService, series: Series, limit: int, address: str) -> OfflineSeries:
    traces: dict[str, bytes] = {}
    for place, (item, title) in enumerate(zip(series.items, series.titles, strict=True), 1):
        if title is not None and item.program not in traces:
            traces[item.program] = (await service.program(series, place)).trace
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
    """As one JSON object, in a stream of gzip; each trace stays compressed, in base64.

    The JSON is put together from bytes: an encoder would have the interpreter for itself while it reads megabytes.
    """
    texts = [b'"%s":"%s"' % (id_.encode(), base64.b64encode(trace)) for id_, trace in traces.items()]
    text = b'{"series":%s,"traces":{%s}}' % (json.dumps(series).encode(), b",".join(texts))
    return OfflineSeries(f"series {hashlib.sha256(text).hexdigest()}", gzip.compress(text, 0, mtime=0))
