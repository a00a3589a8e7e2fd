"""Backward passes, node by node: hooks on every node that the engine will reach, put on before it and taken off after.

A visit is told only when the next one begins, when the program takes a step in a hook, or when the engine returns:
until then the node has not let go of its saved tensors. Nothing of a gradient is kept but its copied values.
"""

import sys
from collections.abc import Callable, Iterable
from threading import get_ident
from typing import Any, Self

import torch
from torch.utils.hooks import RemovableHandle

from server.worker.names import Uids
from server.worker.probes import gradients, handles, ops
from server.worker.probes.graph import Graph
from server.worker.probes.storages import Storages
from server.worker.stack import waiting

OWN_HOOKS = 1 << 40
"""Where the numbers of our own hooks begin: the program's are then counted as if they were alone."""

LEAST = 10
"""Steps that any pass may take."""


class Pass:
    """One call of the engine."""

    def __init__(self, uid: str, accumulates: bool) -> None:
        self.uid, self.accumulates = uid, accumulates
        self.running: list[dict[str, Any]] = []  # visits begun; the last may be over and wait to be told
        self.every = 1  # one visit in so many is told, where the graph is longer than there is room for
        self.visits = 0
        self.nodes: dict[str, Any] = {}  # what the engine can reach; its roots keep these alive as long as it runs
        self.inputs: list[str] = []


