"""Version counters: which tensors share one, asked of torch by moving it and looking who follows."""

from typing import Any

import torch

from server.worker.names import Picture, Uids, WeakNames

_STRIDE = 1 << 20
_move = torch._C._autograd._unsafe_set_version_counter


class Counters:
    """The counters of a run and who wears them."""

    def __init__(self, uids: Uids, picture: Picture, tensors: WeakNames) -> None:
        self._uids, self._picture, self._tensors = uids, picture, tensors
        self._worn: dict[str, tuple[str, int]] = {}  # tensor uid -> (counter, address of its implementation)
        self._wearers: dict[str, list[str]] = {}
        self._value: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._slots: set[str] = set()

    def begin(self) -> None:
        self._now = {}
        self._slots = set()

    def see(self, uid: str, tensor: torch.Tensor) -> str:
        """The counter that this tensor wears; its value is noted for this look."""
        version, impl = tensor._version, tensor._cdata
        worn = self._worn.get(uid)
        if worn is None or worn[1] != impl or self._now.get(worn[0], version) != version:
            if worn is not None:
                self._wearers[worn[0]].remove(uid)
            counter = self.shared(tensor, but=uid) or self._uids.fresh("c")
            self._worn[uid] = (counter, impl)
            self._wearers.setdefault(counter, []).append(uid)
        else:
            counter = worn[0]
        self._now[counter] = version
        return counter

    def shared(self, tensor: torch.Tensor, but: str | None = None) -> str | None:
        """The known counter that moves with this tensor's, or None. Leaves every counter as it was."""
        witnesses: list[tuple[str, Any, int]] = []
        for counter, wearers in self._wearers.items():
            for wearer in wearers:
                other = self._tensors.get(wearer) if wearer != but else None
                if other is not None:
                    witnesses.append((counter, other, other._version))
                    break
        version = tensor._version
        _move((tensor,), (version + _STRIDE,))
        try:
            return next((counter for counter, other, before in witnesses if other._version != before), None)
        finally:
            _move((tensor,), (version,))

    def same(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether moving the counter of one moves the other's. Leaves both as they were."""
        before, version = other._version, one._version
        _move((one,), (version + _STRIDE,))
        try:
            return other._version != before
        finally:
            _move((one,), (version,))

    def slot(self, known: str | None, tensor: torch.Tensor) -> str:
        """The counter of a saved tensor; one that no living tensor wears is kept by its slot alone."""
        worn = known is not None and any(self._tensors.get(w) is not None for w in self._wearers.get(known, ()))
        counter = known if worn else (self.shared(tensor) or known or self._uids.fresh("c"))
        assert counter is not None
        self._now[counter] = tensor._version
        self._slots.add(counter)
        return counter

    def told(self, counter: str) -> int | None:
        return self._value.get(counter)

    def moved(self) -> list[tuple[str, int, int]]:
        """(counter, from, to) for those that moved since the look before."""
        return [(c, self._value[c], v) for c, v in self._now.items() if c in self._value and self._value[c] != v]

    def look(self, kept: set[str]) -> list[str]:
        """Tell the values; the counters that nobody wears any more. kept: counters of slots not looked at now."""
        for counter, value in self._now.items():
            self._value[counter] = value
            self._picture.put(counter, {"kind": "counter", "value": value})
        for uid in [uid for uid in self._worn if self._tensors.get(uid) is None]:
            self._wearers[self._worn.pop(uid)[0]].remove(uid)
        gone = [c for c in self._value if not self._wearers.get(c) and c not in self._slots and c not in kept]
        for counter in gone:
            del self._value[counter]
            self._wearers.pop(counter, None)
        return gone
