"""The autograd graph: nodes, their edges, and the variable of AccumulateGrad.

A known node is walked again only if the observer has reason to think that a saved slot changed.
"""

from typing import Any

import torch

from gradbox.recorder import introspection
from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.saved_tensors import NodeSlots, SavedTensors
from gradbox.recorder.probes.tensors import Tensors
from gradbox.recorder.uids import NodeUids
from gradbox.recorder.value_encoder import ValueEncoder
from gradbox.wire import entities, events
from gradbox.wire.base import Value


class AutogradGraph(Probe):
    """The nodes of a run."""

    def __init__(
        self,
        context: ProbeContext,
        node_uids: NodeUids,
        saved_tensors: SavedTensors,
        tensors: Tensors,
        values: ValueEncoder,
    ) -> None:
        super().__init__(context)
        self._node_uids, self._saved_tensors, self._tensors, self._values = node_uids, saved_tensors, tensors, values
        self._plain_attributes: dict[type, list[str]] = {}  # what a kind of node saves that is no tensor
        self._reported: set[str] = set()
        self._released: set[str] = set()  # nodes of which the event `graph_released` is reported
        self._walked: set[str] = set()
        self._reported_context: dict[
            str, set[tuple[str, str]]
        ] = {}  # by custom node, the attributes that were reported, with their tensors

    def begin_observation(self, observation: Observation) -> None:  # noqa: ARG002
        self._walked = set()

    def end_observation(self, observation: Observation) -> None:
        observation.graph_roots.clear()
        observation.visited_nodes.clear()

    def report_reachable_nodes(self, root: Any, all_nodes: bool, step: int) -> None:
        """Report the nodes reached from `root` that are new, or all of them if `all_nodes` is true.

        step: the number of the running step
        """
        stack = [(root, self._node_uids.uid_of(root))]
        while stack:
            node, uid = stack.pop()
            if uid in self._walked:
                continue
            if uid in self._reported and not all_nodes:
                if isinstance(node, torch._C._FunctionBase):  # maybe met while its forward ran, before it saved
                    self._observe_saved_slots(node, uid)
                    self._observe_ctx_attributes(node, uid)
                continue
            self._walked.add(uid)
            if uid not in self._reported:
                self._reported.add(uid)
                self._delta.update_entity(uid, self._node_facts(node, step))
            self._observe_saved_slots(node, uid)
            if isinstance(node, torch._C._FunctionBase):
                self._observe_ctx_attributes(node, uid)
            for other, _ in node.next_functions:
                if other is not None:
                    stack.append((other, self._node_uids.uid_of(other)))

    def observe_visited_node(self, node: Any, uid: str) -> None:
        """Note that the engine ran this known node, which may have released what it saved."""
        if uid in self._reported and uid not in self._walked:
            self._observe_saved_slots(node, uid)

    def update_node_slots(self, uid: str, slots: NodeSlots) -> None:
        """Report a node's slots after one of them changed."""
        facts: entities.Node = {"saved": slots}
        self._delta.update_entity(uid, facts)

    def mark_node_released(self, uid: str) -> bool:
        """Note that a slot of this node was freed. Returns whether it is the first of them."""
        if uid in self._released:
            return False
        self._released.add(uid)
        return True

    def _observe_saved_slots(self, node: Any, uid: str) -> None:
        slots = self._saved_tensors.observe_node_slots(node, uid)
        if slots is not None:
            facts: entities.Node = {"saved": slots or None}
            if any(slot["state"] == "freed" for slot in slots.values()):
                facts["released"] = True
            self._delta.update_entity(uid, facts)

    def _observe_ctx_attributes(self, node: Any, uid: str) -> None:
        """Report the known tensors that a custom function's forward stored on its `ctx` as attributes."""
        reported = self._reported_context.setdefault(uid, set())
        for name, value in (introspection.instance_dict(node) or {}).items():
            if type(name) is not str or not isinstance(value, torch.Tensor):
                continue
            tensor = self._tensors.uids.find_uid(value)
            if tensor is None or (name, tensor) in reported:
                continue
            reported.add((name, tensor))
            kept: events.ContextKept = {
                "kind": "event", "event": "context_kept", "node": uid, "tensor": tensor, "name": name,
            }  # fmt: skip
            self._context.observation.log.append(kept)

    def _node_facts(self, node: Any, step: int) -> entities.Node:
        facts: entities.Node = {
            "kind": "node",
            "name": node.name(),
            "next": [
                None if other is None else (self._node_uids.uid_of(other), nr) for other, nr in node.next_functions
            ],
            "born": step,
        }
        if isinstance(node, torch._C._FunctionBase):
            facts["custom"] = True
        else:
            variable = getattr(node, "variable", None)
            if isinstance(variable, torch.Tensor):
                facts["variable"] = self._tensors.register_tensor(variable)
            facts["attrs"] = self._saved_non_tensor_attributes(node) or None
        return facts

    def _saved_non_tensor_attributes(self, node: Any) -> dict[str, Value]:
        """Saved values that are not tensors, such as an exponent, a dimension or sizes."""
        kind = type(node)
        if kind not in self._plain_attributes:
            names = dir(kind)
            self._plain_attributes[kind] = [n for n in names if n.startswith("_saved_") and f"_raw{n}" not in names]
        attributes: dict[str, Value] = {}
        for name in self._plain_attributes[kind]:
            try:
                attributes[name.removeprefix("_saved_")] = self._values.encode_scalar(getattr(node, name))
            except RuntimeError:  # freed
                continue
        return attributes

    def collect_dead_entities(self, observation: Observation) -> None:
        if not self._node_uids.dead:
            return
        dead = self._node_uids.collect_dead_uids()
        for uid in dead:
            self._reported.discard(uid)
            self._released.discard(uid)
            self._reported_context.pop(uid, None)
            self._saved_tensors.forget_node(uid)
        observation.dead_uids += dead
