"""`torch.utils.swap_tensors` refuses tensors with a weak reference; ours step aside while it works."""

from collections.abc import Callable
from typing import Any, Self

import torch

from server.worker.names import WeakNames
from server.worker.probes.storages import Storages


class Swap:
    """Wraps the function while entered. The tensors keep their uids: the Python objects are the same after it."""

    def __init__(self, names: WeakNames, storages: Storages, guard: Callable[[], Any]) -> None:
        self._names, self._storages, self._guard = names, storages, guard
        self._swap: Any = None

    def __enter__(self) -> Self:
        self._swap = torch.utils.swap_tensors
        setattr(torch.utils, "swap_tensors", self._run)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(torch.utils, "swap_tensors", self._swap)

    def _run(self, t1: torch.Tensor, t2: torch.Tensor) -> Any:
        uids: list[tuple[Any, str | None]] = []
        with self._guard():
            if not self._storages.light:
                self._storages.settle()  # gradients are known by weak references until then
            uids = [(tensor, self._names.release(tensor)) for tensor in (t1, t2)]
        try:
            return self._swap(t1, t2)
        finally:
            with self._guard():
                for tensor, uid in uids:
                    if uid is not None:
                        self._names.adopt(tensor, uid)
