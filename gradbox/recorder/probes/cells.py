"""Converts bytes to elements as the wire represents them, without a call of torch if numpy knows the dtype."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch

from gradbox.wire.base import Number
from gradbox.wire.entities import BINS, STRETCHES, Summary

MAX_HISTOGRAM_ELEMENTS = 1 << 21
"""Elements up to which a summary has a histogram. For more it would take longer than the statement."""

CHUNK_ELEMENTS = 1 << 21
"""Elements of a larger array that are processed at a time, which bounds the memory for intermediate results."""

CHUNK_BYTES = 1 << 22

ELEMENTS_PER_CACHED_PASS = 1 << 16
"""Elements that are processed together if each pass is short: they stay in the processor's cache."""

Region = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""A region of a storage: bytes per element, then shape, stride and offset in elements."""

MAX_UNDIGESTED_BYTES = 4096
"""Bytes up to which a region is compared as it is; of more a digest is compared."""

CELLS_SHOWN_AT_EACH_END = 16
"""Elements shown at either end of a longer list."""

STRETCHES_IN_SHORT_SUMMARY = 8
"""Stretches whose means are reported instead of contents for which there is no room."""

MAX_SAFE_INTEGER = 2**53
MAX_INTEGER_BITS = 14_000
"""Bits of an integer up to which it is written in digits; that is about 4,200 digits."""

_INTEGER_DTYPES = {
    "uint8": "u1",
    "int8": "i1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "int64": "i8",
    "uint64": "u8",
    "qint8": "i1",
    "quint8": "u1",
    "qint32": "i4",
}
_FLOAT_DTYPES = {"float16": "f2", "float32": "f4", "float64": "f8"}
_STORED_DTYPES = {**_INTEGER_DTYPES, **_FLOAT_DTYPES, "bfloat16": "u2"}
_COMPLEX_DTYPES = {"complex32": "f2", "complex64": "f4", "complex128": "f8"}


def encode_number(value: Any) -> Any:
    """A Python number as the wire represents it."""
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else {"$f": repr(value)}
    if kind is int:
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return value
        if value.bit_length() > MAX_INTEGER_BITS:  # Python itself would not print it
            return {"py": "int", "text": f"{value.bit_length()} bits"}
        return {"$i": str(value)}
    if kind is complex:
        return {"$c": [encode_number(value.real), encode_number(value.imag)]}
    return value


def encode_floats(values: "np.ndarray[Any, Any]") -> list[Any]:
    """Each float with the fewest digits from which it can be recovered: 0.1 instead of 0.10000000149011612."""
    wide = values.tolist()
    if values.dtype.itemsize < 8:
        wide = [w if w.is_integer() else float(str(v)) for w, v in zip(wide, values, strict=True)]
    return wide if all(map(math.isfinite, wide)) else [encode_number(value) for value in wide]


@cache
def dtype_itemsize(dtype: str) -> int:
    return int(getattr(torch, dtype).itemsize)


@cache
def _one_byte_float_table(dtype: str) -> list[Any]:
    """The 256 values of a one-byte float dtype, computed by torch once."""
    every = torch.arange(256, dtype=torch.uint8)
    return [encode_number(value) for value in every.view(getattr(torch, dtype)).to(torch.float32).tolist()]


def decode_cells(data: Any, dtype: str) -> list[Number]:
    """The elements of a buffer in memory order; an incomplete element at the end is left out.

    A dtype that neither numpy nor torch can read is returned as raw bytes, one number each.
    """
    size = dtype_itemsize(dtype)
    data = memoryview(data)[: len(data) // size * size]
    if dtype in _FLOAT_DTYPES:
        return encode_floats(np.frombuffer(data, _FLOAT_DTYPES[dtype]))
    if dtype in _INTEGER_DTYPES:
        return [encode_number(value) for value in np.frombuffer(data, _INTEGER_DTYPES[dtype]).tolist()]
    if dtype == "bool":
        return [bool(value) for value in data]
    if dtype in _COMPLEX_DTYPES:
        flat = encode_floats(np.frombuffer(data, _COMPLEX_DTYPES[dtype]))
        return [{"$c": (real, imag)} for real, imag in zip(flat[::2], flat[1::2], strict=True)]
    if dtype == "bfloat16":
        wide = np.frombuffer(data, "u2").astype("u4") << 16
        return [encode_number(value) for value in wide.view("f4").astype("f8").tolist()]
    if dtype.startswith("float8"):
        table = _one_byte_float_table(dtype)
        return [table[value] for value in data]
    return list(data)


def numpy_dtype_code(dtype: str) -> str:
    """The numpy dtype for reading elements of a dtype that has a summary."""
    return _STORED_DTYPES[dtype]


def can_summarize_dtype(dtype: str) -> bool:
    """Whether the elements of a dtype are real numbers."""
    return dtype not in _COMPLEX_DTYPES and (dtype in _FLOAT_DTYPES or dtype in _INTEGER_DTYPES or dtype == "bfloat16")


def summary_of_bytes(data: Any, dtype: str, stretches: int = STRETCHES) -> Summary | None:
    """Minimum, maximum, mean, Euclidean norm, a histogram, and the mean of each of `stretches` equal stretches.

    Only finite values count. None if the elements are not real numbers.
    """
    if not can_summarize_dtype(dtype):
        return None
    data = memoryview(data)[: len(data) // dtype_itemsize(dtype) * dtype_itemsize(dtype)]
    return summary_of_array(np.frombuffer(data, _STORED_DTYPES[dtype]), dtype, stretches)


def summary_of_array(stored: "np.ndarray[Any, Any]", dtype: str, stretches: int = STRETCHES) -> Summary:
    """The same for an array of any shape and strides. One with more than CHUNK_ELEMENTS elements is not copied."""
    if stored.size > CHUNK_ELEMENTS:
        return summary_of_large_array(stored, dtype)
    values = widen_bfloat16(stored.reshape(-1), dtype)
    finite = finite_elements(values)
    if not finite.size:
        return {"min": None, "max": None, "mean": None, "norm": None, "bins": None, "heat": None}
    low, high = finite.min().item(), finite.max().item()
    mean = float(finite.mean(dtype="f8"))
    summary: Summary = {
        "min": encode_number(low), "max": encode_number(high), "mean": encode_number(mean),
        "norm": encode_number(math.sqrt(sum_of_squares_in_double(finite))), "bins": None, "heat": None,
    }  # fmt: skip
    if finite.size <= MAX_HISTOGRAM_ELEMENTS:
        summary["bins"] = histogram_counts(finite, low, high)
        summary["heat"] = stretch_means(values, stretches)
    return summary


def finite_elements(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """The finite elements; the array itself, not a copy, if all are finite."""
    if values.dtype.kind != "f" or not values.size:
        return values
    with np.errstate(invalid="ignore"):
        bounds = values.min(), values.max()  # nan where there is one
    return values if np.isfinite(bounds).all() else values[np.isfinite(values)]


def histogram_counts(values: "np.ndarray[Any, Any]", low: float, high: float) -> list[int]:
    """What `np.histogram` counts in BINS bins, in a fifth of its time if there are many elements.

    low, high: the minimum and the maximum of the values
    """
    if values.size <= ELEMENTS_PER_CACHED_PASS:
        return [int(count) for count in np.histogram(values.astype("f8"), bins=BINS)[0]]
    edges = np.histogram_bin_edges(np.array([low, high], "f8"), BINS)[1:-1]
    if values.dtype == np.float32:  # it is below an edge where it is below the next single-precision number
        rounded = edges.astype("f4")
        edges = np.where(rounded < edges, np.nextafter(rounded, np.float32(np.inf)), rounded)
    below = np.zeros(BINS + 1, "i8")
    below[BINS] = values.size
    for at in range(0, values.size, ELEMENTS_PER_CACHED_PASS):
        part = values[at : at + ELEMENTS_PER_CACHED_PASS]
        wide = part if values.dtype == np.float32 else part.astype("f8")
        below[1:BINS] += [np.count_nonzero(wide < edge) for edge in edges]
    return [int(count) for count in np.diff(below)]


def summary_of_large_array(stored: "np.ndarray[Any, Any]", dtype: str) -> Summary:
    """The summary of an array that is too large for a histogram."""
    low, high, total, squares, count = math.inf, -math.inf, 0.0, 0.0, 0
    size = stored.size
    stored = stored[
        tuple(slice(None) if step else slice(0, 1) for step in stored.strides)
    ]  # not the same again and again
    repeats = size // stored.size
    pieces: Any = np.nditer(stored, ["external_loop", "buffered"], ["readonly"], order="K", buffersize=CHUNK_ELEMENTS)
    for piece in pieces:
        for at in range(0, len(piece), CHUNK_ELEMENTS):
            finite = finite_elements(widen_bfloat16(piece[at : at + CHUNK_ELEMENTS], dtype))
            if finite.size:
                low, high = min(low, finite.min().item()), max(high, finite.max().item())
                total, count = total + float(finite.sum(dtype="f8")), count + finite.size
                squares += sum_of_squares_in_double(finite)
    if not count:
        return {"min": None, "max": None, "mean": None, "norm": None, "bins": None, "heat": None}
    return {
        "min": encode_number(low),
        "max": encode_number(high),
        "mean": encode_number(total / count),
        "norm": encode_number(math.sqrt(squares * repeats)),
        "bins": None,
        "heat": None,
    }


def sum_of_squares_in_double(values: "np.ndarray[Any, Any]") -> float:
    """The sum of squares of finite elements, in double precision."""
    wide = values.astype("f8").reshape(-1)
    return float(np.dot(wide, wide))


def widen_bfloat16(stored: "np.ndarray[Any, Any]", dtype: str) -> "np.ndarray[Any, Any]":
    """Elements in a dtype with which numpy can compute. numpy only knows the bits of bfloat16."""
    return (stored.astype("u4") << 16).view("f4") if dtype == "bfloat16" else stored


def stretch_means(values: Any, stretches: int) -> list[Any]:
    """The mean of the finite values of each stretch, to four digits; nan if it has none."""
    starts = [k * values.size // stretches for k in range(stretches)]
    counts = np.diff(starts, append=values.size)
    if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
        values, counts = np.where(finite, values, 0), np.add.reduceat(finite, starts, dtype="i8")
    sums = np.add.reduceat(values, starts, dtype="f8")
    return [encode_number(float(f"{total / n:.4g}") if n else math.nan) for total, n in zip(sums, counts, strict=True)]


def merged_ranges(elements: Iterable[int]) -> list[tuple[int, int]]:
    """Sorted and merged [start, end) ranges of element numbers."""
    spans: list[tuple[int, int]] = []
    for element in sorted(set(elements)):
        if spans and spans[-1][1] == element:
            spans[-1] = (spans[-1][0], element + 1)
        else:
            spans.append((element, element + 1))
    return spans


def strided_element_indices(shape: Sequence[int], stride: Sequence[int], offset: int) -> list[int]:
    """The index in the storage of each logical element, in logical (row-major) order."""
    elements = [offset]
    for size, step in zip(shape, stride, strict=True):
        elements = [element + k * step for element in elements for k in range(size)]
    return elements


def region_bytes(data: Any, size: int, shape: Sequence[int], stride: Sequence[int], offset: int) -> bytes:
    """The bytes of a region of a buffer in logical order. `size` is bytes per element; strides are in elements."""
    view = region_view(data, size, shape, stride, offset)
    return b"" if view is None else bytes(view.tobytes())


def region_view(data: Any, size: int, shape: Sequence[int], stride: Sequence[int], offset: int) -> Any:
    """The region as an array that reads the buffer; None if it is empty or exceeds the buffer."""
    if 0 in shape:
        return None
    last = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
    if (last + 1) * size > len(data):
        return None
    return np.ndarray(tuple(shape), f"V{size}", data, offset * size, tuple(step * size for step in stride))


def region_digest(data: Any, size: int, shape: Sequence[int], stride: Sequence[int], offset: int) -> bytes:
    """The bytes of a region in logical order if there are few, else a digest of sixteen bytes."""
    view = region_view(data, size, shape, stride, offset)
    if view is None:
        return b""
    if view.nbytes <= MAX_UNDIGESTED_BYTES:
        return bytes(view.tobytes())
    whole = hashlib.blake2b(digest_size=16)
    for part in row_chunks(view):
        whole.update(part.tobytes())
    return whole.digest()


def row_chunks(view: Any) -> Iterator[Any]:
    """Split an array into pieces of up to CHUNK_BYTES, in logical order."""
    if view.nbytes <= CHUNK_BYTES:
        yield view
        return
    rows = max(CHUNK_BYTES * len(view) // view.nbytes, 1)
    for at in range(0, len(view), rows):
        part = view[at : at + rows]
        if part.nbytes <= CHUNK_BYTES:
            yield part
        else:
            yield from row_chunks(part[0])
