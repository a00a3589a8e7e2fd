"""Norms of parameters and of their gradients, read where they lie: no operation of torch runs, nothing is allocated by it."""

import ctypes
import math
from typing import Any

import numpy as np
import torch

from gradbox.recorder.probes import cells
from gradbox.recorder.probes.backward import copy_element_bytes
from gradbox.recorder.probes.device_kernels import kernels_for_device
from gradbox.recorder.probes.handles import has_storage

MAX_DEVICE_ELEMENTS = 1 << 13
"""Elements of a tensor on a device up to which it is copied to be read."""

_NUMPY_DTYPES: dict[torch.dtype, np.dtype[Any]] = {torch.float32: np.dtype("f4"), torch.float64: np.dtype("f8")}
"""Those that are read in place."""

Array = np.ndarray[Any, Any]


def elements_of(tensor: torch.Tensor) -> Array | None:
    """Its elements, flat: a view of its memory where that is possible, to be used at once; None where they are not to be had."""
    dtype = _NUMPY_DTYPES.get(tensor.dtype)
    if dtype is not None and tensor.device.type == "cpu" and tensor.layout is torch.strided and tensor.is_contiguous():
        if type(tensor) not in PLAIN_TYPES or tensor.is_neg():
            return None
        count = tensor.numel()
        if not count:
            return np.zeros(0, dtype)
        memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(tensor.data_ptr())
        return np.frombuffer(memory, dtype)
    return _copied_elements(tensor)


PLAIN_TYPES = (torch.Tensor, torch.nn.Parameter)


def _copied_elements(tensor: torch.Tensor) -> Array | None:
    name = str(tensor.dtype)[6:]
    if type(tensor) not in PLAIN_TYPES or not cells.can_summarize_dtype(name) or not has_storage(tensor):
        return None
    if tensor.device.type != "cpu":
        is_cheap = tensor.numel() <= MAX_DEVICE_ELEMENTS and tensor.is_contiguous()
        if not is_cheap or kernels_for_device(tensor.device) is None or torch.cuda.is_current_stream_capturing():
            return None
    copied = np.frombuffer(copy_element_bytes(tensor), cells.numpy_dtype_code(name))
    if name == "bfloat16":
        return (copied.astype("u4") << 16).view("f4")
    return copied.astype("f8")


def sum_of_squares(values: Array) -> float:
    """Without an overflow where the norm itself is a number of the dtype."""
    total = float(np.dot(values, values))
    if not math.isfinite(total) and values.dtype.itemsize < 8:
        wide = values.astype("f8")
        total = float(np.dot(wide, wide))
    return total


def scalar_value(tensor: Any) -> float | None:
    """The number in a tensor of one element; None where it is not to be had."""
    if not isinstance(tensor, torch.Tensor) or tensor.numel() != 1 or not has_storage(tensor):
        return None
    values = elements_of(tensor)
    if values is None:
        return None
    return float(str(values[0])) if values.dtype.itemsize < 8 else float(values[0])


class TrackedParameter:
    """A parameter of an optimizer. kept: its elements before the step that comes, None where they are not known."""

    __slots__ = ("_room", "kept", "uid")

    def __init__(self, uid: str) -> None:
        self.uid = uid
        self.kept: Array | None = None
        self._room: Array | None = None

    def keep(self, tensor: torch.Tensor) -> None:
        """Keep a copy of the elements, to compare with after the step."""
        values, room = elements_of(tensor), self._room
        if values is None:
            self.kept = None
        elif room is not None and room.shape == values.shape and room.dtype == values.dtype:
            np.copyto(room, values)
            self.kept = room
        else:
            self.kept = self._room = values.copy()

    def squares(self, tensor: torch.Tensor) -> tuple[float | None, float | None, float | None]:
        """The sums of squares of its gradient, of its elements, and of how far these are from those that were kept."""
        gradient, values, kept = tensor.grad, elements_of(tensor), self.kept
        self.kept = None
        grad = moved = None
        if gradient is not None:
            elements = elements_of(gradient)
            grad = None if elements is None else sum_of_squares(elements)
        if values is None:
            return grad, None, None
        if kept is not None and kept.shape == values.shape and kept.dtype == values.dtype:
            moved = sum_of_squares(np.subtract(values, kept))
        return grad, sum_of_squares(values), moved
