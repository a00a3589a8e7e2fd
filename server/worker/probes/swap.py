"""`torch.utils.swap_tensors` refuses tensors with a weak reference; ours step aside while it works."""

from collections.abc import Callable
from typing import Any, Self

import torch

from server.worker.probes.storages import Storages
from server.worker.uids import WeakUids


class Swap:
    """Wraps the function while entered. The tensors keep their uids: the Python objects are the same after it."""

    def __init__(self, names: WeakUids, storages: Storages, guard: Callable[[], Any]) -> None:
        self._names, self._storages, self._guard = names, storages, guard
        self._original: Any = None

    def __enter__(self) -> Self:
        self._original = torch.utils.swap_tensors
        setattr(torch.utils, "swap_tensors", self._swap_tensors)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(torch.utils, "swap_tensors", self._original)

    def _swap_tensors(self, t1: torch.Tensor, t2: torch.Tensor) -> Any:
        uids: list[tuple[Any, str | None]] = []
        with self._guard():
            if not self._storages.running_backwards:
                self._storages.promote_transients()  # gradients are known by weak references until then
            uids = [(tensor, self._names.unbind(tensor)) for tensor in (t1, t2)]
        try:
            return self._original(t1, t2)
        finally:
            with self._guard():
                for tensor, uid in uids:
                    if uid is not None:
                        self._names.bind(tensor, uid)
