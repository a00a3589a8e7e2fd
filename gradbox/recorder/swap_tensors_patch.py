"""`torch.utils.swap_tensors` refuses tensors with a weak reference; the recorder drops its own while it works."""

from typing import Any, Self

import torch

from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.uids import WeakUids


class SwapTensorsPatch:
    """Wraps `torch.utils.swap_tensors` while entered. The tensors keep their uids, because the Python objects stay the
    same."""

    def __init__(self, context: ProbeContext, tensor_uids: WeakUids, storages: Storages) -> None:
        self._context, self._uids, self._storages = context, tensor_uids, storages
        self._original: Any = None

    def __enter__(self) -> Self:
        self._original = torch.utils.swap_tensors
        setattr(torch.utils, "swap_tensors", self._swap_tensors)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(torch.utils, "swap_tensors", self._original)

    def _swap_tensors(self, t1: torch.Tensor, t2: torch.Tensor) -> Any:
        uids: list[tuple[Any, str | None]] = []
        with self._context.guard():
            if not self._context.running_backwards:
                self._storages.promote_transient_storages()  # gradients are known by weak references until then
            uids = [(tensor, self._uids.unbind_object(tensor)) for tensor in (t1, t2)]
        try:
            return self._original(t1, t2)
        finally:
            with self._context.guard():
                for tensor, uid in uids:
                    if uid is not None:
                        self._uids.bind_uid(tensor, uid)
