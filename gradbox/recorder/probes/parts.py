"""The dense tensors that a sparse or nested one is made of.

They are reported as handles of their own, and named by their place: torch makes a new object at every question.
"""

import torch

from gradbox.recorder.probes.counters import Counters
from gradbox.recorder.probes.handles import as_plain_tensor, dense_parts, has_storage, tensor_facts
from gradbox.recorder.probes.holders import Holders
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.uids import WeakUids


class DenseParts:
    """The parts of a run's tensors.

    incomplete: tensors that were observed in a backward pass: what their parts share is not known yet.
    """

    def __init__(
        self, context: ProbeContext, uids: WeakUids, storages: Storages, counters: Counters, holders: Holders
    ) -> None:
        self._context, self._delta, self._uids = context, context.delta, uids
        self._storages, self._counters, self._holders = storages, counters, holders
        self._parts: dict[str, dict[str, str]] = {}  # tensor -> name of a part -> the part's uid
        self.incomplete: dict[str, None] = {}

    def update(self, uid: str, tensor: torch.Tensor, counter: str | None) -> dict[str, str] | None:
        """Report a tensor's parts; their uids by name, None for a dense one.

        counter: of the whole; torch gives it to what the program gets when it asks for a part.
        """
        if as_plain_tensor(tensor).layout == torch.strided and not as_plain_tensor(tensor).is_nested:
            return None
        uids = self._parts.setdefault(uid, {})
        backward = self._context.running_backwards > 0
        if backward:
            self.incomplete[uid] = None
        else:
            self.incomplete.pop(uid, None)
        with torch._C._DisableFuncTorch():  # inside a transform it would wrap them
            parts = dense_parts(tensor)
        for name, part in parts.items():
            if name not in uids:
                uids[name] = self._uids.allocate()
            elif backward:
                continue
            self._update_part(uids[name], part, counter)
        return dict(uids) or None

    def _update_part(self, uid: str, part: torch.Tensor, counter: str | None) -> None:
        out = tensor_facts(part)
        out["leaf"] = out["requires_grad"] = None  # autograd knows the whole, not its parts
        if has_storage(part) and not self._context.running_backwards:  # then it would be known by this object alone
            out["storage"] = storage = self._storages.register(part)
            if counter is not None:
                self._counters.link_storage(counter, storage)
        self._delta.update(uid, out)
        stored, dtype = out.get("storage"), out.get("dtype")
        self._holders.set_storages(uid, [(stored, dtype)] if stored and dtype else [])

    def forget(self, uid: str) -> list[str]:
        """A tensor died; the uids of its parts."""
        self.incomplete.pop(uid, None)
        return list(self._parts.pop(uid, {}).values())
