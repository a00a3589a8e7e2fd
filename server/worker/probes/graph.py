"""The autograd graph: nodes by a token that lives and dies with them, edges, and the variable of AccumulateGrad.

A node's wrapper is never kept: it would keep the saved tensors alive. A known node is walked again only when the
recorder has reason to think that a saved slot changed.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch

from server.worker.probes.saved_tensors import SavedTensors
from server.worker.trace_delta import TraceDelta
from server.worker.uids import UidAllocator

TOKEN_KEY = " gradbox"


class Token:
    """Sits in `node.metadata`, which belongs to the C++ node and survives its wrapper."""

    __slots__ = ("__weakref__", "uid")

    def __init__(self, uid: str) -> None:
        self.uid = uid


class Graph:
    """The nodes of a run. `scalar` encodes a Python value that runs no user code."""

    def __init__(
        self, uids: UidAllocator, picture: TraceDelta, saved_tensors: SavedTensors, scalar: Callable[[Any], Any]
    ) -> None:
        self._uids, self._picture, self.saved_tensors, self._scalar = uids, picture, saved_tensors, scalar
        self._tokens: dict[str, weakref.ref[Token]] = {}
        self._plain_attributes: dict[type, list[str]] = {}  # what a kind of node saves that is no tensor
        self._dead: list[str] = []
        self._reported: set[str] = set()
        self._walked: set[str] = set()

    def uid_of(self, node: Any) -> str:
        metadata = node.metadata
        token = metadata.get(TOKEN_KEY)
        if token is None:
            token = metadata[TOKEN_KEY] = Token(self._uids.allocate("n"))
            uid = token.uid
            self._tokens[uid] = weakref.ref(token, lambda _: self._dead.append(uid))
        uid_of: str = token.uid
        return uid_of

    def begin_observation(self) -> None:
        self._walked = set()

    def walk(self, root: Any, all_nodes: bool, step: int, register: Callable[[torch.Tensor], str]) -> str:
        """Tell the nodes reached from `root` that are new, or all if `again`; `see` names a variable."""
        first = self.uid_of(root)
        stack = [(root, first)]
        while stack:
            node, uid = stack.pop()
            if uid in self._walked:
                continue
            if uid in self._reported and not all_nodes:
                if isinstance(node, torch._C._FunctionBase):  # maybe met while its forward ran, before it saved
                    self._observe_slots(node, uid)
                continue
            self._walked.add(uid)
            if uid not in self._reported:
                self._reported.add(uid)
                self._picture.update(uid, self._facts(node, step, register))
            self._observe_slots(node, uid)
            for other, _ in node.next_functions:
                if other is not None:
                    stack.append((other, self.uid_of(other)))
        return first

    def observe_visited(self, node: Any, uid: str) -> None:
        """The engine ran this known node: it may have let go of what it saved."""
        if uid in self._reported and uid not in self._walked:
            self._observe_slots(node, uid)

    def _observe_slots(self, node: Any, uid: str) -> None:
        slots = self.saved_tensors.observe(node, uid)
        if slots is not None:
            facts: dict[str, Any] = {"saved": slots or None}
            if any(slot["state"] == "freed" for slot in slots.values()):
                facts["released"] = True
            self._picture.update(uid, facts)

    def _facts(self, node: Any, step: int, register: Callable[[torch.Tensor], str]) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "kind": "node",
            "name": node.name(),
            "next": [None if other is None else [self.uid_of(other), nr] for other, nr in node.next_functions],
            "born": step,
        }
        if isinstance(node, torch._C._FunctionBase):
            facts["custom"] = True
        else:
            variable = getattr(node, "variable", None)
            if isinstance(variable, torch.Tensor):
                facts["variable"] = register(variable)
            facts["attrs"] = self._attributes(node) or None
        return facts

    def _attributes(self, node: Any) -> dict[str, Any]:
        """What it saved that is no tensor: an exponent, a dim, sizes."""
        kind = type(node)
        if kind not in self._plain_attributes:
            names = dir(kind)
            self._plain_attributes[kind] = [n for n in names if n.startswith("_saved_") and f"_raw{n}" not in names]
        out = {}
        for uid_of in self._plain_attributes[kind]:
            try:
                out[uid_of[7:]] = self._scalar(getattr(node, uid_of))
            except RuntimeError:  # freed
                continue
        return out

    def collect_dead(self) -> list[str]:
        """The nodes that died since the look before."""
        dead, self._dead = self._dead, []
        for uid in dead:
            self._tokens.pop(uid, None)
            self._reported.discard(uid)
            self.saved_tensors.forget(uid)
        return dead
