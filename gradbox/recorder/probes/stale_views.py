"""Views whose base was written. torch computes their node anew when somebody asks for it, which the recorder must
avoid.

A node created at that moment is younger than the nodes that the program creates before it would have asked itself, and
the engine runs the youngest first. The recorder therefore does not ask until the program has; what it would get is read
without leaving a trace.
"""

from collections.abc import Iterable
from typing import Any

import torch

from gradbox.recorder.probes.handles import as_plain_tensor, temporarily_at_version

UNREACHED_VERSION_OFFSET = 1 << 20
"""How far beyond its own version a view is asked: a version that the program will not reach."""


class StaleView:
    """A view that torch has not updated since its base was written.

    version_before: the version at which it was last up to date
    had_node: it had a node. A view that had none would get one when it is read, so reading waits for the end.
    read_at: the version at which its node was read since
    node: its earlier node, which lives until torch creates another
    """

    __slots__ = ("had_node", "node", "read_at", "version_before")

    def __init__(self, version_before: int, had_node: bool) -> None:
        self.version_before, self.had_node, self.read_at, self.node = version_before, had_node, -1, None


class StaleViews:
    """The views of a run that torch has not updated, by the uid of the tensor."""

    def __init__(self) -> None:
        self._stale: dict[str, StaleView] = {}
        self._views_by_node: dict[str, str] = {}  # a node as it was read -> its view

    def mark_stale(self, uid: str, version_before: int, had_node: bool) -> None:
        """Note that a view's base was written, other than through the view. See `StaleView`."""
        self._stale.setdefault(uid, StaleView(version_before, had_node))

    def mark_all_current(self) -> bool:
        """Allow all views to be asked, since no code of the program runs any more. Returns whether there were any."""
        views = bool(self._stale)
        self._stale.clear()
        return views

    def mark_current(self, uid: str) -> None:
        """Note that the program used the view, or may have asked for its node."""
        self._stale.pop(uid, None)

    def record_node_of_view(self, uid: str, node: str) -> None:
        """Note the uid of the node that was read."""
        if uid in self._stale:
            self._views_by_node[node] = uid

    def take_views_of_dead_nodes(self, dead_nodes: Iterable[str]) -> list[str]:
        """The views that had these nodes. The nodes died because torch created others, so somebody asked."""
        views = [uid for node in dead_nodes if (uid := self._views_by_node.pop(node, None)) is not None]
        for uid in views:
            self.mark_current(uid)
        return views

    def is_stale(self, uid: str) -> bool:
        return uid in self._stale

    def can_skip_reading_node(self, uid: str, tensor: torch.Tensor) -> bool:
        """Whether the node has been read since the last write, or must not be read."""
        return not self._stale[uid].had_node or bool(self._stale[uid].read_at == as_plain_tensor(tensor)._version)

    def read_node(self, uid: str, tensor: torch.Tensor) -> Any:
        """The node that torch would compute. torch forgets it at once, because it was asked at another version."""
        stale_view, own = self._stale[uid], as_plain_tensor(tensor)
        stale_view.read_at = own._version
        if stale_view.node is None:
            with temporarily_at_version(tensor, stale_view.version_before):
                stale_view.node = own.grad_fn
        with temporarily_at_version(tensor, stale_view.read_at + UNREACHED_VERSION_OFFSET):
            return own.grad_fn
