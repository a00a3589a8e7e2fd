"""What a class and an instance are, asked of Python's own descriptors: no metaclass and no class of the program
answers."""

import gc
import types
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch.jit._script import OrderedDictWrapper, OrderedModuleDict

class_dict: Any = type.__dict__["__dict__"].__get__
class_mro: Any = type.__dict__["__mro__"].__get__
weakref_offset_of: Any = type.__dict__["__weakrefoffset__"].__get__
"""Whether its instances take weak references: 0 where they don't."""

_class_name = type.__dict__["__name__"].__get__
_class_module = type.__dict__["__module__"].__get__
_SCRIPT_DICTS = (torch._C.ParameterDict, torch._C.BufferDict)
_BUILTIN_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)

traceback_of: Any = BaseException.__dict__["__traceback__"].__get__
_cause: Any = BaseException.__dict__["__cause__"].__get__
_context: Any = BaseException.__dict__["__context__"].__get__
_suppress_context: Any = BaseException.__dict__["__suppress_context__"].__get__


def is_any_of_classes(kind: type, kinds: Iterable[type]) -> bool:
    """Whether it is one of these; `in` would ask its metaclass for equality."""
    for candidate in kinds:  # noqa: SIM110 - a generator would cost more than the comparisons
        if kind is candidate:
            return True
    return False


def exception_cause(error: BaseException) -> BaseException | None:
    """What a traceback prints before it."""
    cause: BaseException | None = _cause(error)
    return cause or (None if _suppress_context(error) else _context(error))


def class_name(kind: type) -> str:
    return str(_class_name(kind))


def class_module(kind: type) -> str:
    """The module that a class says it is of; "" where what it says is no string."""
    name = _class_module(kind)
    return name if type(name) is str else ""


program_modules: set[str] = {"__main__"}
"""Modules whose classes are the program's: what their instances have in their `__dict__` is shown."""


def is_program_class(kind: type) -> bool:
    return class_module(kind) in program_modules


def registered_module_members(members: dict[str, Any], part: str) -> Iterable[tuple[str, Any]]:
    """What a module with this `__dict__` holds as its `_parameters`, `_buffers` or `_modules`.

    A module made by `torch.jit` has dictionaries of another kind, and a traced one has another module that has them.
    """
    script = members.get("_actual_script_module")
    registered: Any = ((instance_dict(script) or {}) if script is not None else members).get(part)
    kind = type(registered)
    if issubclass(kind, dict):
        return list(dict.items(registered))
    if kind is OrderedModuleDict:
        return list(dict.items(registered._python_modules))
    if kind is OrderedDictWrapper and type(registered._c) in _SCRIPT_DICTS:
        return list(registered._c.items())
    return ()


instances_with_new_dict: list[weakref.ref[Any]] | None = None
"""Those whose `__dict__` Python made because it was asked for here; None where nobody wants to know."""


def instance_dict(instance: Any) -> dict[str, Any] | None:
    """Its own `__dict__`, whatever its class says of attributes; None where the class has another in its place."""
    for base in class_mro(type(instance)):
        descriptor = class_dict(base).get("__dict__")
        if descriptor is None:
            continue
        if not is_any_of_classes(type(descriptor), _BUILTIN_DESCRIPTORS):
            return None
        given = instances_with_new_dict if weakref_offset_of(type(instance)) else None
        before = () if given is None else gc.get_referents(instance)
        members = descriptor.__get__(instance)
        if given is not None and not any(referent is members for referent in before):
            given.append(weakref.ref(instance))
        return members if issubclass(type(members), dict) else None
    return None


def exception_position_in_frame(error: BaseException, frame: types.FrameType) -> tuple[int, int]:
    """The line and the instruction at which an exception left a frame; where it did not, those at which the frame
    is."""
    line, instruction = frame.f_lineno, frame.f_lasti
    position = traceback_of(error)
    while position is not None:
        if position.tb_frame is frame:
            line, instruction = position.tb_lineno, position.tb_lasti
        position = position.tb_next
    return line, instruction
