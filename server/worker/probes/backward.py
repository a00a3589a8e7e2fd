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

from server.worker.probes import gradients, handles, ops
from server.worker.probes.graph import Graph
from server.worker.probes.storages import Storages
from server.worker.stack import engine_waits
from server.worker.uids import UidAllocator

FIRST_HOOK_ID = 1 << 40
"""Where the numbers of our own hooks begin: the program's are then counted as if they were alone."""

MIN_STEPS = 10
"""Steps that any pass may take."""


class BackwardPass:
    """One call of the engine."""

    def __init__(self, uid: str, accumulates: bool) -> None:
        self.uid, self.accumulates = uid, accumulates
        self.running: list[dict[str, Any]] = []  # visits begun; the last may be over and wait to be told
        self.step_interval = 1  # one visit in so many is told, where the graph is longer than there is room for
        self.visit_count = 0
        self.nodes: dict[str, Any] = {}  # what the engine can reach; its roots keep these alive as long as it runs
        self.inputs: list[str] = []


class Backward:
    """Wraps the engine while entered.

    tell: takes a visit, its node, and whether it is a step. ended: takes the pass and its inputs. room: how many steps
    a pass may take.
    """

    def __init__(
        self,
        uids: UidAllocator,
        graph: Graph,
        guard: Callable[[], Any],
        on_begin: Callable[[str, dict[str, Any]], None],
        on_visit: Callable[[dict[str, Any], Any, bool], None],
        on_end: Callable[[str, list[str]], None],
        tensor_uid: Callable[[torch.Tensor], str],
        storages: Storages,
        step_budget: Callable[[], int],
    ) -> None:
        self._step_budget = step_budget
        self._uids, self._graph, self._guard = uids, graph, guard
        self._on_begin, self._on_visit, self._on_end = on_begin, on_visit, on_end
        self._tensor_uid, self._storages = tensor_uid, storages
        self._engine: Any = None
        self._next_hook_id = FIRST_HOOK_ID
        self.muted = False
        self.stack: list[BackwardPass] = []

    def __enter__(self) -> Self:
        self._engine = torch.autograd._engine_run_backward  # type: ignore[attr-defined]
        setattr(torch.autograd, "_engine_run_backward", self._run)
        return self

    def __exit__(self, *_: object) -> None:
        setattr(torch.autograd, "_engine_run_backward", self._engine)

    def _run(self, roots: Any, *args: Any, **kwargs: Any) -> Any:
        if self.muted:
            return self._engine(roots, *args, **kwargs)
        handles: list[Any] = []
        current: BackwardPass | None = None
        waiting_frame = get_ident(), sys._getframe()
        with self._guard():
            current = self._begin(roots, args, kwargs)
            self._install_hooks(roots, current, handles)
        try:
            engine_waits.append(waiting_frame)
            with ops.engine_context(self._storages):
                return self._engine(roots, *args, **kwargs)
        finally:
            engine_waits.remove(waiting_frame)
            del waiting_frame  # or this frame would hold itself
            with self._guard():
                self._end(current, handles)

    def _begin(self, roots: Any, args: Any, kwargs: dict[str, Any]) -> BackwardPass:
        self.flush()
        arguments = dict(zip(("grads", "retain_graph", "create_graph", "inputs"), args, strict=False)) | kwargs
        accumulates = bool(kwargs.get("accumulate_grad", args[5] if len(args) > 5 else True))
        current = BackwardPass(self._uids.allocate("b"), accumulates)
        current.inputs = [self._tensor_uid(t) for t in arguments.get("inputs") or () if isinstance(t, torch.Tensor)]
        facts = {
            "kind": "backward",
            "api": "backward" if accumulates else "grad",
            "roots": [self._tensor_uid(root) if isinstance(root, torch.Tensor) else None for root in roots],
            "inputs": current.inputs or None,
            "keep_graph": bool(arguments.get("retain_graph")),
            "create_graph": bool(arguments.get("create_graph")),
            "parent": self.stack[-1].uid if self.stack else None,
        }
        self.stack.append(current)
        self._on_begin(current.uid, facts)
        return current

    def _install_hooks(self, roots: Any, current: BackwardPass, handles: list[Any]) -> None:
        program_hook_id, RemovableHandle.next_id = RemovableHandle.next_id, self._next_hook_id
        try:
            self._add_hooks(roots, current, handles)
        finally:
            self._next_hook_id, RemovableHandle.next_id = RemovableHandle.next_id, program_hook_id

    def _add_hooks(self, roots: Any, current: BackwardPass, handles: list[Any]) -> None:
        for node in reachable_nodes(root_nodes(roots)):
            uid = self._graph.uid_of(node)
            current.nodes[uid] = node
            variable = getattr(node, "variable", None) if node.name() == "torch::autograd::AccumulateGrad" else None
            target = None
            if (
                current.accumulates and isinstance(variable, torch.Tensor) and variable.requires_grad
            ):  # else frozen since
                target = self._tensor_uid(variable)
            handles.append(node.register_prehook(self._before(current, uid, target)))
            handles.append(node.register_hook(self._after(current, uid)))
        current.step_interval = -(-len(current.nodes) // max(self._step_budget(), MIN_STEPS))

    def _before(self, current: BackwardPass, uid: str, target: str | None) -> Callable[[Any], None]:
        def prehook(grads: Any) -> None:
            with self._guard():
                self.flush()
                visit = {"backward": current.uid, "node": uid, "grad_outputs": self._copies(grads), "grad_inputs": []}
                if target is not None:
                    visit["accumulates"] = target
                    self._carry(grads)
                current.running.append(visit)

        return prehook

    def _carry(self, grads: Any) -> None:
        for grad in grads:
            if isinstance(grad, torch.Tensor) and handles.has_storage(grad):
                self._storages.mark_accumulating(grad)

    def _after(self, current: BackwardPass, uid: str) -> Callable[[Any, Any], None]:
        def hook(grad_inputs: Any, _: Any) -> None:
            with self._guard():
                visit = next((v for v in reversed(current.running) if v["node"] == uid), None)
                if visit is not None:
                    visit["grad_inputs"] = self._copies(grad_inputs)
                    visit["done"] = True

        return hook

    def _copies(self, grads: Iterable[Any] | Any) -> list[dict[str, Any] | None]:
        gradients_passed = grads if isinstance(grads, tuple | list) else (grads,)
        return [
            gradients.gradient_facts(grad if isinstance(grad, torch.Tensor) else None, self._storages.find)
            for grad in gradients_passed
        ]

    def flush(self) -> None:
        """Tell the visits that are over."""
        for current in self.stack:
            while current.running and current.running[-1].get("done"):
                visit = current.running.pop()
                del visit["done"]
                current.visit_count += 1
                self._on_visit(visit, current.nodes[visit["node"]], current.visit_count % current.step_interval == 0)

    def _end(self, current: BackwardPass | None, handles: list[Any]) -> None:
        for handle in handles:
            handle.remove()
        handles.clear()
        if current is None:
            return
        self.flush()
        while current.running:
            visit = current.running.pop()
            visit["failed"] = True
            self._on_visit(visit, current.nodes[visit["node"]], True)
        self.stack.remove(current)
        current.nodes.clear()
        self._on_end(current.uid, current.inputs)


def root_nodes(roots: Any) -> list[Any]:
    """The nodes at which the engine begins."""
    out = []
    for root in roots:
        if not isinstance(root, torch.Tensor):
            out.append(root[0])  # a GradientEdge
        elif root.requires_grad:
            out.append(root.grad_fn if root.grad_fn is not None else torch.autograd.graph.get_gradient_edge(root).node)
    return out


def reachable_nodes(nodes: list[Any]) -> list[Any]:
    """The nodes and all behind them, each once."""
    seen: dict[Any, None] = dict.fromkeys(node for node in nodes if node is not None)
    queue = list(seen)
    for node in queue:
        for other, _ in node.next_functions:
            if other is not None and other not in seen:
                seen[other] = None
                queue.append(other)
    return queue
