"""What a value leads to although the picture does not show how: closures, bound methods, iterators, library objects.

Asked of Python's garbage collector, which knows every reference and runs no code of the program.
"""

import gc
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.hooks import RemovableHandle

from server.worker import kinds
from server.worker.stack import PROGRAM, steps
from server.worker.values import Values

FAR = 2000
"""Values that are followed; beyond, the step looks at everything."""

MISSING: Any = object()
_LEAVES = (
    bool, int, float, complex, str, bytes, type(None), type, types.ModuleType, types.CodeType, torch.dtype, torch.device,
    np.generic, range, slice,
)  # fmt: skip


class Reach:
    """Has the known tensors and objects behind a value looked at.

    known: the uid of a tensor that has one. see: has a tensor looked at.
    """

    def __init__(self, values: Values, known: Callable[[Any], str | None], see: Callable[[torch.Tensor], str]) -> None:
        self._values, self._known, self._see = values, known, see
        self._met: set[int] = set()
        self.lost = False  # more than can be followed, or code whose doings no step will tell

    def begin(self, on: bool) -> None:
        """A look begins. on: it is none at everything, so what values lead to matters."""
        self._met.clear()
        self.lost = False
        self._values.opaque = self.behind if on else None

    def refresh(self, value: Any) -> None:
        """Look at it again, and at what it leads to."""
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            if self._known(value) is not None:
                self._see(value)
        elif self._values.objects.known(value):
            self._values.encode(value)
        else:
            self.behind(value)

    def behind(self, value: Any) -> None:
        """Look at everything known that this value, told by no more than its type, refers to."""
        queue = [value]
        while queue and not self.lost:
            thing = queue.pop()
            kind = type(thing)
            if issubclass(kind, _LEAVES) or id(thing) in self._met:
                continue
            if issubclass(kind, torch.Tensor):
                self.refresh(thing)
                continue
            self._met.add(id(thing))
            self.lost = len(self._met) > FAR
            if thing is not value and self._values.objects.known(thing):
                self._values.encode(thing)
            else:
                queue += self._next(thing, kind)

    def _next(self, thing: Any, kind: type) -> list[Any]:
        if kind is types.FunctionType:
            cells = [cell for cell in thing.__closure__ or () if cell != _EMPTY]
            return [*gc.get_referents(*cells), thing.__defaults__, thing.__kwdefaults__, thing.__dict__]
        if kind is types.BuiltinFunctionType:
            return [thing.__self__]
        unknown = kind is types.GeneratorType and thing.gi_code.co_filename == PROGRAM and not steps(thing.gi_code)
        if unknown or issubclass(kind, RemovableHandle):  # which knows its tensor's hooks and not the tensor
            self.lost = True
            return []
        if issubclass(kind, weakref.ref):
            return [weakref.ref.__call__(thing)]
        if kind is dict and "__builtins__" in thing:
            return []  # a module's globals
        return gc.get_referents(thing)


_EMPTY = types.CellType()


def follow(value: Any, attributes: tuple[str, ...]) -> tuple[Any, int]:
    """The value that these attributes lead to, as far as instances hold them, and how many did."""
    for k, name in enumerate(attributes):
        found = member(value, name)
        if found is MISSING:
            return value, k
        value = found
    return value, len(attributes)


def member(value: Any, name: str) -> Any:
    """An attribute that the instance itself holds; nothing of its class, and no code runs."""
    kind = type(value)
    if issubclass(kind, torch.Tensor | types.ModuleType):
        return MISSING
    own = kinds.members(value) if issubclass(kind, type) else kinds.instance_dict(value)
    if own is None:
        return MISSING
    if issubclass(kind, torch.nn.Module):
        for part in ("_parameters", "_buffers", "_modules"):
            held = own.get(part)
            if isinstance(held, dict) and name in held:
                return dict.__getitem__(held, name)
    return own.get(name, MISSING)
