"""Tensors: who lives, what is new about each, and where a path of gradients left the graph."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.autograd import forward_ad

from server.worker.probes.counters import Counters
from server.worker.probes.handles import bare, facts, gradient, has_storage, leaf, ordinary, parts, quantization
from server.worker.probes.holders import Holders
from server.worker.probes.stale_views import StaleViews
from server.worker.probes.storages import Storages, address
from server.worker.trace_delta import TraceDelta
from server.worker.uids import WeakUids, object_ref, uid_order

GRAPH_FACTS = ("storage", "offset", "shape", "stride", "dtype", "leaf", "grad_fn", "requires_grad")
"""Facts of a handle whose change may have changed what a node saved."""


class Tensors:
    """The handles of a run.

    name: a node's uid. refer: takes a tensor and the objects that its attributes refer to.
    """

    def __init__(
        self,
        uids: WeakUids,
        picture: TraceDelta,
        storages: Storages,
        counters: Counters,
        holders: Holders,
        stale_views: StaleViews,
        node_uid: Callable[[Any], str],
        set_references: Callable[[str, tuple[str, ...]], None],
        fault: Callable[[BaseException], None],
    ) -> None:
        self.uids, self._picture, self._storages, self._counters = uids, picture, storages, counters
        self._holders, self._node_uid, self._set_references, self._fault = holders, node_uid, set_references, fault
        self._queue: dict[str, torch.Tensor] | None = None
        self._observed: set[str] = set()
        self._from_program = True  # whoever is seen in this look is so because the program's text leads there
        self._touched_by_ops: dict[str, None] = {}  # operators took or made them since the look before
        self.provisional: dict[str, dict[str, Any]] = {}
        self.stale_views = stale_views
        self.graph_roots: list[Any] = []
        self.displaced: dict[str, None] = {}  # known handles that stand differently now
        self._unstable: dict[str, None] = {}  # in a transform's or a dual level's hands, whose end no operator tells
        self.retaining_grad: dict[str, None] = {}  # handles that backward gives a `.grad` although they are no leaves
        self._requiring_grad: dict[str, list[str]] = {}  # storage -> the handles on it that require grad
        self._fingerprints: dict[str, tuple[Any, ...]] = {}
        self._parts: dict[str, dict[str, str]] = {}  # tensor -> name of a part -> the part's uid
        self.cuts: list[tuple[str, str, str]] = []  # (tensor, its copy without a graph, how: detach or data)

    def register(self, tensor: torch.Tensor, refresh: bool = False, from_program: bool = True) -> str:
        """Its uid. In a look it is looked at too; outside of one its facts are noted, for it may die before.

        again: note the facts anew, an operation just changed them. said: the program's text leads to it.
        """
        uid = self.uids.uid_of(tensor)
        if self._queue is not None:
            if from_program and self._from_program:
                self.stale_views.mark_current(uid)
            if uid not in self._observed:
                self._observed.add(uid)
                self._queue[uid] = tensor
        else:
            self._touched_by_ops[uid] = None
            if uid not in self._picture.state and (refresh or uid not in self.provisional):
                self.provisional[uid] = self._facts(uid, tensor)
        return uid

    def enqueue(self, uids: Iterable[str]) -> None:
        """Have these looked at, as far as they live."""
        for uid in uids:
            tensor = self.uids.get(uid)
            if tensor is not None:
                self.register(tensor, from_program=False)

    def mark_views_stale(self, storage: str, writer: str) -> None:
        """An operation wrote a storage through one of the tensors on it: views whose counter that moved are stale."""
        self.stale_views.mark_current(writer)
        for uid in self._holders.holders_of(storage):
            recorded, view = self._picture.state[uid], self.uids.get(uid)
            if uid == writer or view is None or recorded.get("base") is None or recorded.get("counter") is None:
                continue
            before, own = self._counters.version(recorded["counter"]), bare(view)
            if before is not None and own._version != before and own._base.requires_grad:
                self.stale_views.mark_stale(uid, before, recorded.get("grad_fn") is not None)

    def begin_observation(self, everything: bool) -> None:
        """A look begins: at what operators took and made, or at everything."""
        self._queue, self._observed = {}, set()
        self._from_program = True
        self.displaced.clear()
        touched, self._touched_by_ops = self._touched_by_ops, {}
        self.enqueue(touched)
        self.enqueue(self._unstable)
        if everything:
            self.enqueue_all()

    def enqueue_all(self) -> None:
        """Look at everything that lives."""
        self._from_program = False
        self.enqueue([uid for uid, _ in self.uids.living()])

    def has_pending(self) -> bool:
        """Whether something is still to be looked at."""
        return bool(self._queue)

    def observed_uids(self) -> list[str]:
        """The uids of what this look looked at."""
        return sorted(self._observed, key=uid_order)

    def enqueue_related(self, mark_views_stale: Iterable[str], moved: Iterable[str]) -> None:
        """Have those looked at whose place in the graph may be another: storages were written, counters moved."""
        groups = [self._holders.holders_of(storage) for storage in mark_views_stale]
        groups += [self._counters.handles(counter) for counter in moved]
        for group in groups:
            tensors = [uid for uid in group if uid[0] == "t"]
            if len(tensors) > 1 and any(self._picture.state.get(uid, {}).get("requires_grad") for uid in tensors):
                self.enqueue(tensors)

    def observe_pending(self, encode: Callable[[Any], Any]) -> None:
        """Look at whatever was seen, and at what that leads to."""
        queue = self._queue
        assert queue is not None
        while queue:
            uid, tensor = queue.popitem()
            try:
                self._observe_tensor(uid, tensor, encode)
            except Exception as error:  # the one that refuses is left out; the others are told
                self._fault(error)

    def _fingerprint(self, tensor: torch.Tensor) -> tuple[Any, ...] | None:
        """What can't stay the same where anything we tell of it changed; None for what is no ordinary tensor."""
        if not ordinary(tensor) or forward_ad._current_level >= 0 or object.__getattribute__(tensor, "__dict__"):
            return None
        grad = gradient(tensor)
        hooks = tensor._backward_hooks
        return (
            address(tensor),
            tensor._version,
            tensor.requires_grad,
            leaf(tensor),
            tensor.storage_offset(),
            tensor.shape,
            tensor.stride(),
            tensor.dtype,
            tensor._cdata,
            len(hooks) if hooks else 0,
            tensor.retains_grad,
            "" if grad is None else self.uids.find(grad),  # None: one not met yet
        )

    def _is_unchanged(self, uid: str, tensor: torch.Tensor) -> bool:
        """Whether it is as last told; then only its counter is noted, and what it leads to."""
        fingerprint = None if self.stale_views.is_stale(uid) else self._fingerprints.get(uid)
        if fingerprint is None or fingerprint != self._fingerprint(tensor):
            return False
        recorded = self._picture.state[uid]
        self._counters.counter_of(uid, tensor, recorded["storage"])
        if recorded.get("base") is not None or recorded.get("grad") is not None:
            self.enqueue(known for known in (recorded.get("base"), recorded.get("grad")) if known is not None)
        return True

    def collect_graph_roots(self) -> None:
        """Have the graphs of all tensors walked."""
        for uid, tensor in self.uids.living():
            node = None if self.stale_views.is_stale(uid) else self._grad_fn(uid, tensor)
            if node is not None:
                self.graph_roots.append(node)

    def _observe_tensor(self, uid: str, tensor: torch.Tensor, encode: Callable[[Any], Any]) -> None:
        if self._is_unchanged(uid, tensor):
            return
        facts = self._facts(uid, tensor)
        own = bare(tensor)
        base, grad = own._base if own._is_view() else None, gradient(tensor, self.stale_views.is_stale(uid))
        facts["base"] = self.register(base) if base is not None else None
        facts["grad"] = self.register(grad) if grad is not None else None
        facts["attrs"] = self._attributes(tensor, encode)
        self._set_references(uid, tuple(o for v in (facts["attrs"] or {}).values() if (o := object_ref(v)) is not None))
        facts["parts"] = self._update_parts(uid, tensor)
        if facts.get("wraps") is not None:
            facts["wraps"]["value"] = {"ref": self.register(torch._C._functorch.get_unwrapped(tensor))}
        elif forward_ad._current_level >= 0 and facts["storage"]:
            tangent = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]
            facts["tangent"] = self.register(tangent) if tangent is not None else None
        elif "tangent" in self._picture.state.get(uid, {}):
            facts["tangent"] = None
        if facts.get("wraps") is not None or facts.get("tangent") is not None:
            self._unstable[uid] = None
        else:
            self._unstable.pop(uid, None)
        if own.is_quantized:
            facts["quant"] = quantization(tensor)
        recorded = self._picture.state.get(uid)
        if recorded is not None and any(recorded.get(key) != facts.get(key) for key in GRAPH_FACTS):
            self.displaced[uid] = None
            if recorded.get("storage") != facts.get("storage"):
                self._counters.storages_rebound = True
        self._picture.update(uid, facts)
        self._holders.hold(uid, [(facts["storage"], facts["dtype"])] if facts.get("storage") else [])
        if facts["retains_grad"]:
            self.retaining_grad[uid] = None
        comparable = facts.get("storage") and facts.get("counter") and facts["leaf"] is not None
        fingerprint = self._fingerprint(tensor) if comparable and not self.stale_views.is_stale(uid) else None
        if fingerprint is not None:
            self._fingerprints[uid] = fingerprint
        else:
            self._fingerprints.pop(uid, None)

    def _update_parts(self, uid: str, tensor: torch.Tensor) -> dict[str, str] | None:
        """Told as handles of their own. torch makes a new object for a part at every question: they are named by place."""
        if bare(tensor).layout == torch.strided and not bare(tensor).is_nested:
            return None
        uids = self._parts.setdefault(uid, {})
        with torch._C._DisableFuncTorch():  # inside a transform it would wrap them
            dense_parts = parts(tensor)
        for node_uid, part in dense_parts.items():
            if self._storages.running_backwards and node_uid in uids:
                continue
            part_facts = facts(part)
            part_facts["leaf"] = part_facts["requires_grad"] = None  # autograd knows the whole, not its parts
            if (
                has_storage(part) and not self._storages.running_backwards
            ):  # in backward it would be known by this object alone
                part_facts["storage"] = self._storages.register(part)
            part_uid = uids.get(node_uid)
            if part_uid is None:
                part_uid = uids[node_uid] = self.uids.allocate()
            self._picture.update(part_uid, part_facts)
            self._holders.hold(
                part_uid, [(part_facts["storage"], part_facts["dtype"])] if part_facts.get("storage") else []
            )
        return dict(uids) or None

    def take_parts(self, gone: list[str]) -> list[str]:
        """The parts of the tensors that died."""
        return [part for uid in gone for part in self._parts.pop(uid, {}).values()]

    def end_observation(self) -> None:
        """Let go of everything."""
        self._queue = None
        self.graph_roots.clear()

    def _facts(self, uid: str, tensor: torch.Tensor) -> dict[str, Any]:
        out = facts(tensor, self.stale_views.is_stale(uid))
        observing = self._queue is not None
        known = uid in self.provisional or uid in self._picture.state
        out["storage"] = self._storages.register(tensor) if has_storage(tensor) else None
        if out["storage"] and not observing:
            self._storages.capture(out["storage"], out["dtype"])
        if observing:
            out["counter"] = (
                None if bare(tensor).is_inference() else self._counters.counter_of(uid, tensor, out["storage"])
            )
        node = self._grad_fn(uid, tensor)
        if node is not None:
            out["grad_fn"], out["output_nr"] = self._node_uid(node), bare(tensor).output_nr
            self.stale_views.note_node(uid, out["grad_fn"])
            if observing:
                self.graph_roots.append(node)
        elif self.stale_views.is_stale(uid) and uid in self._picture.state:
            out |= {key: self._picture.state[uid].get(key) for key in ("leaf", "grad_fn", "output_nr")}
        else:
            out["grad_fn"] = out["output_nr"] = None
        out["retains_grad"] = bare(tensor).retains_grad if out["leaf"] is False else None
        if out["storage"]:
            if out["requires_grad"]:
                handles = self._requiring_grad.setdefault(out["storage"], [])
                if uid not in handles:
                    handles.append(uid)
            elif not known and out["storage"] in self._requiring_grad:
                self._note_cut(uid, tensor, out)
        return out

    def _note_cut(self, uid: str, tensor: torch.Tensor, facts: dict[str, Any]) -> None:
        """A new leaf without grad on the storage of a tensor that requires it: `detach()` or `.data` cut the graph."""
        own = bare(tensor)
        if own._is_view() or own.is_inference() or not (own.is_floating_point() or own.is_complex()):
            return
        handles = self._requiring_grad[facts["storage"]]
        living = [(handle, other) for handle in handles if (other := self.uids.get(handle)) is not None]
        source = next((handle for handle, other in living if self._counters.share_counter(other, tensor)), None)
        if source is not None:
            self.cuts.append((source, uid, "detach"))
        elif living:
            self.cuts.append((living[0][0], uid, "data"))
        else:  # nobody is left to be told apart from
            self.cuts.append((handles[-1], uid, "detach"))

    def forget(self, gone: Iterable[str]) -> None:
        """These tensors died."""
        for uid in gone:
            self._fingerprints.pop(uid, None)
            self.retaining_grad.pop(uid, None)
            self._unstable.pop(uid, None)
            self.stale_views.mark_current(uid)
            self._holders.remove(uid)
            self._set_references(uid, ())

    def forget_storages(self, storages: Iterable[str]) -> None:
        """These storages died."""
        for uid in storages:
            self._requiring_grad.pop(uid, None)

    def end_statement(self) -> None:
        """The statement is told; what was noted of its passing things is not needed any more."""
        self.cuts.clear()
        self.provisional.clear()

    def _grad_fn(self, uid: str, tensor: torch.Tensor) -> Any:
        if not bare(tensor).requires_grad:
            return None
        stale = self.stale_views.is_stale(uid)
        if stale and (self._queue is None or self.stale_views.is_up_to_date(uid, tensor)):
            return None
        try:
            return self.stale_views.read_node(uid, tensor) if stale else bare(tensor).grad_fn
        except RuntimeError:  # a view that torch forbids to be changed in place, and that was
            return None

    def _attributes(self, tensor: torch.Tensor, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """What the program put on it: `x.name = …`."""
        own = object.__getattribute__(tensor, "__dict__")
        if type(own) is not dict or not own:
            return None
        return {
            node_uid: encode(value)
            for node_uid, value in own.items()
            if type(node_uid) is str and not node_uid.startswith("_")
        } or None
