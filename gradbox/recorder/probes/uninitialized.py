"""Memory from `torch.empty` and similar functions that nothing has written: which of its elements, and which operation
reads them.

It reports too little rather than too much: if a write may have passed unobserved, nothing more is reported of that
memory.
"""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from gradbox.recorder.probes import handles
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.probes.tensors import Tensors
from gradbox.wire.events import UninitializedRead

MAX_TRACKED_ELEMENTS = 1 << 20
"""Elements of a storage up to which each written element is tracked. In a larger one the first write counts for all."""

MAX_REPORTED_READS = 50
"""Reads that one trace reports."""

ALLOCATING_OPERATIONS_PATTERN = re.compile(r"^aten::(new_)?empty")
_OVERWRITING_OPERATIONS_PATTERN = re.compile(
    r"^aten::(fill|zero|copy|normal|uniform|random|bernoulli|exponential|geometric|cauchy|log_normal|set|resize|ones|eye)_"
)
_PLACING_OPERATIONS_PATTERN = re.compile(
    r"^aten::(scatter|index_copy|index_fill|_?index_put|masked_fill|masked_scatter|put)_(?!.*reduce)"
)
"""Writes to places of their first argument, which they do not read."""

_METADATA_OPERATIONS_PATTERN = re.compile(
    r"_like\b|^aten::(new_|size|sym_|stride|numel|dim|is_|_is|requires_grad|set_|_version|resize|storage_offset|result_type"
    r"|record_stream|pin_memory|_has|lift|output_nr|data|can_cast|retain|_backward|detach|_fw_primal|_make_dual|squeeze|view)"
)
_LIFT_PREFIX = "aten::lift"
_COPYING_OPERATIONS_PATTERN = re.compile(r"^aten::(_to_copy|to|type_as|clone|contiguous)(\.|$)")
_PARTIALLY_WRITING_OPERATIONS_PATTERN = re.compile(
    r"^aten::(_?index_put|masked_|scatter|index_|put_|_foreach|_fused|_amp)"
)
"""Writes that depend on the values of their arguments, or on lists."""


class UninitializedMemory:
    """Tracks such memory by the storage's uid: None if no element is written, else which elements are."""

    def __init__(self, tensors: Tensors, storages: Storages) -> None:
        self._tensors, self._storages = tensors, storages
        self._written_elements: dict[str, np.ndarray[Any, Any] | None] = {}
        self._read_count = 0

    @property
    def has_uninitialized(self) -> bool:
        """Whether there is such memory."""
        return bool(self._written_elements)

    def forget_all(self) -> None:
        """Forget everything, because operations passed unobserved."""
        self._written_elements.clear()

    def mark_uninitialized(self, tensor: torch.Tensor) -> None:
        """Note that an operation that writes nothing made this tensor."""
        if tensor.numel() and handles.has_storage(tensor) and tensor.device.type == "cpu":
            self._written_elements[self._storages.register_tensor_storage(tensor)] = None

    def is_copy_of_unwritten(self, name: str, args: Iterable[Any]) -> bool:
        """Whether an operation only copies such memory, of which nothing is written: its result is such memory too."""
        return bool(_COPYING_OPERATIONS_PATTERN.match(name)) and any(
            (uid := self._uninitialized_storage(tensor)) is not None and self._written_elements[uid] is None
            for tensor in handles.collect_tensors([*args][:1])
        )

    def uninitialized_read_events(
        self, name: str, op: Any, args: Iterable[Any], kwargs: dict[str, Any], written: Iterable[torch.Tensor]
    ) -> list[UninitializedRead]:
        """Events for what an operation that is about to run reads of such memory.

        written: the tensors that it writes
        """
        if name.startswith(_LIFT_PREFIX):  # `torch.tensor` and its like filled it without an operator
            for tensor in handles.collect_tensors(args):
                self._written_elements.pop(self._storages.find_tensor_storage(tensor) or "", None)
        if not self._written_elements or _METADATA_OPERATIONS_PATTERN.search(name) or does_operation_return_view(op):
            return []
        if self.is_copy_of_unwritten(name, args):
            return []
        overwrites = bool(_OVERWRITING_OPERATIONS_PATTERN.match(name))
        taken = list(args)[1 if overwrites or _PLACING_OPERATIONS_PATTERN.match(name) else 0 :]
        outs = {id(tensor) for tensor in written} if overwrites or name.endswith("out") else set()
        taken += [value for key, value in kwargs.items() if key != "out"]
        return [
            event
            for tensor in handles.collect_tensors(taken)
            if id(tensor) not in outs and (event := self.uninitialized_read_event(tensor)) is not None
        ]

    def uninitialized_read_event(self, tensor: torch.Tensor) -> UninitializedRead | None:
        """The event for reading this tensor; None if all of its elements were written, or nothing is known of it."""
        uid = self._uninitialized_storage(tensor)
        if uid is None or not tensor.numel() or self._read_count >= MAX_REPORTED_READS:
            return None
        elements = self._written_elements[uid]
        if elements is not None:
            view = written_mask(elements, tensor)
            if view is None or view.all():
                return None
        self._read_count += 1
        return {"kind": "event", "event": "uninitialized_read", "tensor": self._tensors.register_tensor(tensor)}

    def on_write(self, name: str, tensor: torch.Tensor) -> None:
        """Note that an operation wrote to this tensor."""
        uid = self._uninitialized_storage(tensor)
        if uid is None:
            return
        size = tensor.untyped_storage().nbytes() // tensor.element_size()
        if _PARTIALLY_WRITING_OPERATIONS_PATTERN.match(name) or tensor.numel() >= size or size > MAX_TRACKED_ELEMENTS:
            del self._written_elements[uid]
            return
        elements = self._written_elements[uid]
        if elements is None:
            elements = self._written_elements[uid] = np.zeros(size, bool)
        view = written_mask(elements, tensor)
        if view is None:
            del self._written_elements[uid]
            return
        view[...] = True
        if elements.all():
            del self._written_elements[uid]

    def _uninitialized_storage(self, tensor: torch.Tensor) -> str | None:
        """The tensor's storage, if its memory is tracked; memory that was handed out is not."""
        if not self._written_elements or not handles.has_storage(tensor) or tensor.device.type != "cpu":
            return None
        uid = self._storages.find_tensor_storage(tensor)
        if uid in self._storages.exposed:
            self._written_elements.pop(uid, None)
        return uid if uid in self._written_elements else None


def written_mask(elements: "np.ndarray[Any, Any]", tensor: torch.Tensor) -> "np.ndarray[Any, Any] | None":
    """The marks of a tensor's elements, for reading and writing; None if the tensor's elements have another size."""
    shape, stride, offset = tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset()
    last = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
    if last >= len(elements) or len(elements) * tensor.element_size() != tensor.untyped_storage().nbytes():
        return None
    return np.lib.stride_tricks.as_strided(elements[offset:], shape, stride)


def does_operation_return_view(op: Any) -> bool:
    """Whether an operation returns a view of its input, in which case it reads nothing."""
    return any(value.alias_info is not None and not value.alias_info.is_write for value in op._schema.returns)
