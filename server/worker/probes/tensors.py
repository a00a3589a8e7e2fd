"""Tensors: who lives, what is new about each, and where a path of gradients left the graph."""

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

from server.worker.names import Picture, WeakNames
from server.worker.probes.counters import Counters
from server.worker.probes.handles import ORDINARY, facts, gradient, has_storage, leaf, parts, quantised
from server.worker.probes.storages import Storages, address

STANDING = ("storage", "offset", "shape", "stride", "dtype", "leaf", "grad_fn", "requires_grad")
"""Facts of a handle whose change may have changed what a node saved."""


class Tensors:
    """The handles of a run. `encode` tells a Python value."""

    def __init__(
        self,
        names: WeakNames,
        picture: Picture,
        storages: Storages,
        counters: Counters,
        name: Callable[[Any], str],
        fault: Callable[[BaseException], None],
    ) -> None:
        self.names, self._picture, self._storages, self._counters = names, picture, storages, counters
        self._name_node, self._fault = name, fault
        self._queue: dict[str, torch.Tensor] | None = None
        self._done: set[str] = set()
        self.early: dict[str, dict[str, Any]] = {}
        self.roots: list[Any] = []
        self.standing = False  # a known handle stands differently now
        self.readers: dict[str, list[tuple[str, str]]] = {}
        self._requiring: dict[str, list[str]] = {}  # storage -> the handles on it that require grad
        self._marks: dict[str, tuple[Any, ...]] = {}
        self._passed: list[torch.Tensor] = []
        self._parts: dict[str, dict[str, str]] = {}  # tensor -> name of a part -> the part's uid
        self.severed: list[tuple[str, str, str]] = []  # (tensor, its copy without a graph, how: detach or data)

    def see(self, tensor: torch.Tensor, again: bool = False) -> str:
        """Its uid. In a look it is looked at too; outside of one its facts are noted, for it may die before.

        again: note the facts anew, an operation just changed them.
        """
        uid = self.names.name(tensor)
        if self._queue is not None:
            if uid not in self._done:
                self._done.add(uid)
                self._queue[uid] = tensor
        elif uid not in self._picture.state and (again or uid not in self.early):
            self.early[uid] = self._facts(uid, tensor)
        return uid

    def begin(self) -> None:
        self._queue, self._done = {}, set()
        self.standing, self.readers = False, {}
        for _, tensor in self.names.living():
            self.see(tensor)

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
        if (
            type(tensor) not in ORDINARY
            or forward_ad._current_level >= 0
            or object.__getattribute__(tensor, "__dict__")
        ):
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
        """Whether it is as last told; then only who reads and who counts is noted anew."""
        mark = self._marks.get(uid)
        if mark is None or mark != self._mark(tensor):
            return False
        told = self._picture.state[uid]
        self._counters.see(uid, tensor)
        self.readers.setdefault(told["storage"], []).append((uid, told["dtype"]))
        if told.get("grad_fn") is not None:
            self._passed.append(tensor)
        return True

    def revisit(self) -> None:
        """Have the graphs of unchanged tensors walked too."""
        for tensor in self._passed:
            node = self._grad_fn(tensor)
            if node is not None:
                self.roots.append(node)
        self._passed.clear()

    def _drain(self, uid: str, tensor: torch.Tensor, encode: Callable[[Any], Any]) -> None:
        if self._same(uid, tensor):
            return
        facts = self._facts(uid, tensor)
        base, grad = tensor._base if tensor._is_view() else None, gradient(tensor)
        facts["base"] = self.see(base) if base is not None else None
        facts["grad"] = self.see(grad) if grad is not None else None
        facts["attrs"] = self._attributes(tensor, encode)
        facts["parts"] = self._made_of(uid, tensor)
        if facts.get("wraps") is not None:
            facts["wraps"]["value"] = {"ref": self.see(torch._C._functorch.get_unwrapped(tensor))}
        elif forward_ad._current_level >= 0 and facts["storage"]:
            tangent = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]
            facts["tangent"] = self.see(tangent) if tangent is not None else None
        elif "tangent" in self._picture.state.get(uid, {}):
            facts["tangent"] = None
        if tensor.is_quantized:
            facts["quant"] = quantised(tensor)
        told = self._picture.state.get(uid)
        if told is not None and any(told.get(key) != facts.get(key) for key in STANDING):
            self.standing = True
        self._picture.put(uid, facts)
        if facts.get("storage"):
            self.readers.setdefault(facts["storage"], []).append((uid, facts["dtype"]))
        plain = facts.get("storage") and facts.get("counter") and facts["leaf"] is not None
        mark = self._mark(tensor) if plain else None
        if mark is not None:
            self._marks[uid] = mark
        else:
            self._marks.pop(uid, None)

    def _made_of(self, uid: str, tensor: torch.Tensor) -> dict[str, str] | None:
        """Told as handles of their own. torch makes a new object for a part at every question: they are named by place."""
        if tensor.layout == torch.strided and not tensor.is_nested:
            return None
        names = self._parts.setdefault(uid, {})
        with torch._C._DisableFuncTorch():  # inside a transform it would wrap them
            found = parts(tensor)
        for name, part in found.items():
            told = facts(part)
            told["leaf"] = told["requires_grad"] = None  # autograd knows the whole, not its parts
            if has_storage(part):
                told["storage"] = self._storages.see(part)
            part_uid = names.get(name)
            if part_uid is None:
                part_uid = names[name] = self.names.fresh()
            self._picture.put(part_uid, told)
            if told.get("storage"):
                self.readers.setdefault(told["storage"], []).append((part_uid, told["dtype"]))
        return dict(names) or None

    def parted(self, gone: list[str]) -> list[str]:
        """The parts of the tensors that died."""
        return [part for uid in gone for part in self._parts.pop(uid, {}).values()]

    def finish(self) -> None:
        """Let go of everything."""
        self._queue = None
        self.roots.clear()
        self._passed.clear()

    def _facts(self, uid: str, tensor: torch.Tensor) -> dict[str, Any]:
        out = facts(tensor)
        looking = self._queue is not None
        known = uid in self.early or uid in self._picture.state
        out["storage"] = self._storages.see(tensor) if has_storage(tensor) else None
        if out["storage"] and not looking:
            self._storages.early(out["storage"], out["dtype"])
        if looking:
            out["counter"] = None if tensor.is_inference() else self._counters.see(uid, tensor)
        node = self._grad_fn(tensor)
        if node is not None:
            out["grad_fn"], out["output_nr"] = self._name_node(node), tensor.output_nr
            if looking:
                self.roots.append(node)
        else:
            out["grad_fn"] = out["output_nr"] = None
        out["retains_grad"] = tensor.retains_grad if out["leaf"] is False else None
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
        if tensor._is_view() or tensor.is_inference() or not (tensor.is_floating_point() or tensor.is_complex()):
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

    def forget(self, gone: list[str]) -> None:
        """What was noted of tensors and storages that died, and of this statement's passing things."""
        self.severed.clear()
        self.early.clear()
        for uid in gone:
            self._requiring.pop(uid, None)
            self._marks.pop(uid, None)

    def _grad_fn(self, tensor: torch.Tensor) -> Any:
        if not tensor.requires_grad:
            return None
        try:
            return tensor.grad_fn
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
