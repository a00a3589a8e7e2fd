"""Uids: small names by first appearance for objects that may die, be freed and have their address used again."""

import weakref
from collections.abc import Iterator
from itertools import count
from typing import Any

from server.worker.kinds import weakly


class Uids:
    """Hands out `s1`, `s2`, `t1` …; a uid is never given twice."""

    def __init__(self) -> None:
        self._next: dict[str, count[int]] = {}

    def fresh(self, letter: str) -> str:
        return f"{letter}{next(self._next.setdefault(letter, count(1)))}"


def order(uid: str) -> tuple[str, int]:
    """A key by which uids sort in order of appearance."""
    return uid[0], int(uid[1:])


class WeakNames:
    """Uids of objects that take weak references, by identity. Nothing is kept alive."""

    def __init__(self, uids: Uids, letter: str) -> None:
        self._uids, self._letter = uids, letter
        self._by_id: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._by_uid: dict[str, weakref.ref[Any]] = {}
        self._dead: list[tuple[int, str]] = []

    def __len__(self) -> int:
        """How many live, or died since the last burial."""
        return len(self._by_uid)

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
        entry, dead = (id(thing), uid), self._dead
        ref = weakref.ref(thing, lambda _: dead.append(entry))
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
        """Forget those that died since the time before; their uids."""
        gone: list[str] = []
        while self._dead:
            place, uid = self._dead.pop(0)
            if self._by_uid.pop(uid, None) is not None:
                gone.append(uid)
                if self._by_id[place][1] == uid:
                    del self._by_id[place]
        return gone


class Objects:
    """Uids of objects of which most take no weak references (lists, dicts, instances).

    One lives while something told refers to it: a frame, a tensor's attribute, another object. An address may be used
    again only after its object is free, which is after nothing refers to it any more; inside one statement that can
    pass unseen, but for instances, which do take weak references.
    """

    def __init__(self, uids: Uids) -> None:
        self._uids = uids
        self._by_key: dict[tuple[int, int], str] = {}
        self._keys: dict[str, tuple[int, int]] = {}
        self._refs: dict[str, weakref.ref[Any]] = {}
        self._refers: dict[str, tuple[str, ...]] = {}  # who -> the objects it refers to
        self._count: dict[str, int] = {}
        self._seen: set[str] = set()
        self._doubtful: dict[str, None] = {}  # lost a reference, or never had one

    def begin(self) -> None:
        self._seen.clear()

    def known(self, thing: Any) -> bool:
        return self.uid(thing) is not None

    def uid(self, thing: Any) -> str | None:
        uid = self._by_key.get((id(thing), id(type(thing))))
        ref = self._refs.get(uid) if uid is not None else None
        return uid if ref is None or ref() is thing else None

    def told(self, uid: str) -> bool:
        """Whether something else refers to it."""
        return bool(self._count.get(uid))

    def name(self, thing: Any) -> tuple[str, bool]:
        """Its uid, and whether this look meets it for the first time."""
        uid = self.uid(thing)
        if uid is None:
            key = (id(thing), id(type(thing)))
            uid = self._by_key[key] = self._uids.fresh("o")
            self._keys[uid], self._count[uid] = key, 0
            self._doubtful[uid] = None
            if weakly(type(thing)):
                self._refs[uid] = weakref.ref(thing)
        first = uid not in self._seen
        self._seen.add(uid)
        return uid, first

    def refer(self, who: str, to: tuple[str, ...]) -> None:
        """`who` refers to these, and to nothing else any more."""
        before = self._refers.get(who, ())
        if to == before:
            return
        if to:
            self._refers[who] = to
        else:
            del self._refers[who]
        for uid in to:
            if uid in self._count:
                self._count[uid] += 1
        for uid in before:
            if uid in self._count:
                self._count[uid] -= 1
                self._doubtful[uid] = None

    def bury(self) -> list[str]:
        """Forget those that nothing told leads to; their uids."""
        gone: list[str] = []
        circles: list[str] = []
        while self._doubtful:
            uid, _ = self._doubtful.popitem()
            if uid not in self._count:
                continue
            if not self._count[uid]:
                self._forget(uid, gone)
            elif self._refers.get(uid):
                circles.append(uid)
        if any(uid in self._count and uid in self._reached([uid]) for uid in circles):
            reached = self._reached([who for who in self._refers if who not in self._count])
            for uid in [uid for uid in self._count if uid not in reached]:
                self._forget(uid, gone)
            self._doubtful.clear()
        return gone

    def _forget(self, uid: str, gone: list[str]) -> None:
        gone.append(uid)
        key = self._keys.pop(uid)
        if self._by_key.get(key) == uid:
            del self._by_key[key]
        del self._count[uid]
        self._refs.pop(uid, None)
        self.refer(uid, ())

    def _reached(self, start: list[str]) -> set[str]:
        """The objects that these refer to, directly or not."""
        found: set[str] = set()
        queue = list(start)
        while queue:
            for uid in self._refers.get(queue.pop(), ()):
                if uid not in found:
                    found.add(uid)
                    queue.append(uid)
        return found


def referred(value: Any) -> str | None:
    """The uid of the object that a told value stands for."""
    uid = value.get("ref") if type(value) is dict else None
    return uid if uid is not None and uid[0] == "o" else None
