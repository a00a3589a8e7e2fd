"""A gradient as it passed through a node: its values copied, nothing of it kept."""

import ctypes
from collections.abc import Callable

import numpy as np
import torch

from gradbox.recorder.probes import cells
from gradbox.recorder.probes.device_bytes import tensor_summary
from gradbox.recorder.probes.device_kernels import kernels_of
from gradbox.recorder.probes.handles import has_storage, shape
from gradbox.wire.entities import MAX_CELLS, Summary
from gradbox.wire.trace import Grad

MAX_COPY_BYTES = 1 << 16
"""Bytes from the first to the last element of a device's tensor up to which they are copied with all between them."""


def element_bytes(tensor: torch.Tensor) -> bytes:
    """The elements in logical order, copied, and the tensor left as it was: no object for its storage is made."""
    size = tensor.element_size()
    if not tensor.numel():
        return b""
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    lazy = tensor.is_neg() or (tensor.dtype.is_complex and tensor.is_conj())
    kernels = kernels_of(tensor.device)
    if kernels is not None and not lazy and (last + 1) * size <= MAX_COPY_BYTES:
        copied = kernels.copy(tensor.data_ptr(), (last + 1) * size)
        return cells.region_bytes(copied, size, tensor.shape, tensor.stride(), 0)
    if tensor.device.type != "cpu" or lazy:
        with torch.no_grad():
            tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
        last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    readable = ctypes.string_at(tensor.data_ptr(), (last + 1) * size)
    return cells.region_bytes(readable, size, tensor.shape, tensor.stride(), 0)


def element_summary(tensor: torch.Tensor) -> Summary | None:
    """The summary of the elements, where they lie; None for what is no real number."""
    dtype = str(tensor.dtype)[6:]
    if not cells.has_summary(dtype):
        return None
    if tensor.device.type != "cpu" or tensor.is_neg():
        with torch.no_grad():
            return tensor_summary(tensor.detach().resolve_neg())
    size, stride = tensor.element_size(), tensor.stride()
    last = sum((n - 1) * step for n, step in zip(tensor.shape, stride, strict=True))
    readable = memoryview((ctypes.c_char * ((last + 1) * size)).from_address(tensor.data_ptr())).cast("B")
    view = np.ndarray(tuple(tensor.shape), cells.stored_dtype(dtype), readable, 0, [step * size for step in stride])
    return cells.summary_of_array(view, dtype)


def gradient_facts(tensor: torch.Tensor | None, find_storage: Callable[[torch.Tensor], str | None]) -> Grad | None:
    """A gradient as it passed, its values copied: elements in logical order, or a summary of many.

    find_storage: gives the uid of a storage that is already known, else None.
    """
    if tensor is None:
        return None
    out: Grad = {"shape": [], "dtype": str(tensor.dtype)[6:], "layout": str(tensor.layout)[6:]}
    try:
        out["shape"] = shape(tensor) or []
        if not has_storage(tensor) or tensor.device.type == "meta":
            return out
        out["storage"] = find_storage(tensor)
        if tensor.numel() <= MAX_CELLS:
            out["cells"] = cells.decode_cells(element_bytes(tensor), out["dtype"])
        else:
            out["summary"] = element_summary(tensor)
    except Exception:  # legacy vmap's tensors can be neither listed nor detached
        out.pop("cells", None)
    return out
