"""Finds writes by advanced indices that don't do what they seem to: into the copy that an index made, or to one element
twice."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch

from gradbox.recorder.observation import Observation, OpCall
from gradbox.recorder.probes.handles import is_plain_tensor
from gradbox.wire import events

MAX_COMPARED_INDICES = 4096
"""Index tensors with more elements are not compared."""

_COPYING_OPERATIONS = (
    "aten::index.Tensor", "aten::index_select", "aten::masked_select", "aten::gather", "aten::take",
    "aten::reshape", "aten::flatten.using_ints", "aten::ravel", "aten::contiguous",
)  # fmt: skip
"""Operations that return a copy, or may, without saying so as `clone` does. If the program writes into a copy that
nothing keeps, the write is lost."""

_OPERATIONS_THAT_HAND_OUT_NUMBERS = ("aten::resolve_conj", "aten::resolve_neg")
"""Operations with which `tolist` and `numpy` begin. They read the numbers, although torch only makes a view."""


def may_operation_return_copy(name: str) -> bool:
    """Whether an operation may return a copy in which a write would be lost."""
    return name in _COPYING_OPERATIONS


_INDEX_PUT_OPERATIONS = ("aten::index_put_", "aten::index_put", "aten::_index_put_impl_")


_SCATTER_OPERATIONS = ("aten::scatter.src", "aten::scatter_.src")


def is_index_put(name: str) -> bool:
    """Whether an operation writes to the elements that index tensors name."""
    return name in _INDEX_PUT_OPERATIONS or name in _SCATTER_OPERATIONS


def repeated_index_counts(name: str, args: Any, kwargs: dict[str, Any]) -> tuple[int, int] | None:
    """How many places the indices of an `index_put` or a `scatter` name, and how many different ones. None if none is
    named twice, and for a scatter whose gradient nobody asks for.

    torch computes nothing: the index tensors are read as lists, expanded to their common shape as views.
    """
    if name in _SCATTER_OPERATIONS:
        return _repeated_scatter_counts(*args[1:]) if len(args) == 4 else None
    accumulate = args[3] if len(args) > 3 else kwargs.get("accumulate", False)
    indices = args[1] if len(args) > 1 else kwargs.get("indices", ())
    given = [index for index in indices if index is not None]
    if accumulate or not given:
        return None
    if not all(is_plain_tensor(index) and index.dtype in (torch.int64, torch.int32) for index in given):
        return None  # a mask names no element twice
    shape = torch.broadcast_shapes(*(index.shape for index in given))  # type: ignore[no-untyped-call]
    if shape.numel() > MAX_COMPARED_INDICES:
        return None
    sizes = [size for size, index in zip(args[0].shape, indices, strict=False) if index is not None]
    columns = [
        [k % size if size else k for k in flatten_numbers(index.detach().expand(shape).tolist())]
        for index, size in zip(given, sizes, strict=True)
    ]
    count = shape.numel()
    distinct = len(set(zip(*columns, strict=True)))
    return (count, distinct) if distinct < count else None


def _repeated_scatter_counts(dim: int, index: Any, source: Any) -> tuple[int, int] | None:
    if not (is_plain_tensor(index) and is_plain_tensor(source) and source.requires_grad):
        return None
    count = index.numel()
    if not count or count > MAX_COMPARED_INDICES:
        return None
    numbers, stride = list(flatten_numbers(index.detach().tolist())), index.shape[dim:] if index.dim() else ()
    inner = math.prod(stride[1:])
    block = inner * (stride[0] if stride else 1)
    distinct = len({(k // block, k % inner, number) for k, number in enumerate(numbers)})
    return (count, distinct) if distinct < count else None


def flatten_numbers(values: Any) -> Iterator[int]:
    """Yield the numbers of nested lists."""
    if isinstance(values, list):
        for value in values:
            yield from flatten_numbers(value)
    else:
        yield values


def index_write_events(observation: Observation, dead_storages: list[str]) -> list[events.Event]:
    """The events `index_copy_written` and `indices_repeated` of the statement."""
    found_events: list[events.Event] = []
    for position, call in enumerate(observation.op_calls):
        if call.repeated_counts is not None:
            found_events.append(_indices_repeated_event(call))
        if call.results and call.called_directly and may_operation_return_copy(call.entry["name"]):
            lost = _lost_write_event(call, position, observation, dead_storages)
            if lost is not None:
                found_events.append(lost)
    return found_events


def _indices_repeated_event(call: OpCall) -> events.IndicesRepeated:
    assert call.repeated_counts is not None
    count, distinct = call.repeated_counts
    return {
        "kind": "event",
        "event": "indices_repeated",
        "op": call.log_index,
        "tensor": call.entry["inputs"][0],
        "count": count,
        "distinct": distinct,
    }


def _lost_write_event(
    call: OpCall, position: int, observation: Observation, dead_storages: list[str]
) -> events.IndexCopyWritten | None:
    """The event for a write into memory that an index allocated, if nothing read it afterwards and it died with the
    statement.

    Only if the program took the copy itself: in a function without steps it may have had a name.
    """
    copy = call.results[0][0]
    storage = observation.provisional_facts.get(copy, {}).get("storage")
    if storage is None or storage not in dead_storages or observation.tensors_printed or observation.exposes_memory:
        return None
    handles = {copy}
    write: OpCall | None = None
    for later in islice(observation.op_calls, position + 1, None):
        if any(written == storage for written, _ in later.writes):
            write = later
        elif (
            write is not None
            and _reads_any_handle(later, handles)
            and not _only_makes_views(later, storage, observation)
        ):
            return None  # what was written is used
        handles.update(
            uid for uid, _, _ in later.results if observation.provisional_facts.get(uid, {}).get("storage") == storage
        )
    if write is None:
        return None
    return {
        "kind": "event",
        "event": "index_copy_written",
        "op": write.log_index,
        "tensor": call.entry["inputs"][0],
        "copy": copy,
    }


def _reads_any_handle(call: OpCall, handles: set[str]) -> bool:
    return any(uid in handles for uid, _ in call.inputs)


def _only_makes_views(call: OpCall, storage: str, observation: Observation) -> bool:
    """Whether an operation only made another handle on a storage."""
    if call.entry["name"] in _OPERATIONS_THAT_HAND_OUT_NUMBERS:
        return False
    return bool(call.results) and all(
        observation.provisional_facts.get(uid, {}).get("storage") == storage for uid, _, _ in call.results
    )
