"""What is shown of a CUDA device's memory, computed there by kernels of our own, and copied without torch.

The recorder asks the driver, not torch: what it computes takes no memory of torch's allocator, whose figures are the
program's own, and leaves no error behind that torch would raise in the program. All work of the device is waited for
first, in whichever stream it was given: what is shown is what the statement did. An error of the device makes a
`DeviceReadError`, here and at every later call: nothing of its memory can be known then.
"""

import contextlib
import ctypes
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from gradbox.wire.entities import BINS, STRETCHES

PTX_CODE = Path(__file__).with_suffix(".ptx").read_bytes() + b"\0"
"""Read when the process that forks imports this: a confined child could not."""

MAX_DIMS = 12
KERNEL_DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
)
"""In the order of `Dtype` in device_kernels.cu."""

THREADS_PER_BLOCK, MAX_THREAD_BLOCKS = 256, 1024
SCRATCH_BYTES = 1 << 13
"""Bytes of the device that results are written to."""

ElementLayout = tuple[int, Sequence[int], Sequence[int], int]
"""Of elements: bytes of one, shape, stride and offset, both in elements."""


class DeviceReadError(Exception):
    """The device has failed, or is capturing a graph: nothing can be computed on it."""


class StretchStatistics(NamedTuple):
    """The finite values of a stretch of elements: the least, the greatest, their total, and how many there are."""

    low: Any
    high: Any
    total: float
    finite: int


class _ViewStruct(ctypes.Structure):
    _fields_ = (
        ("count", ctypes.c_int64),
        ("size", ctypes.c_int),
        ("dims", ctypes.c_int),
        ("shape", ctypes.c_int64 * MAX_DIMS),
        ("stride", ctypes.c_int64 * MAX_DIMS),
    )


class _HistogramEdgesStruct(ctypes.Structure):
    _fields_ = (
        ("low", ctypes.c_double),
        ("high", ctypes.c_double),
        ("norm", ctypes.c_double),
        ("inner", ctypes.c_double * (BINS + 1)),
    )


class _StretchStatisticsStruct(ctypes.Structure):
    _fields_ = (
        ("low", ctypes.c_double),
        ("high", ctypes.c_double),
        ("sum", ctypes.c_double),
        ("int_low", ctypes.c_int64),
        ("int_high", ctypes.c_int64),
        ("finite", ctypes.c_int64),
    )


@functools.cache
def cuda_driver() -> Any:
    """The driver's library, which torch has loaded. Raises OSError where there is none."""
    return ctypes.CDLL("libcuda.so.1")


@functools.cache
def kernels_for_device(device: torch.device) -> "DeviceKernels | None":
    """The kernels on a device, loaded once; None where they don't serve it."""
    if device.type != "cuda" or torch.version.hip is not None:
        return None
    try:
        return DeviceKernels(0 if device.index is None else device.index)
    except (OSError, DeviceReadError):
        return None


