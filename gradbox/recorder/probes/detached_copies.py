"""Detached copies: where `detach()` or `.data` made a tensor that leaves the graph on the same storage."""

from collections.abc import Iterable

import torch

from gradbox.recorder.observation import DetachedCopy
from gradbox.recorder.probes.counters import Counters
from gradbox.recorder.probes.handles import as_plain_tensor
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.uids import WeakUids


class DetachedCopies:
    """Knows which handles on each storage require grad, and recognizes a copy of one of them that does not."""

    def __init__(self, context: ProbeContext, uids: WeakUids, counters: Counters) -> None:
        self._context, self._uids, self._counters = context, uids, counters
        self._requiring_grad: dict[str, list[str]] = {}  # storage -> the handles on it that require grad

    def note_requiring_grad(self, uid: str, storage: str) -> None:
        """This handle on the storage requires grad."""
        handles = self._requiring_grad.setdefault(storage, [])
        if uid not in handles:
            handles.append(uid)

    def note_new_handle(self, uid: str, tensor: torch.Tensor, storage: str) -> None:
        """A new handle on the storage requires no grad; a leaf on one of a tensor that requires it is a detached copy."""
        handles = self._requiring_grad.get(storage)
        own = as_plain_tensor(tensor)
        if not handles or own._is_view() or own.is_inference() or not (own.is_floating_point() or own.is_complex()):
            return
        living = [(handle, other) for handle in handles if (other := self._uids.get(handle)) is not None]
        source = next((handle for handle, other in living if self._counters.share_counter(other, tensor)), None)
        if source is not None:
            copy = DetachedCopy(source, uid, "detach")
        elif living:
            copy = DetachedCopy(living[0][0], uid, "data")
        else:  # none is left whose counter could be compared
            copy = DetachedCopy(handles[-1], uid, "detach")
        self._context.observation.detached_copies.append(copy)

    def forget_storages(self, storages: Iterable[str]) -> None:
        """These storages died."""
        for uid in storages:
            self._requiring_grad.pop(uid, None)
