"""What a storage holds, reported: its cells whole or patched, or a summary and windows of a big one."""

from typing import Any

from gradbox.recorder.probes import cells
from gradbox.recorder.probes.device_bytes import DeviceBytes, UnreadableBytes
from gradbox.recorder.probes.storage_records import StorageRecord
from gradbox.recorder.trace_delta import TraceDelta
from gradbox.wire import entities
from gradbox.wire.base import Number
from gradbox.wire.entities import MAX_CELLS


def report_cells(delta: TraceDelta, record: StorageRecord, buffer: Any, dtypes: list[str]) -> None:
    """Cells whole or patched, or a summary."""
    record.dtypes = list(dtypes)
    facts: entities.Storage = {"kind": "storage", "device": record.device, "nbytes": max(record.nbytes, 0)}
    if isinstance(buffer, UnreadableBytes):
        delta.update(record.uid, facts)
        return
    listed = {d: cells.decode_cells(bytes(buffer), d) for d in dtypes if len(buffer) // cells.itemsize(d) <= MAX_CELLS}
    facts["summary"] = {
        d: summary for d in dtypes if d not in listed and (summary := summary_of(buffer, d)) is not None
    } or None
    recorded, record.cells = record.cells, listed
    if listed and list(listed) == list(recorded) and all(len(listed[d]) == len(recorded[d]) for d in listed):
        patch = {d: p for d in listed if (p := changed_cells(recorded[d], listed[d]))}
        pending = delta.pending.get(record.uid, {})
        if sum(map(len, patch.values())) * 2 < sum(map(len, listed.values())) and "cells" not in pending:
            delta.update(record.uid, facts)
            if patch:
                delta.patch_cells(record.uid, listed, patch)
            return
    facts["cells"] = listed or None
    delta.update(record.uid, facts)


def report_windows(delta: TraceDelta, record: StorageRecord, wanted_elements: dict[str, set[int]]) -> None:
    """For a storage too big to list: head, tail and the elements that small handles read, as runs of values."""
    large = [d for d in record.dtypes if record.nbytes // cells.itemsize(d) > MAX_CELLS]
    if not large:
        return
    runs = {}
    for d in large:
        total = record.nbytes // cells.itemsize(d)
        want = set(range(cells.EDGE_CELLS)) | set(range(total - cells.EDGE_CELLS, total))
        runs[d] = cells.merged_ranges(want | {k for k in wanted_elements.get(d, ()) if 0 <= k < total})
    if not record.unreported and record.window_ranges == runs:
        return
    record.window_ranges = runs
    buffer = record.read()
    if isinstance(buffer, UnreadableBytes):
        return
    windows: dict[str, list[tuple[int, list[Number]]]] = {}
    for d, spans in runs.items():
        size = cells.itemsize(d)
        windows[d] = [(a, cells.decode_cells(buffer[a * size : b * size], d)) for a, b in spans]
    facts: entities.Storage = {"windows": windows}
    delta.update(record.uid, facts)


def summary_of(buffer: Any, dtype: str) -> entities.Summary | None:
    """The summary of a storage's bytes, computed where they lie."""
    return buffer.summary(dtype) if isinstance(buffer, DeviceBytes) else cells.summary_of_bytes(buffer, dtype)


def changed_cells(old: list[Number], new: list[Number]) -> dict[str, Number]:
    """The elements that differ, by their number as text."""
    return {str(k): y for k, (x, y) in enumerate(zip(old, new, strict=True)) if x != y or str(x) != str(y)}
