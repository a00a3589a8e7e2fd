"""How many iterations a loop will have, of what it goes over: where that can be told without running code of the
program."""

import operator
import sys
from typing import Any

import torch

from gradbox.recorder import introspection

_SIZED: tuple[type, ...] = (
    range, list, tuple, str, bytes, dict, set, frozenset, type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip
_HINTED: tuple[type, ...] = (
    *(type(iter(kind())) for kind in (list, tuple, str, bytes, dict, set)),
    type(iter({}.values())), type(iter({}.items())), type(iter("é")), type(iter(range(0))), type(iter(range(1 << 80))),
    type(reversed([])), type(reversed({})),
)  # fmt: skip
"""Iterators of Python's own sized types: what they go over tells no `__len__` of the program."""

MAX_DEPTH = 4


def iteration_count(iterable: Any) -> int | None:
    """How many items it has; None where that is not known, or is more than a `len` can say."""
    try:
        return _item_count(iterable, 0)
    except OverflowError:
        return None


def _item_count(iterable: Any, depth: int) -> int | None:
    kind = type(iterable)
    if introspection.is_any_of_classes(kind, _SIZED):
        return len(iterable)
    if introspection.is_any_of_classes(kind, _HINTED):
        return operator.length_hint(iterable)
    if depth == MAX_DEPTH:
        return None
    if kind is enumerate:
        return _item_count(iterable.__reduce__()[1][0], depth + 1)
    if kind is zip:
        counts = [_item_count(part, depth + 1) for part in iterable.__reduce__()[1]]
        return None if not counts or None in counts else min(count for count in counts if count is not None)
    if kind is reversed:
        return _reversed_count(iterable)
    if introspection.class_name(kind).startswith("tqdm") and introspection.class_module(kind).startswith("tqdm."):
        return _item_count((introspection.instance_dict(iterable) or {}).get("iterable"), depth + 1)
    return _batch_count(iterable, kind)


def _reversed_count(iterable: Any) -> int | None:
    """Of `reversed` over a sequence of Python's own; another's would be asked for its length."""
    _, (sequence, *_), *position = iterable.__reduce__()
    is_own = introspection.is_any_of_classes(type(sequence), (tuple, str, bytes))
    return (position[0] + 1 if position else 0) if is_own else None


def _batch_count(iterable: Any, kind: type) -> int | None:
    """Of a `DataLoader`, or an iteration over one, that has nothing of the program's in it."""
    data, loading = sys.modules.get("torch.utils.data"), sys.modules.get("torch.utils.data.dataloader")
    if data is None or loading is None:
        return None
    attributes = introspection.instance_dict(iterable) or {}
    if kind is data.DataLoader:
        batches, passed = attributes.get("batch_sampler"), 0
    elif kind is loading._SingleProcessDataLoaderIter:
        batches, passed = attributes.get("_index_sampler"), attributes.get("_num_yielded", 0)
    else:
        return None
    if type(batches) is not data.BatchSampler:
        return None
    facts = introspection.instance_dict(batches) or {}
    samples, size = _sample_count(facts.get("sampler"), data), facts.get("batch_size")
    if samples is None or type(size) is not int or size < 1 or type(passed) is not int:
        return None
    return (samples // size if facts.get("drop_last") is True else -(-samples // size)) - passed


def _sample_count(sampler: Any, data: Any) -> int | None:
    if type(sampler) is data.SequentialSampler:
        return _dataset_length((introspection.instance_dict(sampler) or {}).get("data_source"), data)
    if type(sampler) is data.RandomSampler:
        facts = introspection.instance_dict(sampler) or {}
        count = facts.get("_num_samples")
        return (
            _dataset_length(facts.get("data_source"), data) if count is None else count if type(count) is int else None
        )
    return None


def _dataset_length(dataset: Any, data: Any) -> int | None:
    if type(dataset) is data.TensorDataset:
        tensors = (introspection.instance_dict(dataset) or {}).get("tensors")
        first = tensors[0] if type(tensors) is tuple and tensors else None
        return int(first.shape[0]) if type(first) is torch.Tensor and first.dim() else None
    if type(dataset) is data.Subset:
        indices: Any = (introspection.instance_dict(dataset) or {}).get("indices")
        return len(indices) if introspection.is_any_of_classes(type(indices), (list, tuple, range)) else None
    return len(dataset) if introspection.is_any_of_classes(type(dataset), (list, tuple, range)) else None
