"""How many iterations a loop will have, of what it goes over: where that can be told without running code of the program."""

import operator
import sys
from typing import Any

from gradbox.recorder import introspection

_SIZED: tuple[type, ...] = (range, list, tuple, str, bytes, dict, set, frozenset)
_HINTED: tuple[type, ...] = (*(type(iter(kind())) for kind in (list, tuple, str, bytes, dict, set)), type(iter(range(0))),
                             type(iter(range(1 << 80))), reversed, type(reversed([])), type(reversed(range(0))))  # fmt: skip
_PAIRED = (enumerate, zip)
MAX_DEPTH = 4


def iteration_count(iterable: Any, depth: int = 0) -> int | None:
    """How many items it has; None where that is not known."""
    kind = type(iterable)
    if kind in _SIZED or kind in (type({}.keys()), type({}.values()), type({}.items())):
        return len(iterable)
    if kind in _HINTED:
        return operator.length_hint(iterable)
    if depth == MAX_DEPTH:
        return None
    if kind in _PAIRED:
        inner = iterable.__reduce__()[1]
        counts = [iteration_count(part, depth + 1) for part in (inner[:1] if kind is enumerate else inner)]
        known = [count for count in counts if count is not None]
        return min(known) if known and (len(known) == len(counts)) else None
    if introspection.class_name(kind).startswith("tqdm") and introspection.class_module(kind).startswith("tqdm."):
        return iteration_count((introspection.instance_dict(iterable) or {}).get("iterable"), depth + 1)
    return _batch_count(iterable, kind)


def _batch_count(iterable: Any, kind: type) -> int | None:
    """Of a `DataLoader`, or an iteration over one, that has nothing of the program's in it."""
    data, loading = sys.modules.get("torch.utils.data"), sys.modules.get("torch.utils.data.dataloader")
    if data is None or loading is None:
        return None
    attributes = introspection.instance_dict(iterable) or {}
    if kind is data.DataLoader:
        dataset, batches, passed = attributes.get("dataset"), attributes.get("batch_sampler"), 0
    elif kind is loading._SingleProcessDataLoaderIter:
        dataset, batches = attributes.get("_dataset"), attributes.get("_index_sampler")
        passed = attributes.get("_num_yielded", 0)
    else:
        return None
    sampler = (introspection.instance_dict(batches) or {}).get("sampler")
    is_torchs = type(batches) is data.BatchSampler and type(sampler) in (data.SequentialSampler, data.RandomSampler)
    if not is_torchs or type(dataset) not in (data.TensorDataset, list, range):
        return None
    return len(batches) - passed if batches is not None else None
