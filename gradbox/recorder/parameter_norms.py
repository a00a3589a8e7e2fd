"""Norms of parameters and of their gradients, read in place: no torch operation runs, and torch allocates nothing."""

import ctypes
import math
from typing import Any

import numpy as np
import torch

from gradbox.recorder.devices.device_kernels import kernels_for_device
from gradbox.recorder.probes import cells
from gradbox.recorder.probes.backward import copy_element_bytes
from gradbox.recorder.probes.handles import grad_without_warning, has_storage

MAX_DEVICE_ELEMENTS = 1 << 13
"""Elements up to which a tensor on a device is copied to be read."""

_NUMPY_DTYPES: dict[torch.dtype, np.dtype[Any]] = {torch.float32: np.dtype("f4"), torch.float64: np.dtype("f8")}
"""Dtypes that are read in place."""

Array = np.ndarray[Any, Any]


def flat_elements(tensor: torch.Tensor) -> Array | None:
    """A tensor's elements as a flat array, if possible a view of its memory that has to be used at once; None if they
    can't be read."""
    kind, dtype = type(tensor), _NUMPY_DTYPES.get(tensor.dtype)
    if (kind is not torch.Tensor and kind is not torch.nn.Parameter) or tensor.is_neg():
        return None
    if dtype is None or tensor.device.type != "cpu" or tensor.layout is not torch.strided or not tensor.is_contiguous():
        return _copied_elements(tensor)
    count, place = tensor.numel(), tensor.data_ptr()
    if not count:
        return np.zeros(0, dtype)
    if not place:  # its storage was given back
        return None
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(place)
    return np.frombuffer(memory, dtype)


def _copied_elements(tensor: torch.Tensor) -> Array | None:
    name = str(tensor.dtype)[6:]
    if not cells.can_summarize_dtype(name) or not has_storage(tensor):
        return None
    if tensor.device.type != "cpu":
        is_cheap = tensor.numel() <= MAX_DEVICE_ELEMENTS and tensor.is_contiguous()
        if not is_cheap or kernels_for_device(tensor.device) is None or torch.cuda.is_current_stream_capturing():
            return None
    copied = np.frombuffer(copy_element_bytes(tensor), cells.numpy_dtype_code(name))
    if name == "bfloat16":
        return (copied.astype("u4") << 16).view("f4")
    return copied.astype("f8")


def fast_sum_of_squares(values: Array) -> float:
    """The sum of squares, computed in float64 if the squares leave the range of the dtype or would be rounded to
    nothing."""
    total = float(values.dot(values))
    if not SMALLEST_SUM <= total < math.inf and values.dtype.itemsize < 8:
        values = values.astype("f8")
        total = float(values.dot(values))
    return total


SMALLEST_SUM = 1e-18
"""The smallest sum of float32 squares that is used: above it, each element loses less than a millionth of a millionth.
"""

SAFE_SUM = 1e30
"""The largest sum of squares for which the difference of two such vectors can't overflow or become NaN."""


def scalar_value(tensor: Any) -> float | None:
    """The number in a tensor with one element; None if it can't be read."""
    kind = type(tensor)
    if (kind is not torch.Tensor and kind is not torch.nn.Parameter) or tensor.numel() != 1 or not has_storage(tensor):
        return None
    values = flat_elements(tensor)
    if values is None:
        return None
    return float(str(values[0])) if values.dtype.itemsize < 8 else float(values[0])


class TrackedParameter:
    """A parameter of an optimizer.

    kept: its elements before the next step; None if they are not known
    """

    __slots__ = ("_room", "kept", "uid")

    def __init__(self, uid: str) -> None:
        self.uid = uid
        self.kept: Array | None = None
        self._room: Array | None = None

    def keep_elements_before_step(self, tensor: torch.Tensor) -> None:
        """Keep a copy of the elements, to compare with after the step."""
        values, room = readable_elements(tensor), self._room
        if values is None:
            self.kept = None
        elif room is not None and room.shape == values.shape and room.dtype == values.dtype:
            room[...] = values
            self.kept = room
        else:
            self.kept = self._room = values.copy()

    def sums_of_squares(self, tensor: torch.Tensor) -> tuple[float | None, float | None, float | None]:
        """The sums of squares of the gradient, of the elements, and of their change since they were kept."""
        gradient, values, kept = grad_without_warning(tensor), readable_elements(tensor), self.kept
        self.kept = None
        grad = moved = None
        if gradient is not None:
            elements = flat_elements(gradient)
            grad = None if elements is None else fast_sum_of_squares(elements)
        if values is None:
            return grad, None, None
        total = fast_sum_of_squares(values)
        if kept is not None and kept.shape == values.shape and kept.dtype == values.dtype:
            moved = fast_sum_of_squares(_norm_of_change(values, kept, total))
        return grad, total, moved


def readable_elements(tensor: torch.Tensor) -> Array | None:
    """The elements of a tensor whose storage has a Python object already; None if the storage was freed or is too
    small."""
    kind = type(tensor)
    if (kind is not torch.Tensor and kind is not torch.nn.Parameter) or tensor.layout is not torch.strided:
        return None
    if tensor.untyped_storage().nbytes() < (tensor.storage_offset() + tensor.numel()) * tensor.element_size():
        return None
    return flat_elements(tensor)


def _norm_of_change(values: Array, kept: Array, total: float) -> Array:
    """The norm of `values` minus the kept elements. Values that are not finite raise no warning, whatever the program's
    warning filters are.

    total: the sum of squares of `values`
    """
    if total < SAFE_SUM and float(kept.dot(kept)) < SAFE_SUM:
        return np.asarray(values - kept)
    with np.errstate(all="ignore"):
        return np.asarray(values - kept)
