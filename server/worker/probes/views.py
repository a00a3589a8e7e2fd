"""Views whose base was written: torch works out their node anew when somebody asks, and asking is ours to avoid.

The node made at that moment is younger than those the program makes before it would have asked itself, and the engine
runs the youngest first. So nobody asks, until the program did; what it would be told is read without leaving a trace.
"""

from collections.abc import Iterable
from typing import Any

import torch

from server.worker.probes.handles import at_version, bare

FAR = 1 << 20
"""Versions ahead of its own at which a view is asked: none that the program will come to."""


class Stale:
    """A view that torch has not brought up to date since its base was written.

    before: the version at which it last was. led: it had a node; one that had none would have one once it is read, so
    that waits for the end. read: the version at which its node was read since. node: the one it had, which lives until
    torch makes another.
    """

    __slots__ = ("before", "led", "node", "read")

    def __init__(self, before: int, led: bool) -> None:
        self.before, self.led, self.read, self.node = before, led, -1, None


class Views:
    """The views of a run that torch has not brought up to date. A tensor is known by its uid."""

    def __init__(self) -> None:
        self._stale: dict[str, Stale] = {}
        self._shown: dict[str, str] = {}  # a node as it was read -> its view

    def spoil(self, uid: str, before: int, led: bool) -> None:
        """What it is a view of was written, by another way than through it. before, led: see `Stale`."""
        self._stale.setdefault(uid, Stale(before, led))

    def clear(self) -> bool:
        """Nothing of the program runs any more: all may be asked. Whether there is one."""
        found = bool(self._stale)
        self._stale.clear()
        return found

    def settle(self, uid: str) -> None:
        """The program used it, or may have asked."""
        self._stale.pop(uid, None)

    def show(self, uid: str, node: str) -> None:
        """The uid of the node that was read."""
        if uid in self._stale:
            self._shown[node] = uid

    def asked(self, dead: Iterable[str]) -> list[str]:
        """The views of which these nodes were told: the nodes died because torch made others, so somebody asked."""
        found = [uid for node in dead if (uid := self._shown.pop(node, None)) is not None]
        for uid in found:
            self.settle(uid)
        return found

    def stale(self, uid: str) -> bool:
        return uid in self._stale

    def told(self, uid: str, tensor: torch.Tensor) -> bool:
        """Whether there is nothing to read: it was since the last write, or must not be."""
        return not self._stale[uid].led or bool(self._stale[uid].read == bare(tensor)._version)

    def read(self, uid: str, tensor: torch.Tensor) -> Any:
        """The node that torch would work out; torch forgets it at once, for it was asked at another version."""
        view, own = self._stale[uid], bare(tensor)
        view.read = own._version
        if view.node is None:
            with at_version(tensor, view.before):
                view.node = own.grad_fn
        with at_version(tensor, view.read + FAR):
            return own.grad_fn
