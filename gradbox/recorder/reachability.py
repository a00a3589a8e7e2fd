"""What a value leads to although the trace does not show how: closures, bound methods, iterators, library objects.

Python's garbage collector is asked, which knows every reference and runs no code of the program.
"""

import gc
import types
import weakref
from typing import Any

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle

from gradbox.recorder import introspection
from gradbox.recorder.probes.tensors import Tensors
from gradbox.recorder.stack import has_steps, is_program_code
from gradbox.recorder.value_encoder import ValueEncoder

MAX_FOLLOWED_VALUES = 2000
"""Values that are followed. If there are more, the step observes everything."""

MISSING: Any = object()
_TYPES_WITHOUT_REFERENTS = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type,
    types.ModuleType,
    types.CodeType,
    torch.dtype,
    torch.device,
    np.generic,
    range,
    slice,
)


class Reachability:
    """Observes the known tensors and objects behind a value.

    incomplete: there are more than can be followed, or code whose effects no step will report
    """

    def __init__(self, values: ValueEncoder, tensors: Tensors) -> None:
        self._values, self._tensors = values, tensors
        self._visited: set[int] = set()
        self.incomplete = False

    def begin_observation(self, partial: bool) -> None:
        """Begin an observation.

        partial: it does not observe everything, so what values lead to matters
        """
        self._visited.clear()
        self.incomplete = False
        self._values.set_opaque_value_handler(self.observe_referents if partial else None)

    def observe_value(self, value: Any) -> None:
        """Observe a value and what it leads to."""
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            if self._tensors.uids.find_uid(value) is not None:
                self._tensors.register_tensor(value)
        elif self._values.objects.contains(value):
            self._values.encode(value)
        else:
            self.observe_referents(value)

    def observe_referents(self, value: Any) -> None:
        """Observe everything known that is referenced by this value, of which only the type is reported."""
        queue = [value]
        while queue and not self.incomplete:
            referent = queue.pop()
            kind = type(referent)
            if issubclass(kind, _TYPES_WITHOUT_REFERENTS) or id(referent) in self._visited:
                continue
            if issubclass(kind, torch.Tensor):
                self.observe_value(referent)
                continue
            self._visited.add(id(referent))
            self.incomplete = len(self._visited) > MAX_FOLLOWED_VALUES
            if referent is not value and self._values.objects.contains(referent):
                self._values.encode(referent)
            else:
                queue += self._referents(referent, kind)

    def _referents(self, value: Any, kind: type) -> list[Any]:
        if kind is types.FunctionType:
            cells = [cell for cell in value.__closure__ or () if cell != _EMPTY_CELL]
            return [*gc.get_referents(*cells), value.__defaults__, value.__kwdefaults__, value.__dict__]
        if kind is types.BuiltinFunctionType:
            return [value.__self__]
        unknown = kind is types.GeneratorType and is_program_code(value.gi_code) and not has_steps(value.gi_code)
        if unknown or issubclass(kind, RemovableHandle):  # which knows its tensor's hooks and not the tensor
            self.incomplete = True
            return []
        if issubclass(kind, weakref.ref):
            return [weakref.ref.__call__(value)]
        if kind is dict and "__builtins__" in value:
            return []  # a module's globals
        return gc.get_referents(value)


_EMPTY_CELL = types.CellType()


def follow_attributes(value: Any, attributes: tuple[str, ...]) -> tuple[Any, int]:
    """The value to which these attributes lead, as far as instances hold them, and how many did."""
    for k, name in enumerate(attributes):
        attribute = instance_attribute(value, name)
        if attribute is MISSING:
            return value, k
        value = attribute
    return value, len(attributes)


def instance_attribute(value: Any, name: str) -> Any:
    """An attribute that the instance itself holds; its class is not asked, and no code runs."""
    kind = type(value)
    if issubclass(kind, torch.Tensor | types.ModuleType):
        return MISSING
    members = introspection.class_dict(value) if issubclass(kind, type) else introspection.instance_dict(value)
    if members is None:
        return MISSING
    if issubclass(kind, torch.nn.Module):
        for part in ("_parameters", "_buffers", "_modules"):
            registered = members.get(part)
            if isinstance(registered, dict) and name in registered:
                return dict.__getitem__(registered, name)
    return members.get(name, MISSING)
