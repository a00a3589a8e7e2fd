"""Uids: small names by first appearance for objects that may die, be freed and have their address used again."""

import weakref
from collections.abc import Iterator
from itertools import count
from typing import Any


class Uids:
    """Hands out `s1`, `s2`, `t1` …; a uid is never given twice."""

    def __init__(self) -> None:
        self._next: dict[str, count[int]] = {}

    def fresh(self, letter: str) -> str:
        return f"{letter}{next(self._next.setdefault(letter, count(1)))}"


class WeakNames:
    """Uids of objects that take weak references, by identity. Nothing is kept alive."""

    def __init__(self, uids: Uids, letter: str) -> None:
        self._uids, self._letter = uids, letter
        self._by_id: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._by_uid: dict[str, weakref.ref[Any]] = {}

    def known(self, thing: Any) -> str | None:
        entry = self._by_id.get(id(thing))
        return entry[1] if entry and entry[0]() is thing else None

    def name(self, thing: Any) -> str:
        uid = self.known(thing)
        if uid is None:
            uid = self._uids.fresh(self._letter)
            self.adopt(thing, uid)
        return uid

    def fresh(self) -> str:
        """A uid for something of this kind that has no lasting object of its own."""
        return self._uids.fresh(self._letter)

    def adopt(self, thing: Any, uid: str) -> None:
        ref = weakref.ref(thing)
        self._by_id[id(thing)], self._by_uid[uid] = (ref, uid), ref

    def release(self, thing: Any) -> str | None:
        """Let go of the weak references to it; `adopt` with the uid takes it back."""
        uid = self.known(thing)
        if uid is not None:
            del self._by_id[id(thing)], self._by_uid[uid]
        return uid

    def living(self) -> Iterator[tuple[str, Any]]:
        """(uid, object) for every named object that lives, in order of appearance."""
        for uid, ref in list(self._by_uid.items()):
            thing = ref()
            if thing is not None:
                yield uid, thing

    def get(self, uid: str) -> Any:
        ref = self._by_uid.get(uid)
        return ref() if ref else None

    def bury(self) -> list[str]:
        """Forget the dead; their uids."""
        dead = [uid for uid, ref in self._by_uid.items() if ref() is None]
        for uid in dead:
            del self._by_uid[uid]
        if dead:
            self._by_id = {key: entry for key, entry in self._by_id.items() if entry[1] in self._by_uid}
        return dead


class LookNames:
    """Uids of objects that take no weak references (lists, dicts, frames): kept only while each look reaches them."""

    def __init__(self, uids: Uids, letter: str) -> None:
        self._uids, self._letter = uids, letter
        self._now: dict[tuple[int, Any], str] = {}
        self._before: dict[tuple[int, Any], str] = {}

    def begin(self) -> None:
        self._before, self._now = self._now, {}

    def name(self, thing: Any, kind: Any) -> tuple[str, bool]:
        """Its uid, and whether this look meets it for the first time."""
        key = (id(thing), kind)
        uid = self._now.get(key)
        if uid is not None:
            return uid, False
        uid = self._now[key] = self._before.pop(key, "") or self._uids.fresh(self._letter)
        return uid, True

    def unreached(self) -> list[str]:
        """The uids that the look just made did not meet."""
        return list(self._before.values())


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
        told, gone = self.set, self.gone
        self.set, self.gone = {}, []
        return told, gone


def unlike(a: Any, b: Any) -> bool:
    """Equal to Python and different on the wire: True is not 1, 1 is not 1.0, 0.0 is not -0.0."""
    if type(a) is not type(b):
        return True
    if isinstance(a, list):
        return any(unlike(x, y) for x, y in zip(a, b, strict=False))
    if isinstance(a, dict):
        return any(unlike(value, b.get(key)) for key, value in a.items())
    return type(a) is float and str(a) != str(b)
