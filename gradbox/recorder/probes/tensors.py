"""Tensors: which are alive, what is new about each, and where `detach()` or `.data` made one that leaves the graph on
the same storage.

The dense tensors of which a sparse or nested one consists are reported as handles of their own and named by their
place, because torch makes a new object each time it is asked.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.autograd import forward_ad

from gradbox.recorder.code_places import unrecorded_caller
from gradbox.recorder.observation import DetachedCopy, Observation
from gradbox.recorder.probes.counters import VersionCounters
from gradbox.recorder.probes.handles import (
    as_plain_tensor,
    dense_parts,
    grad_without_warning,
    has_storage,
    instance_attributes,
    is_plain_tensor,
    quantization_record,
    tensor_facts,
)
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.stale_views import StaleViews
from gradbox.recorder.probes.storage_holders import StorageHolders
from gradbox.recorder.probes.storages import Storages, storage_address_of
from gradbox.recorder.uids import NodeUids, ObjectUids, WeakUids, referenced_object_uid, uid_sort_key
from gradbox.wire import entities, events
from gradbox.wire.base import Value


class DetachedCopies:
    """Knows which handles on each storage require grad, and recognizes a copy of one of them that does not."""

    def __init__(self, context: ProbeContext, uids: WeakUids, counters: VersionCounters) -> None:
        self._context, self._uids, self._counters = context, uids, counters
        self._requiring_grad: dict[str, list[str]] = {}  # storage -> the handles on it that require grad

    def register_handle_requiring_grad(self, uid: str, storage: str) -> None:
        """Note that this handle on the storage requires grad."""
        handles = self._requiring_grad.setdefault(storage, [])
        if uid not in handles:
            handles.append(uid)

    def detect_detached_copy(self, uid: str, tensor: torch.Tensor, storage: str) -> None:
        """Note a new handle on the storage that requires no grad. If it is a leaf and another handle requires grad, it
        is a detached copy."""
        handles = self._requiring_grad.get(storage)
        own = as_plain_tensor(tensor)
        if not handles or own._is_view() or own.is_inference() or not (own.is_floating_point() or own.is_complex()):
            return
        living = [(handle, other) for handle in handles if (other := self._uids.get_object(handle)) is not None]
        source = next((handle for handle, other in living if self._counters.is_counter_shared(other, tensor)), None)
        if source is not None:
            copy = DetachedCopy(source, uid, "detach")
        elif living:
            copy = DetachedCopy(living[0][0], uid, "data")
        else:  # none is left whose counter could be compared
            copy = DetachedCopy(handles[-1], uid, "detach")
        user = unrecorded_caller(sys._getframe())
        self._context.observation.detached_copies.append(copy if user is None else copy._replace(user=user))

    def forget_storages(self, storages: Iterable[str]) -> None:
        """Forget storages that have died."""
        for uid in storages:
            self._requiring_grad.pop(uid, None)


class DenseParts:
    """The parts of a run's sparse and nested tensors.

    incomplete: tensors that were observed in a backward pass; what their parts share is not known yet
    """

    def __init__(
        self,
        context: ProbeContext,
        uids: WeakUids,
        storages: Storages,
        counters: VersionCounters,
        holders: StorageHolders,
    ) -> None:
        self._context, self._delta, self._uids = context, context.delta, uids
        self._storages, self._counters, self._holders = storages, counters, holders
        self._parts: dict[str, dict[str, str]] = {}  # tensor -> name of a part -> the part's uid
        self.incomplete: dict[str, None] = {}

    def report_parts(self, uid: str, tensor: torch.Tensor, counter: str | None) -> dict[str, str] | None:
        """Report a tensor's parts. Returns their uids by name, or None for a dense tensor.

        counter: the counter of the whole, which torch gives to a part that the program asks for
        """
        if as_plain_tensor(tensor).layout == torch.strided and not as_plain_tensor(tensor).is_nested:
            return None
        uids = self._parts.setdefault(uid, {})
        backward = self._context.running_backwards > 0
        if backward:
            self.incomplete[uid] = None
        else:
            self.incomplete.pop(uid, None)
        with torch._C._DisableFuncTorch():  # inside a transform it would wrap them
            parts = dense_parts(tensor)
        for name, part in parts.items():
            if name not in uids:
                uids[name] = self._uids.allocate_uid()
            elif backward:
                continue
            self._report_part(uids[name], part, counter)
        return dict(uids) or None

    def _report_part(self, uid: str, part: torch.Tensor, counter: str | None) -> None:
        out = tensor_facts(part)
        out["leaf"] = out["requires_grad"] = None  # autograd knows the whole, not its parts
        if has_storage(part) and not self._context.running_backwards:  # then it would be known by this object alone
            out["storage"] = storage = self._storages.register_tensor_storage(part)
            if counter is not None:
                self._counters.link_counter_to_storage(counter, storage)
        self._delta.update_entity(uid, out)
        stored, dtype = out.get("storage"), out.get("dtype")
        self._holders.set_storages_of_holder(uid, [(stored, dtype)] if stored and dtype else [])

    def forget_tensor(self, uid: str) -> list[str]:
        """Forget a tensor that has died. Returns the uids of its parts."""
        self.incomplete.pop(uid, None)
        return list(self._parts.pop(uid, {}).values())


GRAPH_FIELDS = ("storage", "offset", "shape", "stride", "dtype", "leaf", "grad_fn", "requires_grad")
"""Facts of a handle; if one of them changes, what a node saved may have changed."""

EncodeValue = Callable[[Any], Value]


class Tensors(Probe):
    """The handles of a run.

    changed_handles: known handles with one of `GRAPH_FIELDS` changed in this observation
    retaining_grad: handles to which backward gives a `.grad` although they are not leaves
    """

    def __init__(
        self,
        context: ProbeContext,
        uids: WeakUids,
        node_uids: NodeUids,
        objects: ObjectUids,
        storages: Storages,
        counters: VersionCounters,
        holders: StorageHolders,
        stale_views: StaleViews,
    ) -> None:
        super().__init__(context)
        self.uids, self._node_uids, self._objects = uids, node_uids, objects
        self._storages, self._counters, self._holders = storages, counters, holders
        self.stale_views = stale_views
        self._queue: dict[str, torch.Tensor] | None = None  # to be observed; None between observations
        self._observed: set[str] = set()
        self._from_program = True  # what is registered in this observation is so because the program's text leads there
        self.changed_handles: dict[str, None] = {}
        self._unstable: dict[str, None] = {}  # in a transform's or a dual level's hands, which end without an operator
        self.retaining_grad: dict[str, None] = {}
        self._hooked: dict[str, None] = {}
        self.detached_copies = DetachedCopies(context, uids, counters)
        self._fingerprints: dict[str, tuple[Any, ...]] = {}
        self._parts = DenseParts(context, uids, storages, counters, holders)

    def register_tensor(self, tensor: torch.Tensor, refresh: bool = False, from_program: bool = True) -> str:
        """The tensor's uid. During an observation it is also observed; before one its facts are noted, because it may
        die until then.

        refresh: note the facts again, because an operation has just changed them
        from_program: the program's text leads to it
        """
        uid = self.uids.uid_of(tensor)
        if self._queue is not None:
            if from_program and self._from_program:
                self.stale_views.mark_current(uid)
            if uid not in self._observed:
                self._observed.add(uid)
                self._queue[uid] = tensor
        else:
            observation = self._context.observation
            observation.touched_tensors[uid] = None
            if uid not in self._delta.state and (refresh or uid not in observation.provisional_facts):
                observation.provisional_facts[uid] = self._tensor_facts(uid, tensor)
        return uid

    def enqueue_tensors(self, uids: Iterable[str]) -> None:
        """Enqueue these tensors for observation, if they are alive."""
        for uid in uids:
            tensor = self.uids.get_object(uid)
            if tensor is not None:
                self.register_tensor(tensor, from_program=False)

    def mark_views_stale(self, storage: str, writer: str) -> None:
        """Mark views as stale after an operation wrote their storage through one of the tensors on it and moved their
        counter."""
        self.stale_views.mark_current(writer)
        writing = self.uids.get_object(writer)
        if writing is not None:
            self._counters.record_version_after_write(writer, writing)
        for uid in self._holders.holders_of(storage):
            recorded, view = self._delta.tensor_state(uid), self.uids.get_object(uid)
            counter = recorded.get("counter")
            if uid == writer or view is None or recorded.get("base") is None or counter is None:
                continue
            before, own = self._counters.known_version(counter), as_plain_tensor(view)
            if before is not None and own._version != before and own._base.requires_grad:
                self.stale_views.mark_stale(uid, before, recorded.get("grad_fn") is not None)

    def begin_observation(self, observation: Observation) -> None:
        """Enqueue what operators took and made, or everything."""
        self._queue, self._observed = {}, set()
        self._from_program = True
        self.changed_handles.clear()
        self.enqueue_tensors(observation.touched_tensors)
        self.enqueue_tensors(self._unstable)
        if not self._context.running_backwards:
            self.enqueue_tensors(self._parts.incomplete)
        if observation.observe_all:
            self.enqueue_all_living()

    def end_observation(self, observation: Observation) -> None:  # noqa: ARG002
        self._queue = None

    def enqueue_all_living(self) -> None:
        """Enqueue everything that is alive."""
        self._from_program = False
        self.enqueue_tensors([uid for uid, _ in self.uids.living_objects()])

    def has_pending_tensors(self) -> bool:
        """Whether something is still to be observed."""
        return bool(self._queue)

    def observed_uids(self) -> list[str]:
        """The uids of the tensors that this observation observed."""
        return sorted(self._observed, key=uid_sort_key)

    def enqueue_related_tensors(self, written: Iterable[str], moved: Iterable[str]) -> None:
        """Enqueue tensors whose place in the graph may have changed, because these storages were written or these
        counters moved."""
        groups = [self._holders.holders_of(storage) for storage in written]
        groups += [self._counters.handles_with_counter(counter) for counter in moved]
        for group in groups:
            tensors = [uid for uid in group if uid[0] == "t"]
            if len(tensors) > 1 and any(self._delta.tensor_state(uid).get("requires_grad") for uid in tensors):
                self.enqueue_tensors(tensors)

    def observe_pending_tensors(self, encode: EncodeValue) -> None:
        """Observe what is enqueued, and what that leads to.

        encode: encodes the values of a tensor's attributes
        """
        queue = self._queue
        assert queue is not None
        while queue:
            uid, tensor = queue.popitem()
            try:
                self._observe_tensor(uid, tensor, encode)
            except Exception as error:  # the one that refuses is left out; the others are reported
                self._context.report_recorder_fault(error)

    def _tensor_fingerprint(self, tensor: torch.Tensor) -> tuple[Any, ...] | None:
        """A value that changes if anything that is reported of the tensor changes; None for an unusual tensor."""
        if not is_plain_tensor(tensor) or forward_ad._current_level >= 0 or instance_attributes(tensor):
            return None
        try:
            leaf = tensor.is_leaf
        except RuntimeError:
            leaf = None
        retains_grad = tensor.retains_grad
        grad = tensor.grad if leaf or (leaf is False and retains_grad) else None
        hooks = tensor._backward_hooks
        return (
            storage_address_of(tensor),
            tensor._version,
            tensor.requires_grad,
            leaf,
            tensor.storage_offset(),
            tensor.shape,
            tensor.stride(),
            tensor.dtype,
            tensor._cdata,
            len(hooks) if hooks else 0,
            retains_grad,
            "" if grad is None else self.uids.find_uid(grad),  # None: one not met yet
        )

    def _skip_if_unchanged(self, uid: str, tensor: torch.Tensor) -> bool:
        """Whether the tensor is as last reported. If so, only its counter is noted, and what it leads to."""
        fingerprint = None if self.stale_views.is_stale(uid) else self._fingerprints.get(uid)
        if fingerprint is None or fingerprint != self._tensor_fingerprint(tensor):
            return False
        recorded = self._delta.tensor_state(uid)
        if self._counters.observe_tensor_counter(uid, tensor, recorded.get("storage")) != recorded.get("counter"):
            return False
        base, grad = recorded.get("base"), recorded.get("grad")
        if base is not None or grad is not None:
            self.enqueue_tensors(known for known in (base, grad) if known is not None)
        return True

    def collect_graph_roots(self) -> None:
        """Collect the graph nodes of all tensors as roots of the walk."""
        for uid, tensor in self.uids.living_objects():
            node = None if self.stale_views.is_stale(uid) else self._grad_fn(uid, tensor)
            if node is not None:
                self._context.observation.graph_roots.append(node)

    def _observe_tensor(self, uid: str, tensor: torch.Tensor, encode: EncodeValue) -> None:
        if self._skip_if_unchanged(uid, tensor):
            return
        facts = self._tensor_facts(uid, tensor)
        own = as_plain_tensor(tensor)
        base, grad = own._base if own._is_view() else None, grad_without_warning(tensor, self.stale_views.is_stale(uid))
        facts["base"] = self.register_tensor(base) if base is not None else None
        facts["grad"] = self.register_tensor(grad) if grad is not None else None
        own_attributes = instance_attributes(tensor)
        facts["attrs"] = attrs = self._encoded_attributes(own_attributes, encode)
        self._objects.set_referenced_objects(
            uid, tuple(o for v in (attrs or {}).values() if (o := referenced_object_uid(v)) is not None)
        )
        facts["parts"] = self._parts.report_parts(uid, tensor, facts.get("counter"))
        self._add_transform_facts(uid, tensor, facts)
        if own.is_quantized:
            facts["quant"] = quantization_record(tensor)
        self._note_changed_handle(uid, facts)
        self._log_hooks_left_behind(uid, facts)
        self._delta.update_entity(uid, facts)
        self._update_holders(uid, facts)
        if facts["retains_grad"]:
            self.retaining_grad[uid] = None
        if facts["hooks"]:
            self._hooked[uid] = None
        else:
            self._hooked.pop(uid, None)
        comparable = facts.get("storage") and facts.get("counter") and facts["leaf"] is not None
        comparable = comparable and not own_attributes and not self.stale_views.is_stale(uid)
        fingerprint = self._tensor_fingerprint(tensor) if comparable else None
        if fingerprint is not None:
            self._fingerprints[uid] = fingerprint
        else:
            self._fingerprints.pop(uid, None)

    def _add_transform_facts(self, uid: str, tensor: torch.Tensor, facts: entities.Tensor) -> None:
        """Add what a wrapper of torch.func wraps, and a dual tensor's tangent."""
        wraps = facts.get("wraps")
        if wraps is not None:
            wraps["value"] = {"ref": self.register_tensor(torch._C._functorch.get_unwrapped(tensor))}
        elif forward_ad._current_level >= 0 and facts["storage"]:
            tangent = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]
            facts["tangent"] = self.register_tensor(tangent) if tangent is not None else None
        elif "tangent" in self._delta.tensor_state(uid):
            facts["tangent"] = None
        if wraps is not None or facts.get("tangent") is not None:
            self._unstable[uid] = None
        else:
            self._unstable.pop(uid, None)

    def _note_changed_handle(self, uid: str, facts: entities.Tensor) -> None:
        recorded: Any = self._delta.tensor_state(uid)
        if recorded and any(recorded.get(key) != facts.get(key) for key in GRAPH_FIELDS):
            self.changed_handles[uid] = None
            if recorded.get("storage") != facts.get("storage"):
                self._context.observation.storages_rebound = True

    def _log_hooks_left_behind(self, uid: str, facts: entities.Tensor) -> None:
        """Log hooks that stayed with the tensor's old node when a write in place gave it a new one."""
        recorded: Any = self._delta.tensor_state(uid)
        hooks, node = recorded.get("hooks"), recorded.get("grad_fn")
        if hooks and node and not facts["hooks"] and facts["grad_fn"] not in (node, None):
            left: events.HookLeft = {"kind": "event", "event": "hook_left", "tensor": uid, "node": node, "count": hooks}
            self._context.observation.log.append(left)

    def _update_holders(self, uid: str, facts: entities.Tensor) -> None:
        storage, dtype = facts.get("storage"), facts.get("dtype")
        self._holders.set_storages_of_holder(uid, [(storage, dtype)] if storage and dtype else [])

    def collect_dead_entities(self, observation: Observation) -> None:
        if not self.uids.dead:
            return
        dead = self.uids.collect_dead_uids()
        self._counters.forget_tensors(dead)
        dead += [part for uid in dead for part in self._parts.forget_tensor(uid)]
        for uid in dead:
            self._fingerprints.pop(uid, None)
            self.retaining_grad.pop(uid, None)
            self._hooked.pop(uid, None)
            self._unstable.pop(uid, None)
            self.stale_views.mark_current(uid)
            self._holders.remove_holder(uid)
            self._objects.set_referenced_objects(uid, ())
        observation.dead_uids += dead

    def _tensor_facts(self, uid: str, tensor: torch.Tensor) -> entities.Tensor:
        out = tensor_facts(tensor, self.stale_views.is_stale(uid))
        observing = self._queue is not None
        known = uid in self._context.observation.provisional_facts or uid in self._delta.state
        out["storage"] = storage = self._storages.register_tensor_storage(tensor) if "offset" in out else None
        if observing:
            inference = as_plain_tensor(tensor).is_inference()
            out["counter"] = None if inference else self._counters.observe_tensor_counter(uid, tensor, storage)
        elif storage is not None:
            self._storages.capture_bytes(storage, out["dtype"] or "uint8")
        node = self._grad_fn(uid, tensor)
        if node is not None:
            out["grad_fn"] = node_uid = self._node_uids.uid_of(node)
            out["output_nr"] = as_plain_tensor(tensor).output_nr or None
            self.stale_views.record_node_of_view(uid, node_uid)
            if observing:
                self._context.observation.graph_roots.append(node)
        elif self.stale_views.is_stale(uid) and uid in self._delta.state:
            recorded = self._delta.tensor_state(uid)
            out["leaf"], out["grad_fn"] = recorded.get("leaf"), recorded.get("grad_fn")
            out["output_nr"] = recorded.get("output_nr")
        else:
            out["grad_fn"] = out["output_nr"] = None
        out["retains_grad"] = (out["leaf"] is False and as_plain_tensor(tensor).retains_grad) or None
        if storage is not None:
            if out["requires_grad"]:
                self.detached_copies.register_handle_requiring_grad(uid, storage)
            elif not known:
                self.detached_copies.detect_detached_copy(uid, tensor, storage)
        return out

    def hooked_outputs_of_node(self, node: str) -> list[tuple[str, torch.Tensor]]:
        """The living results of a node on which the program registered hooks, with their uids."""
        results = [uid for uid in self._hooked if self._delta.tensor_state(uid).get("grad_fn") == node]
        return [(uid, tensor) for uid in results if (tensor := self.uids.get_object(uid)) is not None]

    def _grad_fn(self, uid: str, tensor: torch.Tensor) -> Any:
        if not as_plain_tensor(tensor).requires_grad:
            return None
        stale = self.stale_views.is_stale(uid)
        if stale and (self._queue is None or self.stale_views.can_skip_reading_node(uid, tensor)):
            return None
        try:
            return self.stale_views.read_node(uid, tensor) if stale else as_plain_tensor(tensor).grad_fn
        except RuntimeError:  # a view that torch forbids to be changed in place, and that was
            return None

    def _encoded_attributes(self, own: dict[str, Any], encode: EncodeValue) -> dict[str, Value] | None:
        """The attributes that the program set on the tensor: `x.name = …`."""
        if type(own) is not dict or not own:
            return None
        return {
            name: encode(value) for name, value in own.items() if type(name) is str and not name.startswith("_")
        } or None
