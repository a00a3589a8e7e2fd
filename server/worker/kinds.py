"""What a class and an instance are, asked of Python's own descriptors: no metaclass and no class of the program answers."""

from typing import Any

members: Any = type.__dict__["__dict__"].__get__
mro: Any = type.__dict__["__mro__"].__get__
weakly: Any = type.__dict__["__weakrefoffset__"].__get__
"""Whether its instances take weak references: 0 where they don't."""

_name = type.__dict__["__name__"].__get__
_module = type.__dict__["__module__"].__get__
_get = object.__getattribute__


def name(kind: type) -> str:
    return str(_name(kind))


def module(kind: type) -> str:
    """The module that a class says it is of; "" where what it says is no string."""
    found = _module(kind)
    return found if type(found) is str else ""


def instance_dict(thing: Any) -> dict[str, Any] | None:
    """Its own `__dict__`, whatever its class says of attributes."""
    try:
        found = _get(thing, "__dict__")
    except Exception:
        return None
    return found if isinstance(found, dict) else None
