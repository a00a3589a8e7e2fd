"""Encodes Python values for the wire. No user code runs: it checks exact types, calls the base classes' own methods,
and uses no repr."""

import collections
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.amp import GradScaler

from gradbox.recorder import introspection
from gradbox.recorder.introspection import instance_dict, is_any_of_classes
from gradbox.recorder.probes.arrays import NumpyArrays
from gradbox.recorder.probes.cells import encode_number
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.tensors import Tensors
from gradbox.recorder.uids import NodeUids, ObjectUids, referenced_object_uid
from gradbox.wire import entities
from gradbox.wire.base import Opaque, Ref, Value
from gradbox.wire.entities import MAX_ITEMS, MAX_MORE_TENSORS

MAX_VALUES = 20_000
"""Values that one observation reports. Containers beyond that are named but not opened."""

MIN_SPLICED = 8
"""Items from which on a container's changes are reported as splices."""

MAX_TEXT = 1000
MAX_DEPTH = 60

_NUMBER_TYPES = (bool, int, float, complex)
_SCALAR_TYPES = (bool, int, float, str)
_TYPES_WITH_A_NAME = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
_CONTAINERS: tuple[Any, ...] = (dict, list, tuple, set, frozenset, collections.deque)
_TYPES_WITH_A_TEXT = (torch.dtype, torch.device, torch.layout, torch.memory_format)


def encode_text(value: str) -> str | Opaque:
    """Encode a string. A long one, or one that a JSON reader may refuse (half a surrogate pair), becomes an
    `Opaque`."""
    if len(value) > MAX_TEXT:
        value = value[:MAX_TEXT] + "…"
    encoded = value.encode("utf-8", "backslashreplace").decode()
    return value if encoded == value and value[MAX_TEXT:] == "" else {"py": "str", "text": encoded}


