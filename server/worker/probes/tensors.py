"""Tensors: who lives, what is new about each, and where a path of gradients left the graph."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.autograd import forward_ad

from server.worker.names import WeakNames, order, referred
from server.worker.picture import Picture
from server.worker.probes.counters import Counters
from server.worker.probes.handles import bare, facts, gradient, has_storage, leaf, ordinary, parts, quantised
from server.worker.probes.holders import Holders
from server.worker.probes.storages import Storages, address
from server.worker.probes.views import Views

STANDING = ("storage", "offset", "shape", "stride", "dtype", "leaf", "grad_fn", "requires_grad")
"""Facts of a handle whose change may have changed what a node saved."""


class Tensors:
    """The handles of a run.

    name: a node's uid. refer: takes a tensor and the objects that its attributes refer to.
    """

    def __init__(
        self,
        names: WeakNames,
        picture: Picture,
        storages: Storages,
        counters: Counters,
        holders: Holders,
        views: Views,
        name: Callable[[Any], str],
        refer: Callable[[str, tuple[str, ...]], None],
        fault: Callable[[BaseException], None],
    ) -> None:
        self.names, self._picture, self._storages, self._counters = names, picture, storages, counters
        self._holders, self._name_node, self._refer, self._fault = holders, name, refer, fault
        self._queue: dict[str, torch.Tensor] | None = None
        self._done: set[str] = set()
        self._said = True  # whoever is seen in this look is so because the program's text leads there
        self._touched: dict[str, None] = {}  # operators took or made them since the look before
        self.early: dict[str, dict[str, Any]] = {}
        self.views = views
        self.roots: list[Any] = []
        self.standing: dict[str, None] = {}  # known handles that stand differently now
        self._unsteady: dict[str, None] = {}  # in a transform's or a dual level's hands, whose end no operator tells
        self.retaining: dict[str, None] = {}  # handles that backward gives a `.grad` although they are no leaves
        self._requiring: dict[str, list[str]] = {}  # storage -> the handles on it that require grad
        self._marks: dict[str, tuple[Any, ...]] = {}
        self._parts: dict[str, dict[str, str]] = {}  # tensor -> name of a part -> the part's uid
        self.severed: list[tuple[str, str, str]] = []  # (tensor, its copy without a graph, how: detach or data)

    def see(self, tensor: torch.Tensor, again: bool = False, said: bool = True) -> str:
        """Its uid. In a look it is looked at too; outside of one its facts are noted, for it may die before.

        again: note the facts anew, an operation just changed them. said: the program's text leads to it.
        """
        uid = self.names.name(tensor)
        if self._queue is not None:
            if said and self._said:
                self.views.settle(uid)
            if uid not in self._done:
                self._done.add(uid)
                self._queue[uid] = tensor
        else:
            self._touched[uid] = None
            if uid not in self._picture.state and (again or uid not in self.early):
                self.early[uid] = self._facts(uid, tensor)
        return uid

    def look_at(self, uids: Iterable[str]) -> None:
        """Have these looked at, as far as they live."""
        for uid in uids:
            tensor = self.names.get(uid)
            if tensor is not None:
                self.see(tensor, said=False)

    def written(self, storage: str, by: str) -> None:
        """An operation wrote a storage through one of the tensors on it: views whose counter that moved are stale."""
        self.views.settle(by)
        for uid in self._holders.of(storage):
            told, view = self._picture.state[uid], self.names.get(uid)
            if uid == by or view is None or told.get("base") is None or told.get("counter") is None:
                continue
            before, own = self._counters.version(told["counter"]), bare(view)
            if before is not None and own._version != before and own._base.requires_grad:
                self.views.spoil(uid, before, told.get("grad_fn") is not None)

    def begin(self, everything: bool) -> None:
        """A look begins: at what operators took and made, or at everything."""
        self._queue, self._done = {}, set()
        self._said = True
        self.standing.clear()
        touched, self._touched = self._touched, {}
        self.look_at(touched)
        self.look_at(self._unsteady)
        if everything:
            self.widen()

    def widen(self) -> None:
        """Look at everything that lives."""
        self._said = False
        self.look_at([uid for uid, _ in self.names.living()])

    def waiting(self) -> bool:
        """Whether something is still to be looked at."""
        return bool(self._queue)

    def seen(self) -> list[str]:
        """The uids of what this look looked at."""
        return sorted(self._done, key=order)

    def relatives(self, written: Iterable[str], moved: Iterable[str]) -> None:
        """Have those looked at whose place in the graph may be another: storages were written, counters moved."""
        groups = [self._holders.of(storage) for storage in written]
        groups += [self._counters.wearers(counter) for counter in moved]
        for group in groups:
            around = [uid for uid in group if uid[0] == "t"]
            if len(around) > 1 and any(self._picture.state.get(uid, {}).get("requires_grad") for uid in around):
                self.look_at(around)

    def drain(self, encode: Callable[[Any], Any]) -> None:
        """Look at whatever was seen, and at what that leads to."""
        queue = self._queue
        assert queue is not None
        while queue:
            uid, tensor = queue.popitem()
            try:
                self._drain(uid, tensor, encode)
            except Exception as error:  # the one that refuses is left out; the others are told
                self._fault(error)

    def _mark(self, tensor: torch.Tensor) -> tuple[Any, ...] | None:
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
            "" if grad is None else self.names.known(grad),  # None: one not met yet
        )

    def _same(self, uid: str, tensor: torch.Tensor) -> bool:
        """Whether it is as last told; then only its counter is noted, and what it leads to."""
        mark = None if self.views.stale(uid) else self._marks.get(uid)
        if mark is None or mark != self._mark(tensor):
            return False
        told = self._picture.state[uid]
        self._counters.see(uid, tensor, told["storage"])
        if told.get("base") is not None or told.get("grad") is not None:
            self.look_at(known for known in (told.get("base"), told.get("grad")) if known is not None)
        return True

    def revisit(self) -> None:
        """Have the graphs of all tensors walked."""
        for uid, tensor in self.names.living():
            node = None if self.views.stale(uid) else self._grad_fn(uid, tensor)
            if node is not None:
                self.roots.append(node)

    def _drain(self, uid: str, tensor: torch.Tensor, encode: Callable[[Any], Any]) -> None:
        if self._same(uid, tensor):
            return
        facts = self._facts(uid, tensor)
        own = bare(tensor)
        base, grad = own._base if own._is_view() else None, gradient(tensor, self.views.stale(uid))
        facts["base"] = self.see(base) if base is not None else None
        facts["grad"] = self.see(grad) if grad is not None else None
        facts["attrs"] = self._attributes(tensor, encode)
        self._refer(uid, tuple(o for v in (facts["attrs"] or {}).values() if (o := referred(v)) is not None))
        facts["parts"] = self._made_of(uid, tensor)
        if facts.get("wraps") is not None:
            facts["wraps"]["value"] = {"ref": self.see(torch._C._functorch.get_unwrapped(tensor))}
        elif forward_ad._current_level >= 0 and facts["storage"]:
            tangent = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]
            facts["tangent"] = self.see(tangent) if tangent is not None else None
        elif "tangent" in self._picture.state.get(uid, {}):
            facts["tangent"] = None
        if facts.get("wraps") is not None or facts.get("tangent") is not None:
            self._unsteady[uid] = None
        else:
            self._unsteady.pop(uid, None)
        if own.is_quantized:
            facts["quant"] = quantised(tensor)
        told = self._picture.state.get(uid)
        if told is not None and any(told.get(key) != facts.get(key) for key in STANDING):
            self.standing[uid] = None
            if told.get("storage") != facts.get("storage"):
                self._counters.moving = True
        self._picture.put(uid, facts)
        self._holders.hold(uid, [(facts["storage"], facts["dtype"])] if facts.get("storage") else [])
        if facts["retains_grad"]:
            self.retaining[uid] = None
        plain = facts.get("storage") and facts.get("counter") and facts["leaf"] is not None
        mark = self._mark(tensor) if plain and not self.views.stale(uid) else None
        if mark is not None:
            self._marks[uid] = mark
        else:
            self._marks.pop(uid, None)

    def _made_of(self, uid: str, tensor: torch.Tensor) -> dict[str, str] | None:
        """Told as handles of their own. torch makes a new object for a part at every question: they are named by place."""
        if bare(tensor).layout == torch.strided and not bare(tensor).is_nested:
            return None
        names = self._parts.setdefault(uid, {})
        with torch._C._DisableFuncTorch():  # inside a transform it would wrap them
            found = parts(tensor)
        for name, part in found.items():
            if self._storages.light and name in names:
                continue
            told = facts(part)
            told["leaf"] = told["requires_grad"] = None  # autograd knows the whole, not its parts
            if has_storage(part) and not self._storages.light:  # in backward it would be known by this object alone
                told["storage"] = self._storages.see(part)
            part_uid = names.get(name)
            if part_uid is None:
                part_uid = names[name] = self.names.fresh()
            self._picture.put(part_uid, told)
            self._holders.hold(part_uid, [(told["storage"], told["dtype"])] if told.get("storage") else [])
        return dict(names) or None

    def parted(self, gone: list[str]) -> list[str]:
        """The parts of the tensors that died."""
        return [part for uid in gone for part in self._parts.pop(uid, {}).values()]

    def finish(self) -> None:
        """Let go of everything."""
        self._queue = None
        self.roots.clear()

    def _facts(self, uid: str, tensor: torch.Tensor) -> dict[str, Any]:
        out = facts(tensor, self.views.stale(uid))
        looking = self._queue is not None
        known = uid in self.early or uid in self._picture.state
        out["storage"] = self._storages.see(tensor) if has_storage(tensor) else None
        if out["storage"] and not looking:
            self._storages.early(out["storage"], out["dtype"])
        if looking:
            out["counter"] = None if bare(tensor).is_inference() else self._counters.see(uid, tensor, out["storage"])
        node = self._grad_fn(uid, tensor)
        if node is not None:
            out["grad_fn"], out["output_nr"] = self._name_node(node), bare(tensor).output_nr
            self.views.show(uid, out["grad_fn"])
            if looking:
                self.roots.append(node)
        elif self.views.stale(uid) and uid in self._picture.state:
            out |= {key: self._picture.state[uid].get(key) for key in ("leaf", "grad_fn", "output_nr")}
        else:
            out["grad_fn"] = out["output_nr"] = None
        out["retains_grad"] = bare(tensor).retains_grad if out["leaf"] is False else None
        if out["storage"]:
            if out["requires_grad"]:
                wearers = self._requiring.setdefault(out["storage"], [])
                if uid not in wearers:
                    wearers.append(uid)
            elif not known and out["storage"] in self._requiring:
                self._sever(uid, tensor, out)
        return out

    def _sever(self, uid: str, tensor: torch.Tensor, told: dict[str, Any]) -> None:
        """A new leaf without grad on the storage of a tensor that requires it: `detach()` or `.data` cut the graph."""
        own = bare(tensor)
        if own._is_view() or own.is_inference() or not (own.is_floating_point() or own.is_complex()):
            return
        wearers = self._requiring[told["storage"]]
        living = [(wearer, other) for wearer in wearers if (other := self.names.get(wearer)) is not None]
        twin = next((wearer for wearer, other in living if self._counters.same(other, tensor)), None)
        if twin is not None:
            self.severed.append((twin, uid, "detach"))
        elif living:
            self.severed.append((living[0][0], uid, "data"))
        else:  # nobody is left to be told apart from
            self.severed.append((wearers[-1], uid, "detach"))

    def forget(self, gone: Iterable[str]) -> None:
        """These tensors died."""
        for uid in gone:
            self._marks.pop(uid, None)
            self.retaining.pop(uid, None)
            self._unsteady.pop(uid, None)
            self.views.settle(uid)
            self._holders.drop(uid)
            self._refer(uid, ())

    def freed(self, storages: Iterable[str]) -> None:
        """These storages died."""
        for uid in storages:
            self._requiring.pop(uid, None)

    def passed(self) -> None:
        """The statement is told; what was noted of its passing things is not needed any more."""
        self.severed.clear()
        self.early.clear()

    def _grad_fn(self, uid: str, tensor: torch.Tensor) -> Any:
        if not bare(tensor).requires_grad:
            return None
        stale = self.views.stale(uid)
        if stale and (self._queue is None or self.views.told(uid, tensor)):
            return None
        try:
            return self.views.read(uid, tensor) if stale else bare(tensor).grad_fn
        except RuntimeError:  # a view that torch forbids to be changed in place, and that was
            return None

    def _attributes(self, tensor: torch.Tensor, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """What the program put on it: `x.name = …`."""
        own = object.__getattribute__(tensor, "__dict__")
        if type(own) is not dict or not own:
            return None
        return {
            name: encode(value) for name, value in own.items() if type(name) is str and not name.startswith("_")
        } or None
