"""What a class and an instance are, asked of Python's own descriptors: no metaclass and no class of the program answers."""

import types
from collections.abc import Iterable
from typing import Any

members: Any = type.__dict__["__dict__"].__get__
mro: Any = type.__dict__["__mro__"].__get__
weakly: Any = type.__dict__["__weakrefoffset__"].__get__
"""Whether its instances take weak references: 0 where they don't."""

_name = type.__dict__["__name__"].__get__
_module = type.__dict__["__module__"].__get__
_OWN = (types.GetSetDescriptorType, types.MemberDescriptorType)

traceback_of: Any = BaseException.__dict__["__traceback__"].__get__
_cause: Any = BaseException.__dict__["__cause__"].__get__
_context: Any = BaseException.__dict__["__context__"].__get__
_suppressed: Any = BaseException.__dict__["__suppress_context__"].__get__


def among(kind: type, some: Iterable[type]) -> bool:
    """Whether it is one of these; `in` would ask its metaclass for equality."""
    return any(kind is one for one in some)


def cause(error: BaseException) -> BaseException | None:
    """What a traceback prints before it."""
    found: BaseException | None = _cause(error)
    return found or (None if _suppressed(error) else _context(error))


def name(kind: type) -> str:
    return str(_name(kind))


def module(kind: type) -> str:
    """The module that a class says it is of; "" where what it says is no string."""
    found = _module(kind)
    return found if type(found) is str else ""


def instance_dict(thing: Any) -> dict[str, Any] | None:
    """Its own `__dict__`, whatever its class says of attributes; None where the class has another in its place."""
    for base in mro(type(thing)):
        place = members(base).get("__dict__")
        if place is not None:
            found = place.__get__(thing) if among(type(place), _OWN) else None
            return found if issubclass(type(found), dict) else None
    return None