class ValueEncoder:
    """Encodes values, registers the tensors, arrays and nodes among them, and reports the containers."""

    def __init__(
        self, context: ProbeContext, objects: ObjectUids, tensors: Tensors, arrays: NumpyArrays, node_uids: NodeUids
    ) -> None:
        self._context, self._delta = context, context.delta
        self._tensors, self._arrays, self._node_uids = tensors, arrays, node_uids
        self.objects = objects
        self._budget = MAX_VALUES
        self._on_opaque: Callable[[Any], None] | None = None

    def begin_observation(self) -> None:
        """Begin an observation, in which containers are opened again."""
        self.objects.begin_observation()
        self._budget = MAX_VALUES

    def set_opaque_value_handler(self, handler: Callable[[Any], None] | None) -> None:
        """Set a handler for values of which only the type is named."""
        self._on_opaque = handler

    def encode_scalar(self, value: Any) -> Value:
        """Like `encode`, for values that lead nowhere. Small tuples are encoded as text."""
        kind = type(value)
        if (
            (kind is tuple or kind is list)
            and len(value) <= 16
            and all(is_any_of_classes(type(v), _SCALAR_TYPES) for v in value)
        ):
            return {"py": kind.__name__, "text": repr(value)}
        if issubclass(kind, torch.Tensor):
            return {"py": "Tensor"}
        return self.encode(value, MAX_DEPTH)

    def encode(self, value: Any, depth: int = 0) -> Value:
        """Encode a value.

        depth: how many containers it is nested in
        """
        kind = type(value)
        self._budget -= 1
        if value is None:
            return None
        if is_any_of_classes(kind, _NUMBER_TYPES):
            plain: Value = encode_number(value)
            return plain
        if kind is str:
            return encode_text(value)
        if issubclass(kind, torch.Tensor):
            return {"ref": self._tensors.register_tensor(value)}
        if issubclass(kind, np.ndarray):
            uid = self._arrays.register_array(value)
            return {"ref": uid} if uid else {"py": kind.__name__}
        if issubclass(kind, np.generic) and introspection.class_module(kind) == "numpy":
            return {"py": kind.__name__, "text": str(value)[:MAX_TEXT]}
        named = self._encode_by_name(value, kind)
        if named is not None:
            return named
        if issubclass(kind, torch._C._FunctionBase) or "next_functions" in introspection.class_dict(kind):
            return self._encode_node(value, kind)
        if depth < MAX_DEPTH and self._budget > 0 and self._has_reported_items(value, kind):
            return self._encode_object(value, kind, depth)
        if self._on_opaque is not None:
            self._on_opaque(value)
        return {"py": introspection.class_name(kind)}

    def _encode_by_name(self, value: Any, kind: type) -> Opaque | None:
        """Encode a value of Python or torch that has a short name; None for any other."""
        if is_any_of_classes(kind, _TYPES_WITH_A_TEXT):
            return {"py": kind.__name__, "text": str(value)}
        if is_any_of_classes(kind, _TYPES_WITH_A_NAME):
            if self._on_opaque is not None and kind is types.BuiltinFunctionType:
                self._on_opaque(value)
            return {"py": kind.__name__, "text": str(value.__name__)[:MAX_TEXT]}
        if issubclass(kind, type):
            return {"py": "type", "text": introspection.class_name(value)[:MAX_TEXT]}
        if kind is bytes:
            return {"py": "bytes", "text": repr(value[:MAX_TEXT])}
        if kind is range or kind is slice:
            plain = all(type(part) is int or part is None for part in (value.start, value.stop, value.step))
            return {"py": kind.__name__, "text": repr(value) if plain else None}
        return None

    def _encode_node(self, node: Any, kind: type) -> Value:
        """Encode a node of the graph and walk the graph from it. A `ctx` outside of its graph is named by its type."""
        self._context.observation.graph_roots.append(node)
        try:
            return {"ref": self._node_uids.uid_of(node)}
        except Exception:
            return {"py": introspection.class_name(kind)}

    def _has_reported_items(self, value: Any, kind: type) -> bool:
        if issubclass(kind, _CONTAINERS) or issubclass(kind, torch.nn.Module | torch.optim.Optimizer | GradScaler):
            return True
        if issubclass(kind, BaseException | types.ModuleType):
            return False
        is_shown = introspection.is_program_class(kind) or kind is types.SimpleNamespace
        return is_shown and instance_dict(value) is not None

    def _encode_object(self, value: Any, kind: type, depth: int) -> Ref:
        uid, first = self.objects.uid_of(value)
        if first:
            facts: entities.Object = {"kind": "object", "type": introspection.class_name(kind)}
            members: Iterator[Any] | None = None
            length = 0
            if issubclass(kind, dict):
                facts["len"] = length = dict.__len__(value)
                members = iter(list(dict.items(value))[:MAX_ITEMS])
            else:
                for base in _CONTAINERS[1:]:
                    if issubclass(kind, base):
                        facts["len"] = length = base.__len__(value)
                        members = iter(list(base.__iter__(value))[:MAX_ITEMS])
            if members is not None:
                items: Any  # lists and tuples are one on the wire
                if issubclass(kind, dict):
                    items = [[self.encode(k, depth + 1), self.encode(v, depth + 1)] for k, v in members]
                else:
                    encoded = (self.encode(v, depth + 1) for v in members)
                    # kept as the other kind: it must not take the place of a list that the program frees
                    items = tuple(encoded) if issubclass(kind, list) else list(encoded)
                facts["items"], facts["elided"] = items, length - len(items) or None
                facts["more_tensors"] = self._parameter_uid_runs_behind_reported(value, kind, length)
            attrs = dict(self._encode_attributes(value, kind, depth))
            facts["attrs"] = attrs or None
            if issubclass(kind, torch.nn.Module):
                facts["training"] = module_training_mode(value)
            self.objects.set_referenced_objects(
                uid, tuple(o for v in contained_values(facts) if (o := referenced_object_uid(v)) is not None)
            )
            self._report_container(uid, facts)
            if issubclass(kind, torch.optim.Optimizer):  # it steps whoever wraps it, and where no name leads to it
                self.objects.track_until_freed(value)
        return {"ref": uid}

    def _parameter_uid_runs_behind_reported(self, value: Any, kind: type, length: int) -> list[tuple[int, int]] | None:
        """The parameters behind the reported items of a longer list, as runs of uids; None if there is anything
        else."""
        if length <= MAX_ITEMS or kind is not list:
            return None
        more = value[MAX_ITEMS : MAX_ITEMS + MAX_MORE_TENSORS]
        if not all(map(is_parameter, more)):
            return None
        runs: list[tuple[int, int]] = []
        for tensor in more:
            number = int(self._tensors.register_tensor(tensor)[1:])
            if runs and runs[-1][1] == number - 1:
                runs[-1] = (runs[-1][0], number)
            else:
                runs.append((number, number))
        return runs

    def _encode_attributes(self, instance: Any, kind: type, depth: int) -> Iterator[tuple[str, Value]]:
        members = instance_dict(instance)
        if members is None:
            return
        if issubclass(kind, torch.nn.Module):
            for part in ("_parameters", "_buffers", "_modules"):
                for name, value in introspection.registered_module_members(members, part):
                    yield name, self.encode(value, depth + 1)
            for name, value in list(members.items()):
                plain = type(name) is str and not name.startswith("_") and name != "training"
                is_told = introspection.is_program_class(kind) or name == "requires_grad"
                if plain and (is_told or issubclass(type(value), torch.Tensor)):
                    yield name, self.encode(value, depth + 1)
        elif issubclass(kind, torch.optim.Optimizer):
            wrapped = [name for name, value in list(members.items()) if issubclass(type(value), torch.optim.Optimizer)]
            for name in ("param_groups", "state", *wrapped):
                if name in members:
                    yield name, self.encode(members[name], depth + 1)
        elif issubclass(kind, GradScaler):
            yield "_scale", self.encode(members.get("_scale"), depth + 1)
        elif introspection.is_program_class(kind) or kind is types.SimpleNamespace:
            for name, value in list(members.items())[:MAX_ITEMS]:
                if type(name) is str:
                    yield name, self.encode(value, depth + 1)

    def _report_container(self, uid: str, facts: entities.Object) -> None:
        """Report a container, by a splice if little of it changed."""
        recorded = self._delta.object_state(uid)
        old, new = recorded.get("items") if recorded is not None else None, facts.get("items")
        if not old or not new or old == new or len(old) < MIN_SPLICED:
            self._delta.update_entity(uid, facts)
            return
        start = 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            start += 1
        end = 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        inserted = new[start : len(new) - end]
        pending = self._delta.pending.get(uid, {})
        if len(inserted) * 2 > len(new) or "items" in pending or "splice" in pending:
            self._delta.update_entity(uid, facts)
        else:
            self._delta.splice_items(uid, facts, (start, len(old) - start - end, inserted))


def is_parameter(value: Any) -> bool:
    """Whether an optimizer would accept it: a parameter, or another leaf that requires a gradient."""
    kind = type(value)
    return issubclass(kind, torch.nn.Parameter) or (kind is torch.Tensor and value.is_leaf and value.requires_grad)


def module_training_mode(module: torch.nn.Module) -> bool | None:
    """A module's `training`; None if that is not a bool."""
    mode = (instance_dict(module) or {}).get("training")
    return mode if type(mode) is bool else None


def contained_values(facts: entities.Object) -> list[Value]:
    """The values that an object holds: items, keys and attributes."""
    values = list((facts.get("attrs") or {}).values())
    item: Any
    for item in facts.get("items") or ():
        values += item if type(item) is list else [item]
    return values
