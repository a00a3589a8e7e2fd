"""Python values to the wire. Looking never runs user code: exact types, the base classes' own methods, no repr."""

import collections
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from server.worker import introspection
from server.worker.introspection import instance_dict, is_any_of
from server.worker.probes.cells import number
from server.worker.trace_delta import TraceDelta
from server.worker.uids import ObjectUids, UidAllocator, object_ref

MAX_ITEMS = 200
"""Items of a container that are told; the rest is counted in `elided`."""

BUDGET = 20_000
"""Values that one look tells; containers beyond are named and not opened."""

MAX_TEXT = 1000
MAX_DEPTH = 60

_PLAIN = (bool, int, float, complex)
_BRIEF = (bool, int, float, str)
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
_CONTAINERS: tuple[Any, ...] = (dict, list, tuple, set, frozenset, collections.deque)
_PRINTED = (torch.dtype, torch.device, torch.layout, torch.memory_format)


def text(value: str) -> Any:
    """A string; one that is long, or that no reader of JSON has to take (half a surrogate pair), is told as such."""
    if len(value) > MAX_TEXT:
        value = value[:MAX_TEXT] + "…"
    encoded = value.encode("utf-8", "backslashreplace").decode()
    return value if encoded == value and value[MAX_TEXT:] == "" else {"py": "str", "text": encoded}


