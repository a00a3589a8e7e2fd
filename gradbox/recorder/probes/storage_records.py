"""Records of storages as last seen: torch's storages, gradients on their way, and memory that numpy owns. Each record
can read its bytes and be reported, with its cells in full or patched, or as a summary with windows if it is large."""

import ctypes
import weakref
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from gradbox.recorder.devices.device_bytes import (
    DeviceBytes,
    UnreadableBytes,
    device_bytes_of_storage,
    kernel_bytes_if_readable,
)
from gradbox.recorder.devices.device_kernels import kernels_for_device
from gradbox.recorder.probes import cells
from gradbox.recorder.probes.handles import as_plain_tensor, cached_name
from gradbox.recorder.trace_delta import TraceDelta
from gradbox.wire import entities
from gradbox.wire.base import Number
from gradbox.wire.entities import MAX_CELLS

COPIED_WHEN_READ_BYTES = 1 << 12
"""Bytes up to which a copy is cheaper than a view."""


class StorageRecord:
    """A storage as last seen. The weak reference keeps its address from being reused."""

    def __init__(self, uid: str, device: str) -> None:
        self.uid, self.device = uid, device
        self.nbytes = -1
        self.pointer = 0
        self.data: bytes | None = None  # the bytes, up to `storages.MAX_COPY_BYTES`
        self.digest: bytes | None = None  # of what is not kept
        self.large_copy_bytes = 0  # bytes of `data` that count as a large copy
        self.region_digests: dict[cells.Region, bytes] = {}  # of `data`
        self.dtypes: list[str] = []
        self.cells: dict[str, list[Number]] = {}
        self.never_compared = True  # not compared yet
        self.unreported = True  # its contents are not reported yet
        self.accumulating = False  # a gradient on its way into a `.grad`, which will read it through another tensor
        self.window_ranges: dict[str, list[tuple[int, int]]] = {}

    def read_bytes(self) -> Any:
        """The storage's bytes in place; those of a device as `DeviceBytes` or `UnreadableBytes`; None if it is dead."""
        raise NotImplementedError

    def inherit_from(self, other: "StorageRecord") -> None:
        """Take over what was reported of another record of the same storage."""
        self.data, self.digest, self.dtypes, self.cells = other.data, other.digest, other.dtypes, other.cells
        self.large_copy_bytes = other.large_copy_bytes
        self.pointer, self.nbytes = other.pointer, other.nbytes
        self.never_compared, self.window_ranges = other.never_compared, other.window_ranges

    def mapped_bytes(self) -> Any:
        """The bytes from `pointer` on, without a copy if there are many."""
        if not self.pointer or not self.nbytes:
            return b""
        if self.nbytes <= COPIED_WHEN_READ_BYTES:
            return ctypes.string_at(self.pointer, self.nbytes)
        return memoryview((ctypes.c_char * self.nbytes).from_address(self.pointer)).cast("B")


class TorchStorageRecord(StorageRecord):
    def __init__(self, uid: str, storage: torch.UntypedStorage) -> None:
        super().__init__(uid, cached_name(storage.device))
        self.weak_reference: Any = StorageWeakRef(storage)  # type: ignore[no-untyped-call]

    def read_bytes(self) -> Any:
        storage = torch.UntypedStorage._new_with_weak_ptr(self.weak_reference.cdata)
        if storage is None:
            return None
        self.nbytes = nbytes = storage.nbytes()
        if self.device == "cpu":
            self.pointer = storage.data_ptr() if nbytes else 0
            return self.mapped_bytes()
        if storage.device.type == "meta":
            return b""
        self.pointer = storage.data_ptr() if self.nbytes else 0
        if not self.nbytes:
            return b""
        if storage.device.type == "mps":  # it can't compute with float64
            copy = storage.cpu()  # type: ignore[no-untyped-call]
            return ctypes.string_at(copy.data_ptr(), self.nbytes)
        return device_bytes_of_storage(storage)


class TransientGradStorageRecord(StorageRecord):
    """A storage of a gradient on its way, identified by address; its bytes are read through the tensors that use it.

    A Python object for it would count as one more owner, and autograd would no longer accumulate in place, as it does
    with a gradient that it alone owns.
    """

    def __init__(self, uid: str, tensor: torch.Tensor) -> None:
        super().__init__(uid, cached_name(as_plain_tensor(tensor).device))
        self._handles: list[weakref.ref[torch.Tensor]] = []
        self.add_handle(tensor)

    def add_handle(self, tensor: torch.Tensor) -> None:
        if not any(ref() is tensor for ref in self._handles):
            self._handles.append(weakref.ref(tensor))

    def living_handles(self) -> list[torch.Tensor]:
        return [tensor for ref in self._handles if (tensor := ref()) is not None]

    def read_bytes(self) -> Any:
        tensors = self.living_handles()
        if not tensors:
            return None
        self.pointer, self.nbytes = 0, 0
        for tensor in map(as_plain_tensor, tensors):
            size, offset = tensor.element_size(), int(tensor.storage_offset())
            if tensor.numel():
                self.pointer = tensor.data_ptr() - offset * size
                last = offset + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
                self.nbytes = max(self.nbytes, int(last + 1) * size)
        if self.device == "cpu":
            return self.mapped_bytes()
        kernels = kernels_for_device(tensors[0].device)
        return (
            b"" if kernels is None or not self.nbytes else kernel_bytes_if_readable(kernels, self.pointer, self.nbytes)
        )


