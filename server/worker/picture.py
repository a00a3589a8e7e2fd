"""The picture as last told, and the difference to tell next."""

from typing import Any


class Picture:
    """The state as last told, and the difference to tell next."""

    def __init__(self) -> None:
        self.state: dict[str, dict[str, Any]] = {}
        self.set: dict[str, dict[str, Any]] = {}
        self.gone: list[str] = []

    def put(self, uid: str, facts: dict[str, Any]) -> bool:
        """Tell these facts where they differ from what was told; whether anything did."""
        told = self.state.get(uid)
        if told is None:
            self.state[uid] = facts
            self.set[uid] = {key: value for key, value in facts.items() if value is not None}
            return True
        changed = {}
        for key, value in facts.items():
            old = told.get(key)
            if old is value:
                continue
            kind = type(value)
            if kind is type(old) and (kind is str or kind is int):
                if old != value:
                    changed[key] = value
            elif old != value or unlike(old, value):
                changed[key] = value
        if not changed:
            return False
        told.update(changed)
        self.set.setdefault(uid, {}).update(changed)
        return True

    def delta(self, uid: str, fields: dict[str, Any]) -> None:
        """Tell a delta whose effect on the state the caller has already made."""
        self.set.setdefault(uid, {}).update(fields)

    def drop(self, uid: str) -> None:
        if self.state.pop(uid, None) is not None:
            self.gone.append(uid)

    def take(self) -> tuple[dict[str, dict[str, Any]], list[str]]:
        told, gone = dict(self.set), list(self.gone)
        self.set.clear()  # new ones would take the places of what the program just freed
        self.gone.clear()
        return told, gone


def unlike(a: Any, b: Any) -> bool:
    """Equal to Python and different on the wire: True is not 1, 1 is not 1.0, 0.0 is not -0.0."""
    if type(a) is not type(b):
        return True
    if isinstance(a, list | tuple):
        return any(unlike(x, y) for x, y in zip(a, b, strict=False))
    if isinstance(a, dict):
        return any(unlike(value, b.get(key)) for key, value in a.items())
    return type(a) is float and str(a) != str(b)
