"""Memory of another device: what is shown of it is computed there, or copied, and nothing else leaves it.

On CUDA's devices our own kernels compute it (`device_kernels`). On others torch does, chunk by chunk: beside the memory
itself the device then needs room for a few chunks.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import torch

from gradbox.recorder.devices.device_kernels import KERNEL_DTYPES, DeviceKernels, ElementLayout, kernels_for_device
from gradbox.recorder.probes import cells
from gradbox.wire.entities import BINS, STRETCHES, Summary

CHUNK_ELEMENTS = 1 << 18
"""Elements, or words of four bytes, that are computed with at a time."""

WORD_BYTES = 4
DIGEST_FACTORS = (0x9E3779B1, 0x85EBCA77), (0xC2B2AE3D, 0x27D4EB2F)
"""Odd numbers that the weights of a digest are made of."""


class DeviceBytes:
    """The bytes of a storage that lies on a device. Their number is known; a slice is copied when it is asked for."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __bytes__(self) -> bytes:
        return self[:]

    def __getitem__(self, part: slice) -> bytes:
        raise NotImplementedError

    def digest(self) -> bytes:
        """Others where one word of the bytes differs, and where several do, almost surely."""
        raise NotImplementedError

    def region_digest(self, size: int, shape: Sequence[int], stride: Sequence[int], offset: int) -> bytes:
        """The same of a region in logical order; `size` bytes an element, strides in elements."""
        raise NotImplementedError

    def summary(self, dtype: str) -> Summary | None:
        """As `cells.summary_of_bytes`, of the bytes as elements of a dtype."""
        raise NotImplementedError