class Backward:
    """Wraps the engine while entered.

    tell: takes a visit, its node, and whether it is a step. ended: takes the pass and its inputs. room: how many steps
    a pass may take.
    """

    def __init__(
        self,
        uids: Uids,
        graph: Graph,
        guard: Callable[[], Any],
        begun: Callable[[str, dict[str, Any]], None],
        tell: Callable[[dict[str, Any], Any, bool], None],
        ended: Callable[[str, list[str]], None],
        name: Callable[[torch.Tensor], str],
        storages: Storages,
        room: Callable[[], int],
    ) -> None:
        self._room = room
        self._uids, self._graph, self._guard = uids, graph, guard
        self._begun, self._tell, self._ended = begun, tell, ended
        self._name, self._storages = name, storages
        self._engine: Any = None
        self._next_hook = OWN_HOOKS
        self.deaf = False
        self.stack: list[Pass] = []

    def __enter__(self) -> Self:
        self._engine = torch.autograd._engine_run_backward  # type: ignore[attr-defined]
        setattr(torch.autograd, "_engine_run_backward", self._run)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(torch.autograd, "_engine_run_backward", self._engine)

    def _run(self, roots: Any, *args: Any, **kwargs: Any) -> Any:
        if self.deaf:
            return self._engine(roots, *args, **kwargs)
        handles: list[Any] = []
        now: Pass | None = None
        here = get_ident(), sys._getframe()
        with self._guard():
            now = self._begin(roots, args, kwargs)
            self._hook(roots, now, handles)
        try:
            waiting.append(here)
            with ops.unheard(self._storages):
                return self._engine(roots, *args, **kwargs)
        finally:
            waiting.remove(here)
            del here  # or this frame would hold itself
            with self._guard():
                self._end(now, handles)

    def _begin(self, roots: Any, args: Any, kwargs: dict[str, Any]) -> Pass:
        self.flush()
        named = dict(zip(("grads", "retain_graph", "create_graph", "inputs"), args, strict=False)) | kwargs
        accumulates = bool(kwargs.get("accumulate_grad", args[5] if len(args) > 5 else True))
        now = Pass(self._uids.fresh("b"), accumulates)
        now.inputs = [self._name(t) for t in named.get("inputs") or () if isinstance(t, torch.Tensor)]
        facts = {
            "kind": "backward",
            "api": "backward" if accumulates else "grad",
            "roots": [self._name(root) if isinstance(root, torch.Tensor) else None for root in roots],
            "inputs": now.inputs or None,
            "keep_graph": bool(named.get("retain_graph")),
            "create_graph": bool(named.get("create_graph")),
            "parent": self.stack[-1].uid if self.stack else None,
        }
        self.stack.append(now)
        self._begun(now.uid, facts)
        return now

    def _hook(self, roots: Any, now: Pass, handles: list[Any]) -> None:
        counted, RemovableHandle.next_id = RemovableHandle.next_id, self._next_hook
        try:
            self._put_on(roots, now, handles)
        finally:
            self._next_hook, RemovableHandle.next_id = RemovableHandle.next_id, counted

    def _put_on(self, roots: Any, now: Pass, handles: list[Any]) -> None:
        for node in reachable(starts(roots)):
            uid = self._graph.name(node)
            now.nodes[uid] = node
            variable = getattr(node, "variable", None) if node.name() == "torch::autograd::AccumulateGrad" else None
            target = None
            if now.accumulates and isinstance(variable, torch.Tensor) and variable.requires_grad:  # else frozen since
                target = self._name(variable)
            handles.append(node.register_prehook(self._before(now, uid, target)))
            handles.append(node.register_hook(self._after(now, uid)))
        now.every = -(-len(now.nodes) // max(self._room(), LEAST))

    def _before(self, now: Pass, uid: str, target: str | None) -> Callable[[Any], None]:
        def prehook(grads: Any) -> None:
            with self._guard():
                self.flush()
                visit = {"backward": now.uid, "node": uid, "grad_outputs": self._copies(grads), "grad_inputs": []}
                if target is not None:
                    visit["accumulates"] = target
                    self._carry(grads)
                now.running.append(visit)

        return prehook

    def _carry(self, grads: Any) -> None:
        for grad in grads:
            if isinstance(grad, torch.Tensor) and handles.has_storage(grad):
                self._storages.carry(grad)

    def _after(self, now: Pass, uid: str) -> Callable[[Any, Any], None]:
        def hook(grad_inputs: Any, _: Any) -> None:
            with self._guard():
                visit = next((v for v in reversed(now.running) if v["node"] == uid), None)
                if visit is not None:
                    visit["grad_inputs"] = self._copies(grad_inputs)
                    visit["done"] = True

        return hook

    def _copies(self, grads: Iterable[Any] | Any) -> list[dict[str, Any] | None]:
        found = grads if isinstance(grads, tuple | list) else (grads,)
        return [
            gradients.passed(grad if isinstance(grad, torch.Tensor) else None, self._storages.known) for grad in found
        ]

    def flush(self) -> None:
        """Tell the visits that are over."""
        for now in self.stack:
            while now.running and now.running[-1].get("done"):
                visit = now.running.pop()
                del visit["done"]
                now.visits += 1
                self._tell(visit, now.nodes[visit["node"]], now.visits % now.every == 0)

    def _end(self, now: Pass | None, handles: list[Any]) -> None:
        for handle in handles:
            handle.remove()
        handles.clear()
        if now is None:
            return
        self.flush()
        while now.running:
            visit = now.running.pop()
            visit["failed"] = True
            self._tell(visit, now.nodes[visit["node"]], True)
        self.stack.remove(now)
        now.nodes.clear()
        self._ended(now.uid, now.inputs)


def starts(roots: Any) -> list[Any]:
    """The nodes at which the engine begins."""
    out = []
    for root in roots:
        if not isinstance(root, torch.Tensor):
            out.append(root[0])  # a GradientEdge
        elif root.requires_grad:
            out.append(root.grad_fn if root.grad_fn is not None else torch.autograd.graph.get_gradient_edge(root).node)
    return out


def reachable(nodes: list[Any]) -> list[Any]:
    """The nodes and all behind them, each once."""
    seen: dict[Any, None] = dict.fromkeys(node for node in nodes if node is not None)
    queue = list(seen)
    for node in queue:
        for other, _ in node.next_functions:
            if other is not None and other not in seen:
                seen[other] = None
                queue.append(other)
    return queue