class ArrayStorageRecord(StorageRecord):
    """Memory that numpy owns. It lives as long as the array that owns it."""

    def __init__(self, uid: str, owner: np.ndarray[Any, Any]) -> None:
        super().__init__(uid, "cpu")
        self.weak_reference = weakref.ref(owner)

    def read_bytes(self) -> Any:
        owner = self.weak_reference()
        if owner is None:
            return None
        self.pointer, self.nbytes = address_and_length_of_bytes(owner)
        return self.mapped_bytes()


def address_and_length_of_bytes(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The address of the first byte that an array reads, and the number of bytes from there to the last."""
    begin: int = array.__array_interface__["data"][0]
    if not array.size:
        return begin, 0
    reaches = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    first = sum(reach for reach in reaches if reach < 0)
    return begin + first, sum(reach for reach in reaches if reach > 0) - first + array.itemsize


def report_cells(delta: TraceDelta, record: StorageRecord, buffer: Any, dtypes: list[str], max_cells: int) -> None:
    """Report cells in full or patched, or a summary.

    max_cells: elements up to which they are listed
    """
    record.dtypes = list(dtypes)
    facts: entities.Storage = {"kind": "storage", "device": record.device, "nbytes": max(record.nbytes, 0)}
    if isinstance(buffer, UnreadableBytes):
        delta.update_entity(record.uid, facts)
        return
    listed = {
        d: cells.decode_cells(bytes(buffer), d) for d in dtypes if len(buffer) // cells.dtype_itemsize(d) <= max_cells
    }
    facts["summary"] = {
        d: summary for d in dtypes if d not in listed and (summary := summary_of_contents(buffer, d)) is not None
    } or None
    recorded, record.cells = record.cells, listed
    if listed and list(listed) == list(recorded) and all(len(listed[d]) == len(recorded[d]) for d in listed):
        patch = {d: p for d in listed if (p := changed_cells(recorded[d], listed[d]))}
        pending = delta.pending.get(record.uid, {})
        if sum(map(len, patch.values())) * 2 < sum(map(len, listed.values())) and "cells" not in pending:
            delta.update_entity(record.uid, facts)
            if patch:
                delta.patch_cells(record.uid, listed, patch)
            return
    facts["cells"] = listed or None
    delta.update_entity(record.uid, facts)


def report_windows_of_large_storage(
    delta: TraceDelta, record: StorageRecord, wanted_elements: dict[str, set[int]]
) -> None:
    """Report windows of a storage that is too large to list: its head, its tail and the elements that small handles
    read."""
    large = [d for d in record.dtypes if record.nbytes // cells.dtype_itemsize(d) > MAX_CELLS]
    if not large:
        return
    runs = {}
    for d in large:
        total = record.nbytes // cells.dtype_itemsize(d)
        want = set(range(cells.CELLS_SHOWN_AT_EACH_END)) | set(range(total - cells.CELLS_SHOWN_AT_EACH_END, total))
        runs[d] = cells.merged_ranges(want | {k for k in wanted_elements.get(d, ()) if 0 <= k < total})
    if not record.unreported and record.window_ranges == runs:
        return
    record.window_ranges = runs
    buffer = record.read_bytes()
    if isinstance(buffer, UnreadableBytes):
        return
    windows: dict[str, list[tuple[int, list[Number]]]] = {}
    for d, spans in runs.items():
        size = cells.dtype_itemsize(d)
        windows[d] = [(a, cells.decode_cells(buffer[a * size : b * size], d)) for a, b in spans]
    facts: entities.Storage = {"windows": windows}
    delta.update_entity(record.uid, facts)


def summary_of_contents(buffer: Any, dtype: str) -> entities.Summary | None:
    """The summary of a storage's bytes, computed where they are; a short summary of few bytes."""
    if len(buffer) // cells.dtype_itemsize(dtype) <= MAX_CELLS:
        return cells.summary_of_bytes(bytes(buffer), dtype, cells.STRETCHES_IN_SHORT_SUMMARY)
    return buffer.summary(dtype) if isinstance(buffer, DeviceBytes) else cells.summary_of_bytes(buffer, dtype)


def changed_cells(old: list[Number], new: list[Number]) -> dict[str, Number]:
    """The elements that differ, by their number as text."""
    return {str(k): y for k, (x, y) in enumerate(zip(old, new, strict=True)) if x != y or str(x) != str(y)}