class ValueEncoder:
    """Encodes values and tells the containers that they lead to.

    tensor, array, node: name a thing of that kind and have it looked at. own: whether a class is the program's.
    """

    def __init__(
        self,
        uids: UidAllocator,
        picture: TraceDelta,
        tensor: Callable[[torch.Tensor], str],
        array: Callable[[np.ndarray[Any, Any]], str | None],
        node: Callable[[Any], str],
    ) -> None:
        self._picture, self._tensor, self._array, self._node = picture, tensor, array, node
        self.objects = ObjectUids(uids)
        self.budget = BUDGET
        self.on_opaque: Callable[[Any], None] | None = None  # takes what is told by its type alone

    def begin_observation(self) -> None:
        """A look begins."""
        self.objects.begin_observation()
        self.budget = BUDGET

    def scalar(self, value: Any) -> Any:
        """Like `encode`, for values that lead nowhere: small tuples come as text."""
        kind = type(value)
        if (kind is tuple or kind is list) and len(value) <= 16 and all(is_any_of(type(v), _BRIEF) for v in value):
            return {"py": kind.__name__, "text": repr(value)}
        if issubclass(kind, torch.Tensor):
            return {"py": "Tensor"}
        return self.encode(value, MAX_DEPTH)

    def encode(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        self.budget -= 1
        if value is None:
            return None
        if is_any_of(kind, _PLAIN):
            return number(value)
        if kind is str:
            return text(value)
        if issubclass(kind, torch.Tensor):
            return {"ref": self._tensor(value)}
        if issubclass(kind, np.ndarray):
            uid = self._array(value)
            return {"ref": uid} if uid else {"py": kind.__name__}
        if issubclass(kind, np.generic) and introspection.class_module(kind) == "numpy":
            return {"py": kind.__name__, "text": str(value)[:MAX_TEXT]}
        if is_any_of(kind, _PRINTED):
            return {"py": kind.__name__, "text": str(value)}
        if is_any_of(kind, _NAMED):
            if self.on_opaque is not None and kind is types.BuiltinFunctionType:
                self.on_opaque(value)
            return {"py": kind.__name__, "text": str(value.__name__)[:MAX_TEXT]}
        if issubclass(kind, type):
            return {"py": "type", "text": introspection.class_name(value)[:MAX_TEXT]}
        if kind is bytes:
            return {"py": "bytes", "text": repr(value[:MAX_TEXT])}
        if kind is range or kind is slice:
            return {
                "py": kind.__name__,
                "text": repr(value)
                if all(type(p) is int or p is None for p in (value.start, value.stop, value.step))
                else None,
            }
        if issubclass(kind, torch._C._FunctionBase) or "next_functions" in introspection.class_dict(kind):
            try:
                return {"ref": self._node(value)}
            except Exception:  # a ctx outside its graph
                return {"py": introspection.class_name(kind)}
        if depth < MAX_DEPTH and self.budget > 0 and self._is_opened(value, kind):
            return self._object(value, kind, depth)
        if self.on_opaque is not None:
            self.on_opaque(value)
        return {"py": introspection.class_name(kind)}

    def _is_opened(self, value: Any, kind: type) -> bool:
        if issubclass(kind, _CONTAINERS) or issubclass(kind, torch.nn.Module | torch.optim.Optimizer):
            return True
        if issubclass(kind, BaseException | types.ModuleType) or instance_dict(value) is None:
            return False
        return introspection.class_module(kind) == "__main__" or kind is types.SimpleNamespace

    def _object(self, value: Any, kind: type, depth: int) -> Any:
        uid, first = self.objects.uid_of(value)
        if first:
            facts: dict[str, Any] = {"kind": "object", "type": introspection.class_name(kind)}
            members: Iterator[Any] | None = None
            if issubclass(kind, dict):
                facts["len"] = dict.__len__(value)
                members = iter(list(dict.items(value))[:MAX_ITEMS])
            else:
                for base in _CONTAINERS[1:]:
                    if issubclass(kind, base):
                        facts["len"] = base.__len__(value)
                        members = iter(list(base.__iter__(value))[:MAX_ITEMS])
            if members is not None:
                if issubclass(kind, dict):
                    facts["items"] = [[self.encode(k, depth + 1), self.encode(v, depth + 1)] for k, v in members]
                else:
                    items = (self.encode(v, depth + 1) for v in members)
                    # kept as the other kind: it must not take the place of a list that the program frees
                    facts["items"] = tuple(items) if issubclass(kind, list) else list(items)
                facts["elided"] = facts["len"] - len(facts["items"]) or None
            attrs = dict(self._attributes(value, kind, depth))
            facts["attrs"] = attrs or None
            self.objects.set_references(uid, tuple(o for v in values_of(facts) if (o := object_ref(v)) is not None))
            self._update_container(uid, facts)
        return {"ref": uid}

    def _attributes(self, instance: Any, kind: type, depth: int) -> Iterator[tuple[str, Any]]:
        members = instance_dict(instance)
        if members is None:
            return
        if issubclass(kind, torch.nn.Module):
            for part in ("_parameters", "_buffers", "_modules"):
                for name, value in dict.items(members.get(part) or {}):
                    yield name, self.encode(value, depth + 1)
            for name, value in list(members.items()):
                plain = type(name) is str and not name.startswith("_") and name != "training"
                if plain and (introspection.class_module(kind) == "__main__" or issubclass(type(value), torch.Tensor)):
                    yield name, self.encode(value, depth + 1)
        elif issubclass(kind, torch.optim.Optimizer):
            for name in ("param_groups", "state"):
                if name in members:
                    yield name, self.encode(members[name], depth + 1)
        elif introspection.class_module(kind) == "__main__" or kind is types.SimpleNamespace:
            for name, value in list(members.items())[:MAX_ITEMS]:
                if type(name) is str:
                    yield name, self.encode(value, depth + 1)

    def _update_container(self, uid: str, facts: dict[str, Any]) -> None:
        """A container of which little changed is told by a splice."""
        recorded = self._picture.state.get(uid)
        old, new = (recorded or {}).get("items"), facts.get("items")
        if recorded is None or not old or not new or old == new or len(old) < 8:
            self._picture.update(uid, facts)
            return
        start = 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            start += 1
        end = 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        splice = [start, len(old) - start - end, new[start : len(new) - end]]
        if (
            len(splice[2]) * 2 > len(new)
            or "items" in self._picture.pending.get(uid, {})
            or "splice" in self._picture.pending.get(uid, {})
        ):
            self._picture.update(uid, facts)
            return
        recorded["items"] = new
        self._picture.update(uid, facts)
        self._picture.update_fields(uid, {"splice": [splice]})


def values_of(facts: dict[str, Any]) -> list[Any]:
    """The values that a told object holds: items, keys and attributes."""
    out: list[Any] = list((facts.get("attrs") or {}).values())
    for item in facts.get("items") or ():
        out += item if type(item) is list else [item]
    return out
