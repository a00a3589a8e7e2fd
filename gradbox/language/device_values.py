"""What a program's syntax tree tells about its values: their kind and their device."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

DeviceKind = Literal["cpu", "gpu"]


@dataclass(frozen=True)
class ExpressionValue:
    """The value of an expression.

    on: its device; None if not known
    of: the elements of a collection
    rides: whether this is a parameter or buffer of a module, which moves with the module
    """

    kind: Literal["tensor", "module", "device", "number", "items", "plain"]
    on: DeviceKind | None = None
    of: "ExpressionValue | None" = None
    cls: str = ""
    rides: bool = False


PLAIN_VALUE = ExpressionValue("plain")


@dataclass
class ValueScope:
    """The names of a function or of the module.

    before: their values at the end of the last pass
    """

    names: dict[str, ExpressionValue | None]
    before: dict[str, ExpressionValue | None]
    outer: "ValueScope | None" = None
    returned: list[ExpressionValue | None] = field(default_factory=list)

    def value_of_name(self, name: str) -> ExpressionValue | None:
        if name in self.names:
            return self.names[name]
        scope = self.outer
        while scope is not None:
            for names in (scope.before, scope.names):
                if names.get(name) is not None:
                    return names[name]
            scope = scope.outer
        return None


def element_value(value: ExpressionValue | None) -> ExpressionValue | None:
    """The value of an element, from iterating over a value or indexing it."""
    if value is None or value.kind in ("tensor", "module"):
        return None if value is None else replace(value, rides=False, cls="")
    return value.of if value.kind == "items" else None


def common_value(values: Iterable[ExpressionValue | None]) -> ExpressionValue | None:
    """One value for several, ignoring unknown ones; None if they are of different kinds."""
    known = [value for value in values if value is not None and value != PLAIN_VALUE]
    if not known:
        return PLAIN_VALUE if any(value == PLAIN_VALUE for value in values) else None
    first = known[0]
    for other in known[1:]:
        if other.kind != first.kind:
            return None
        first = replace(
            first,
            on=first.on if first.on == other.on else None,
            of=common_value([first.of, other.of]),
            cls=first.cls if first.cls == other.cls else "",
        )
    return first