class KernelBytes(DeviceBytes):
    """Bytes of a CUDA device, from an address on, of which our own kernels compute what is told. They raise
    DeviceReadError."""

    def __init__(self, kernels: DeviceKernels, pointer: int, length: int) -> None:
        self._kernels, self._pointer, self._length = kernels, pointer, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        start, end, _ = part.indices(self._length)
        return self._kernels.copy_bytes(self._pointer + start, max(end - start, 0))

    def digest(self) -> bytes:
        whole = self._length // WORD_BYTES
        return (
            self._kernels.digest_elements(self._pointer, (WORD_BYTES, (whole,), (1,), 0)) + self[whole * WORD_BYTES :]
        )

    def region_digest(self, size: int, shape: Sequence[int], stride: Sequence[int], offset: int) -> bytes:
        if 0 in shape or region_end(shape, stride, offset) * size > self._length:
            return b""
        return self._kernels.digest_elements(self._pointer, (size, shape, stride, offset))

    def summary(self, dtype: str) -> Summary | None:
        if not cells.can_summarize_dtype(dtype):
            return None
        size = cells.dtype_itemsize(dtype)
        layout = (size, (self._length // size,), (1,), 0)
        return summary_by_kernels(self._kernels, self._pointer, layout, dtype.removeprefix("q"))


class TorchBytes(DeviceBytes):
    """The bytes of a storage on any device, of which torch computes what is told, chunk by chunk."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self._storage = storage
        self._length = storage.nbytes()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        return tensor_bytes(self._storage_as_tensor(torch.uint8)[part])

    def digest(self) -> bytes:
        """Sixteen bytes for each chunk."""
        whole = self._length // WORD_BYTES
        words = self._storage_as_tensor(torch.int32)[:whole]
        sums = [chunk_digest(words[at : at + CHUNK_ELEMENTS]) for at in range(0, whole, CHUNK_ELEMENTS)]
        return (tensor_bytes(torch.cat(sums)) if sums else b"") + self[whole * WORD_BYTES :]

    def region_digest(self, size: int, shape: Sequence[int], stride: Sequence[int], offset: int) -> bytes:
        """Few bytes stand for themselves."""
        if 0 in shape or region_end(shape, stride, offset) * size > self._length:
            return b""
        values = self._storage_as_tensor(torch.uint8)
        view = values.as_strided((*shape, size), (*(step * size for step in stride), 1), offset * size)
        if view.numel() <= cells.MAX_UNDIGESTED_BYTES:
            return tensor_bytes(view)
        sums = [chunk_digest(chunk.to(torch.int32)) for chunk in element_chunks(view)]
        return tensor_bytes(torch.cat(sums))

    def summary(self, dtype: str) -> Summary | None:
        if not cells.can_summarize_dtype(dtype):
            return None
        return tensor_summary(self._storage_as_tensor(getattr(torch, dtype.removeprefix("q"))))

    def _storage_as_tensor(self, dtype: torch.dtype) -> torch.Tensor:
        """The storage as a tensor of one dimension."""
        with torch.no_grad():
            values = torch.empty(0, dtype=dtype, device=self._storage.device)
            return values.set_(self._storage, 0, (self._length // dtype.itemsize,))  # type: ignore[call-overload, no-any-return]


def region_end(shape: Sequence[int], stride: Sequence[int], offset: int) -> int:
    """The element after the last one of a region that is not empty."""
    return 1 + offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))


class UnreadableBytes:
    """The bytes of a storage whose device can't be asked: it failed, or a graph is being captured. Their number is
    known."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length


def device_bytes_of_storage(storage: torch.UntypedStorage) -> DeviceBytes | UnreadableBytes:
    """The bytes of a storage that lies on a device, where that can be asked."""
    kernels = kernels_for_device(storage.device)
    if kernels is None:
        return TorchBytes(storage)
    return kernel_bytes_if_readable(kernels, storage.data_ptr(), storage.nbytes())


def kernel_bytes_if_readable(kernels: DeviceKernels, pointer: int, length: int) -> KernelBytes | UnreadableBytes:
    """Bytes of a CUDA device, from an address on, where it can be asked."""
    return KernelBytes(kernels, pointer, length) if kernels.is_readable() else UnreadableBytes(length)


def to_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """A copy where the recorder computes: the only way by which anything leaves a device."""
    return tensor.cpu()


def tensor_bytes(tensor: torch.Tensor) -> bytes:
    """The bytes of a tensor in logical order."""
    with torch.no_grad():
        return bytes(to_cpu(tensor.contiguous().view(-1).view(torch.uint8)).numpy())


def chunk_digest(words: torch.Tensor) -> torch.Tensor:
    """Two weighted sums of integers modulo 2 to the 64. No weight is even, so no single change leaves a sum as it
    was."""
    wide = words.to(torch.int64)
    places = torch.arange(1, len(wide) + 1, dtype=torch.int64, device=wide.device)
    sums = []
    for first, second in DIGEST_FACTORS:
        weights = places * first
        weights ^= weights >> 29
        weights *= second
        weights |= 1
        sums.append((wide * weights).sum())
    return torch.stack(sums)


def element_chunks(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """All elements in logical order, in pieces of one dimension with up to CHUNK_ELEMENTS elements."""
    if tensor.numel() <= CHUNK_ELEMENTS or tensor.is_contiguous():
        yield from tensor.reshape(-1).split(CHUNK_ELEMENTS)  # type: ignore[no-untyped-call]
        return
    row = tensor.numel() // len(tensor)
    if row <= CHUNK_ELEMENTS:
        for rows in tensor.split(CHUNK_ELEMENTS // row):  # type: ignore[no-untyped-call]
            yield rows.reshape(-1)
    else:
        for k in range(len(tensor)):
            yield from element_chunks(tensor[k])


def tensor_summary(tensor: torch.Tensor) -> Summary | None:
    """As `cells.summary_of_bytes`, of the elements of a tensor in logical order; computed where they lie. None for
    uint64.
    """
    if tensor.dtype == torch.uint64:  # torch can't compute with it
        return None
    kernels = kernels_for_device(tensor.device)
    if kernels is not None:
        layout = (tensor.element_size(), tensor.shape, tensor.stride(), 0)
        return summary_by_kernels(kernels, tensor.data_ptr(), layout, str(tensor.dtype).removeprefix("torch."))
    with torch.no_grad():
        size = tensor.numel()
        has_histogram = size <= cells.MAX_HISTOGRAM_ELEMENTS
        for dim, step in enumerate(() if has_histogram else tensor.stride()):
            tensor = tensor if step else tensor.narrow(dim, 0, 1)  # not the same elements again and again
        lows, highs, sums, squares, counts = zip(*map(chunk_statistics, element_chunks(tensor)), strict=True)
        count = int(to_cpu(torch.stack(counts)).sum())
        if not count:
            return {"min": None, "max": None, "mean": None, "norm": None, "bins": None, "heat": None}
        low, high = to_cpu(torch.stack(lows)).min().item(), to_cpu(torch.stack(highs)).max().item()
        mean = float(to_cpu(torch.stack(sums)).sum()) / count
        norm = math.sqrt(float(to_cpu(torch.stack(squares)).sum()) * (size // tensor.numel()))
        summary: Summary = {
            "min": cells.encode_number(low), "max": cells.encode_number(high), "mean": cells.encode_number(mean),
            "norm": cells.encode_number(norm), "bins": None, "heat": None,
        }  # fmt: skip
        if has_histogram:
            flat = tensor.reshape(-1)
            summary["bins"], summary["heat"] = histogram_counts(flat, float(low), float(high)), stretch_means(flat)
        return summary


def summary_by_kernels(kernels: DeviceKernels, pointer: int, layout: ElementLayout, dtype: str) -> Summary | None:
    """As `cells.summary_of_bytes`, of elements in logical order.

    None for a dtype that the kernels don't know. Raises DeviceReadError.

    pointer: the address that the layout's offset counts from
    """
    if dtype not in KERNEL_DTYPES:
        return None
    size, shape, stride, offset = layout
    total = math.prod(shape)
    has_histogram = total <= cells.MAX_HISTOGRAM_ELEMENTS
    if not has_histogram:  # not the same elements again and again
        shape = [length if step else 1 for length, step in zip(shape, stride, strict=True)]
    parts = kernels.stretch_statistics(pointer, (size, shape, stride, offset), dtype)
    found = [part for part in parts if part.finite]
    if not found:
        return {"min": None, "max": None, "mean": None, "bins": None, "heat": None}
    low, high = min(part.low for part in found), max(part.high for part in found)
    mean = math.fsum(part.total for part in found) / sum(part.finite for part in found)
    summary: Summary = {
        "min": cells.encode_number(low), "max": cells.encode_number(high), "mean": cells.encode_number(mean),
        "bins": None, "heat": None,
    }  # fmt: skip
    if has_histogram:
        ends = (float(low), float(high)) if low != high else (low - 0.5, high + 0.5)
        summary["bins"] = kernels.histogram_counts(pointer, layout, dtype, *ends)
        means = (float(f"{part.total / part.finite:.4g}") if part.finite else math.nan for part in parts)
        summary["heat"] = [cells.encode_number(value) for value in means]
    return summary


def chunk_statistics(values: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The least, the greatest, the sum, the sum of squares and the number of the finite values of a chunk."""
    if not values.is_floating_point():
        wide = values.to(torch.int64)
        squares = wide.to(torch.float64).square().sum()
        return wide.amin(), wide.amax(), wide.sum(dtype=torch.float64), squares, torch.full_like(wide.amin(), len(wide))
    wide = values.to(torch.float64)
    finite = wide.isfinite()
    kept = wide.where(finite, 0)
    low, high = wide.where(finite, math.inf).amin(), wide.where(finite, -math.inf).amax()
    return low, high, kept.sum(), kept.square().sum(), finite.sum()


def histogram_counts(values: torch.Tensor, low: float, high: float) -> list[int]:
    """How many of the finite values lie in each of `BINS` equal intervals, as numpy counts them."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = torch.linspace(low, high, BINS + 1, dtype=torch.float64)[1:-1].tolist()
    counts = []
    for chunk in element_chunks(values):
        wide = chunk.to(torch.float64)
        finite = wide[wide.isfinite()]
        counts.append(
            torch.stack([*((finite < edge).sum() for edge in edges), torch.full_like((finite < 0).sum(), len(finite))])
        )
    ends = to_cpu(torch.stack(counts).sum(0)).tolist()
    below = ends[:-1]
    return [int(end - start) for start, end in zip([0, *below], ends, strict=True)]


def stretch_means(values: torch.Tensor) -> list[Any]:
    """As `cells.stretch_means`."""
    starts = [k * len(values) // STRETCHES for k in range(STRETCHES + 1)]
    means = []
    for start, end in pairwise(starts):
        piece = values[start:end].to(torch.float64)
        finite = piece.isfinite()
        means.append(torch.stack([piece.where(finite, 0).sum(), finite.sum()]))
    found = to_cpu(torch.stack(means)).tolist()
    return [cells.encode_number(float(f"{total / n:.4g}") if n else math.nan) for total, n in found]
