"""Views whose base was written: torch works out their node anew when somebody asks, and asking is ours to avoid.

The node made at that moment is younger than those the program makes before it would have asked itself, and the engine
runs the youngest first. So nobody asks, until the program did; what it would be told is read without leaving a trace.
"""

from collections.abc import Iterable
from typing import Any

import torch

from server.worker.probes.handles import bare

_STRIDE = 1 << 20
_move = torch._C._autograd._unsafe_set_version_counter


class Views:
    """The views of a run that torch has not brought up to date. A tensor is known by its uid."""

    def __init__(self) -> None:
        self._stale: dict[str, int | None] = {}  # view -> the version at which its node was read

    def spoil(self, uids: Iterable[str]) -> None:
        """What they are views of was written, by another way than through them."""
        for uid in uids:
            self._stale[uid] = None

    def settle(self, uid: str) -> None:
        """The program used it, or may have asked."""
        self._stale.pop(uid, None)

    def stale(self, uid: str) -> bool:
        return uid in self._stale

    def told(self, uid: str, tensor: torch.Tensor) -> bool:
        """Whether its node was read since the last write."""
        return bool(self._stale[uid] == bare(tensor)._version)

    def read(self, uid: str, tensor: torch.Tensor) -> Any:
        """The node that torch would work out; torch forgets it at once, for it was asked at another version."""
        version = bare(tensor)._version
        self._stale[uid] = version
        _move((tensor,), (version + _STRIDE,))
        try:
            return bare(tensor).grad_fn
        finally:
            _move((tensor,), (version,))
