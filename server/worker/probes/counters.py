"""Version counters: which tensors share one, asked of torch by moving it and looking who follows."""

from collections.abc import Iterable
from typing import Any

import torch

from server.worker.names import Uids, WeakNames
from server.worker.picture import Picture
from server.worker.probes.handles import at_version, bare

FAR = 1 << 20
"""Versions by which a counter is moved to see who follows."""


class Counters:
    """The counters of a run and who wears them."""

    def __init__(self, uids: Uids, picture: Picture, tensors: WeakNames) -> None:
        self._uids, self._picture, self._tensors = uids, picture, tensors
        self._worn: dict[str, tuple[str, int]] = {}  # tensor uid -> (counter, address of its implementation)
        self._wearers: dict[str, dict[str, None]] = {}
        self._on: dict[str, dict[str, None]] = {}  # storage -> the counters of tensors that ever read it
        self._places: dict[str, set[str]] = {}  # the same by counter
        self._value: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._pinned: dict[str, int] = {}  # counter -> how many slots hold it
        self._lost: dict[str, None] = {}
        self.unsure = False  # a new tensor may share a counter that only a slot holds
        self.moving = False  # tensors may have gone to other storages since the look before

    def begin(self) -> None:
        self._now = {}
        self.unsure = self.moving = False

    def see(self, uid: str, tensor: torch.Tensor, storage: str | None) -> str:
        """The counter that this tensor wears; its value is noted for this look."""
        own = bare(tensor)
        version, impl = own._version, own._cdata
        worn = self._worn.get(uid)
        if worn is None or worn[1] != impl or self._now.get(worn[0], version) != version:
            if worn is not None:
                self._wearers[worn[0]].pop(uid, None)
                self._lost[worn[0]] = None
            among = self._among(storage) if worn is None else None
            counter = self.shared(tensor, but=uid, among=among) or self._uids.fresh("c")
            self._worn[uid] = (counter, impl)
            self._wearers.setdefault(counter, {})[uid] = None
        else:
            counter = worn[0]
        if storage is not None:
            self.on(counter, storage)
        self._now[counter] = version
        return counter

    def _among(self, storage: str | None) -> Iterable[str] | None:
        """Where a new tensor's counter can be among the known ones: it was made from one that read the same storage."""
        if storage is None or self.moving:
            return None
        among = self._on.get(storage, {})
        self.unsure = self.unsure or any(c in self._pinned and self.witness(c) is None for c in among)
        return among

    def witness(self, counter: str, but: str | None = None) -> Any:
        """A living tensor that wears it."""
        for wearer in self._wearers.get(counter, ()):
            if wearer != but:
                tensor = self._tensors.get(wearer)
                if tensor is not None:
                    return tensor
        return None

    def shared(self, tensor: torch.Tensor, but: str | None = None, among: Iterable[str] | None = None) -> str | None:
        """The known counter that moves with this tensor's, or None. Leaves every counter as it was.

        among: the counters that it can be; None for any.
        """
        witnesses: list[tuple[str, Any, int]] = []
        for counter in self._wearers if among is None else among:
            other = self.witness(counter, but)
            if other is not None:
                witnesses.append((counter, bare(other), bare(other)._version))
        if not witnesses:
            return None
        with at_version(tensor, bare(tensor)._version + FAR):
            return next((counter for counter, other, before in witnesses if other._version != before), None)

    def same(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether moving the counter of one moves the other's. Leaves both as they were."""
        before = bare(other)._version
        with at_version(one, bare(one)._version + FAR):
            return bool(bare(other)._version != before)

    def slot(self, known: str | None, tensor: torch.Tensor, storage: str | None) -> str:
        """The counter of a saved tensor; one that no living tensor wears is kept by its slot alone."""
        worn = known is not None and self.witness(known) is not None
        among = self._on.get(storage, {}) if storage is not None and not self.moving else None
        counter = known if worn else (self.shared(tensor, among=among) or known or self._uids.fresh("c"))
        assert counter is not None
        self._now[counter] = bare(tensor)._version
        return counter

    def pin(self, counter: str, by: int) -> None:
        """So many slots more, or less, hold it."""
        count = self._pinned.get(counter, 0) + by
        if count:
            self._pinned[counter] = count
        else:
            self._pinned.pop(counter, None)
            self._lost[counter] = None

    def on(self, counter: str, storage: str) -> None:
        """A tensor with this counter reads that storage."""
        if counter not in self._on.get(storage, ()):
            self._on.setdefault(storage, {})[counter] = None
            self._places.setdefault(counter, set()).add(storage)

    def wearers(self, counter: str) -> Iterable[str]:
        return self._wearers.get(counter, ())

    def version(self, counter: str) -> int | None:
        """As this look found it, or as it was told."""
        return self._now.get(counter, self._value.get(counter))

    def moved(self) -> list[tuple[str, int, int]]:
        """(counter, from, to) for those that moved since the look before."""
        return [(c, self._value[c], v) for c, v in self._now.items() if c in self._value and self._value[c] != v]

    def forget(self, tensors: Iterable[str]) -> None:
        """These tensors died."""
        for uid in tensors:
            worn = self._worn.pop(uid, None)
            if worn is not None:
                self._wearers[worn[0]].pop(uid, None)
                self._lost[worn[0]] = None

    def look(self) -> list[str]:
        """Tell the values; the counters that nobody wears any more."""
        for counter, value in self._now.items():
            self._value[counter] = value
            self._picture.put(counter, {"kind": "counter", "value": value})
        gone = []
        for counter in self._lost:
            if not self._wearers.get(counter) and counter not in self._pinned:
                self._wearers.pop(counter, None)
                for storage in self._places.pop(counter, ()):
                    self._on[storage].pop(counter, None)
                    if not self._on[storage]:
                        del self._on[storage]
                if self._value.pop(counter, None) is not None:
                    gone.append(counter)
        self._lost.clear()
        return gone