class DeviceKernels:
    """The kernels of one device, and a little of its memory for their results.

    copied_bytes: how many bytes were copied from the device. failed: it reported an error, and will for ever.

    index: the device's, as torch counts
    """

    def __init__(self, index: int) -> None:
        self._context, module = ctypes.c_void_p(), ctypes.c_void_p()
        self._scratch = ctypes.c_uint64()
        self._functions: dict[str, ctypes.c_void_p] = {}
        self.copied_bytes, self.failed = 0, False
        with torch.cuda.device(index):
            torch.cuda.current_stream().synchronize()  # makes the context of torch this thread's
            raise_on_driver_error(cuda_driver().cuCtxGetCurrent(ctypes.byref(self._context)))
            raise_on_driver_error(cuda_driver().cuModuleLoadData(ctypes.byref(module), PTX_CODE))
            raise_on_driver_error(
                cuda_driver().cuMemAlloc_v2(ctypes.byref(self._scratch), ctypes.c_size_t(SCRATCH_BYTES))
            )
        for name in ("digest", "describe", "histogram"):
            function = self._functions[name] = ctypes.c_void_p()
            raise_on_driver_error(cuda_driver().cuModuleGetFunction(ctypes.byref(function), module, name.encode()))

    def copy_bytes(self, pointer: int, count: int) -> bytes:
        """Bytes of the device, from an address on. Raises DeviceReadError."""
        with self._synchronized_device():
            return self._copy_to_host(pointer, count) if count else b""

    def digest_elements(self, pointer: int, layout: ElementLayout) -> bytes:
        """Sixteen bytes that stand for elements in logical order: others where one differs, and where several do,
        almost surely. Raises DeviceReadError.

        pointer: the address that the layout's offset counts from
        """
        view = kernel_view_of_layout(layout)
        with self._synchronized_device():
            self._clear_scratch(16)
            self._launch_kernel(
                "digest", thread_block_count(view.count), first_element_address(pointer, layout), view, self._scratch
            )
            return self._copy_to_host(self._scratch.value, 16)

    def stretch_statistics(self, pointer: int, layout: ElementLayout, dtype: str) -> list[StretchStatistics]:
        """The statistics of each of `STRETCHES` equal stretches of the elements in logical order. Raises
        DeviceReadError."""
        view, kind = kernel_view_of_layout(layout), KERNEL_DTYPES.index(dtype)
        with self._synchronized_device():
            self._launch_kernel(
                "describe", STRETCHES, first_element_address(pointer, layout), view, ctypes.c_int(kind), self._scratch
            )
            data = self._copy_to_host(self._scratch.value, STRETCHES * ctypes.sizeof(_StretchStatisticsStruct))
        exact = "int" in dtype
        parts = (_StretchStatisticsStruct * STRETCHES).from_buffer_copy(data)
        return [
            StretchStatistics(
                part.int_low if exact else part.low, part.int_high if exact else part.high, part.sum, part.finite
            )
            for part in parts
        ]

    def histogram_counts(self, pointer: int, layout: ElementLayout, dtype: str, low: float, high: float) -> list[int]:
        """How many finite values lie in each of `BINS` equal intervals from low to high. Raises DeviceReadError."""
        edges = _HistogramEdgesStruct(low, high, BINS / (high - low), tuple(np.linspace(low, high, BINS + 1)))
        view, kind = kernel_view_of_layout(layout), KERNEL_DTYPES.index(dtype)
        where = first_element_address(pointer, layout)
        with self._synchronized_device():
            self._clear_scratch(BINS * 8)
            self._launch_kernel(
                "histogram", thread_block_count(view.count), where, view, ctypes.c_int(kind), edges, self._scratch
            )
            return np.frombuffer(self._copy_to_host(self._scratch.value, BINS * 8), "u8").tolist()  # type: ignore[no-any-return]

    def is_readable(self) -> bool:
        """Whether its memory can be read now. It can't be after an error, nor while a graph is captured."""
        try:
            with self._synchronized_device():
                return True
        except DeviceReadError:
            return False

    @contextlib.contextmanager
    def _synchronized_device(self) -> Iterator[None]:
        """Within, all work of the device is done, and its context is this thread's."""
        if self.failed or is_capturing_graph():
            raise DeviceReadError("the device has failed" if self.failed else "a graph is being captured")
        other = ctypes.c_void_p()
        raise_on_driver_error(cuda_driver().cuCtxPushCurrent_v2(self._context))
        try:
            raise_on_driver_error(cuda_driver().cuCtxSynchronize())
            yield
        except DeviceReadError:
            self.failed = True
            raise
        finally:
            cuda_driver().cuCtxPopCurrent_v2(ctypes.byref(other))

    def _clear_scratch(self, count: int) -> None:
        raise_on_driver_error(cuda_driver().cuMemsetD8_v2(self._scratch, ctypes.c_ubyte(0), ctypes.c_size_t(count)))

    def _launch_kernel(self, name: str, blocks: int, *arguments: Any) -> None:
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
        shape = (blocks, 1, 1, THREADS_PER_BLOCK, 1, 1)
        raise_on_driver_error(cuda_driver().cuLaunchKernel(self._functions[name], *shape, 0, None, pointers, None))

    def _copy_to_host(self, pointer: int, count: int) -> bytes:
        buffer = ctypes.create_string_buffer(count)
        raise_on_driver_error(cuda_driver().cuMemcpyDtoH_v2(buffer, ctypes.c_uint64(pointer), ctypes.c_size_t(count)))
        self.copied_bytes += count
        return buffer.raw


def raise_on_driver_error(result: int) -> None:
    """Raises DeviceReadError where a call of the driver failed.

    result: what it returned
    """
    if result:
        name = ctypes.c_char_p()
        cuda_driver().cuGetErrorName(result, ctypes.byref(name))
        raise DeviceReadError((name.value or b"an unknown error").decode())


def is_capturing_graph() -> bool:
    """Whether this thread's stream captures a graph: what it is given does not run, and must not be waited for."""
    return bool(torch.cuda.is_current_stream_capturing())


def kernel_view_of_layout(layout: ElementLayout) -> _ViewStruct:
    """A layout as the kernels take it: dimensions that lie one after the other in memory are one."""
    size, shape, stride, _ = layout
    count = int(np.prod(shape, dtype=np.int64))
    merged: list[tuple[int, int]] = []
    for length, step in zip(shape, stride, strict=True):
        if length == 1:
            continue
        if merged and merged[-1][1] == step * length:
            merged[-1] = (merged[-1][0] * length, step)
        else:
            merged.append((length, step))
    if len(merged) > MAX_DIMS:
        raise DeviceReadError(f"a tensor has {len(merged)} dimensions; {MAX_DIMS} can be read")
    view = _ViewStruct(count=count, size=size, dims=0 if merged in ([], [(count, 1)]) else len(merged))
    for dim, (length, step) in enumerate(merged):
        view.shape[dim], view.stride[dim] = length, step
    return view


def first_element_address(pointer: int, layout: ElementLayout) -> ctypes.c_uint64:
    """The address of the first element."""
    return ctypes.c_uint64(pointer + layout[3] * layout[0])


def thread_block_count(count: int) -> int:
    """Blocks of threads for so many elements."""
    return max(1, min(MAX_THREAD_BLOCKS, -(-count // THREADS_PER_BLOCK)))
