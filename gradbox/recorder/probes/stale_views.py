"""Views whose base was written: torch works out their node anew when somebody asks, and asking is ours to avoid.

The node made at that moment is younger than those the program makes before it would have asked itself, and the engine
runs the youngest first. So nobody asks, until the program did; what it would get is read without leaving a trace.
"""

from collections.abc import Iterable
from typing import Any

import torch

from gradbox.recorder.probes.handles import as_plain_tensor, temporarily_at_version

UNREACHED_VERSION_OFFSET = 1 << 20
"""Versions ahead of its own at which a view is asked: none that the program will come to."""


class StaleView:
    """A view that torch has not brought up to date since its base was written.

    version_before: the version at which it last was up to date
    had_node: it had a node; one that had none would have one once it is read, so that waits for the end. read_at: the
        version at which its node was read since. node: the one it had, which lives until torch makes another.
    """

    __slots__ = ("had_node", "node", "read_at", "version_before")

    def __init__(self, version_before: int, had_node: bool) -> None:
        self.version_before, self.had_node, self.read_at, self.node = version_before, had_node, -1, None


class StaleViews:
    """The views of a run that torch has not brought up to date. A tensor is known by its uid."""

    def __init__(self) -> None:
        self._stale: dict[str, StaleView] = {}
        self._views_by_node: dict[str, str] = {}  # a node as it was read -> its view

    def mark_stale(self, uid: str, version_before: int, had_node: bool) -> None:
        """What it is a view of was written, by another way than through it. See `StaleView`."""
        self._stale.setdefault(uid, StaleView(version_before, had_node))

    def clear_all(self) -> bool:
        """Nothing of the program runs any more: all may be asked. Whether there is one."""
        views = bool(self._stale)
        self._stale.clear()
        return views

    def mark_current(self, uid: str) -> None:
        """The program used it, or may have asked."""
        self._stale.pop(uid, None)

    def note_node_of_view(self, uid: str, node: str) -> None:
        """The uid of the node that was read."""
        if uid in self._stale:
            self._views_by_node[node] = uid

    def take_views_of_dead_nodes(self, dead_nodes: Iterable[str]) -> list[str]:
        """The views that had these nodes: the nodes died because torch made others, so somebody asked."""
        views = [uid for node in dead_nodes if (uid := self._views_by_node.pop(node, None)) is not None]
        for uid in views:
            self.mark_current(uid)
        return views

    def is_stale(self, uid: str) -> bool:
        return uid in self._stale

    def can_skip_reading_node(self, uid: str, tensor: torch.Tensor) -> bool:
        """Whether there is nothing to read: it was since the last write, or must not be."""
        return not self._stale[uid].had_node or bool(self._stale[uid].read_at == as_plain_tensor(tensor)._version)

    def read_node(self, uid: str, tensor: torch.Tensor) -> Any:
        """The node that torch would work out; torch forgets it at once, for it was asked at another version."""
        stale_view, own = self._stale[uid], as_plain_tensor(tensor)
        stale_view.read_at = own._version
        if stale_view.node is None:
            with temporarily_at_version(tensor, stale_view.version_before):
                stale_view.node = own.grad_fn
        with temporarily_at_version(tensor, stale_view.read_at + UNREACHED_VERSION_OFFSET):
            return own.grad_fn
