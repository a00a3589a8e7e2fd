"""The picture as last told, and the difference to tell next."""

from typing import Any


class TraceDelta:
    """The state as last told, and the difference to tell next."""

    def __init__(self) -> None:
        self.state: dict[str, dict[str, Any]] = {}
        self.pending: dict[str, dict[str, Any]] = {}
        self.removed: list[str] = []

    def update(self, uid: str, facts: dict[str, Any]) -> bool:
        """Tell these facts where they differ from what was told; whether anything did."""
        recorded = self.state.get(uid)
        if recorded is None:
            self.state[uid] = facts
            self.pending[uid] = {key: value for key, value in facts.items() if value is not None}
            return True
        changed = {}
        for key, value in facts.items():
            old = recorded.get(key)
            if old is value:
                continue
            kind = type(value)
            if kind is type(old) and (kind is str or kind is int):
                if old != value:
                    changed[key] = value
            elif old != value or differs_on_wire(old, value):
                changed[key] = value
        if not changed:
            return False
        recorded.update(changed)
        self.pending.setdefault(uid, {}).update(changed)
        return True

    def update_fields(self, uid: str, fields: dict[str, Any]) -> None:
        """Tell a delta whose effect on the state the caller has already made."""
        self.pending.setdefault(uid, {}).update(fields)

    def remove(self, uid: str) -> None:
        if self.state.pop(uid, None) is not None:
            self.removed.append(uid)

    def flush(self) -> tuple[dict[str, dict[str, Any]], list[str]]:
        pending, removed = dict(self.pending), list(self.removed)
        self.pending.clear()  # new ones would take the places of what the program just freed
        self.removed.clear()
        return pending, removed


def differs_on_wire(a: Any, b: Any) -> bool:
    """Equal to Python and different on the wire: True is not 1, 1 is not 1.0, 0.0 is not -0.0."""
    if type(a) is not type(b):
        return True
    if isinstance(a, list | tuple):
        return any(differs_on_wire(x, y) for x, y in zip(a, b, strict=False))
    if isinstance(a, dict):
        return any(differs_on_wire(value, b.get(key)) for key, value in a.items())
    return type(a) is float and str(a) != str(b)
