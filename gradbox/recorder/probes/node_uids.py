"""Uids of the autograd graph's nodes, by a token that lives and dies with each."""

import gc
import weakref
from typing import Any

from gradbox.recorder.uids import UidAllocator

TOKEN_KEY = " gradbox"


class NodeToken:
    """Sits in `node.metadata`, which belongs to the C++ node and survives its wrapper."""

    __slots__ = ("__weakref__", "uid")

    def __init__(self, uid: str) -> None:
        self.uid = uid


class NodeUids:
    """Names nodes and notices their death. A node's wrapper is never kept: it would keep the saved tensors alive."""

    def __init__(self, uids: UidAllocator) -> None:
        self._uids = uids
        self._tokens: dict[str, weakref.ref[NodeToken]] = {}
        self._dead: list[str] = []

    def uid_of(self, node: Any) -> str:
        metadata = node.metadata
        token = metadata.get(TOKEN_KEY)
        if token is None:
            token = metadata[TOKEN_KEY] = NodeToken(self._uids.allocate("n"))
            uid = token.uid
            self._tokens[uid] = weakref.ref(token, lambda _: self._dead.append(uid))
        name: str = token.uid
        return name

    def remove_tokens(self) -> None:
        """Take the tokens off the nodes that live: the run is over, and nodes may outlive it."""
        living = [token for ref in self._tokens.values() if (token := ref()) is not None]
        if living:
            for metadata in gc.get_referrers(*living):
                if type(metadata) is dict and isinstance(metadata.get(TOKEN_KEY), NodeToken):
                    del metadata[TOKEN_KEY]
        self._tokens.clear()

    def collect_dead(self) -> list[str]:
        """The uids of the nodes that died since the last call."""
        dead, self._dead = self._dead, []
        for uid in dead:
            self._tokens.pop(uid, None)
        return dead
