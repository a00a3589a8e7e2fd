"""Uids: short names, in order of first appearance, for objects that may die and whose address may be reused.

Nodes of the autograd graph are identified by a token that lives and dies with the node.
"""

import gc
import weakref
from collections.abc import Iterator
from itertools import count
from typing import Any, cast

from gradbox.recorder.introspection import weakref_offset_of
from gradbox.wire.base import Ref, Value


class UidAllocator:
    """Allocates `s1`, `s2`, `t1` …; no uid is given twice."""

    def __init__(self) -> None:
        self._next: dict[str, count[int]] = {}

    def allocate_uid(self, letter: str) -> str:
        return f"{letter}{next(self._next.setdefault(letter, count(1)))}"


def uid_sort_key(uid: str) -> tuple[str, int]:
    """A key by which uids sort in order of appearance."""
    return uid[0], int(uid[1:])


class WeakUids:
    """Uids of objects that take weak references, by identity. Keeps nothing alive.

    dead: those that died since the last `collect_dead_uids`
    """

    def __init__(self, uids: UidAllocator, letter: str) -> None:
        self._uids, self._letter = uids, letter
        self._by_id: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._by_uid: dict[str, weakref.ref[Any]] = {}
        self.dead: list[tuple[int, str]] = []

    def __len__(self) -> int:
        """How many are alive, or died since the last `collect_dead_uids`."""
        return len(self._by_uid)

    def find_uid(self, value: Any) -> str | None:
        entry = self._by_id.get(id(value))
        return entry[1] if entry and entry[0]() is value else None

    def uid_of(self, value: Any) -> str:
        uid = self.find_uid(value)
        if uid is None:
            uid = self._uids.allocate_uid(self._letter)
            self.bind_uid(value, uid)
        return uid

    def allocate_uid(self) -> str:
        """A uid for something of this kind that has no lasting object of its own."""
        return self._uids.allocate_uid(self._letter)

    def bind_uid(self, value: Any, uid: str) -> None:
        entry, dead = (id(value), uid), self.dead
        ref = weakref.ref(value, lambda _: dead.append(entry))
        self._by_id[id(value)], self._by_uid[uid] = (ref, uid), ref

    def unbind_object(self, value: Any) -> str | None:
        """Drop the weak reference to an object; `bind` with its uid restores it."""
        uid = self.find_uid(value)
        if uid is not None:
            del self._by_id[id(value)], self._by_uid[uid]
        return uid

    def living_objects(self) -> Iterator[tuple[str, Any]]:
        """(uid, object) for every living object with a uid, in order of appearance."""
        for uid, ref in list(self._by_uid.items()):
            value = ref()
            if value is not None:
                yield uid, value

    def get_object(self, uid: str) -> Any:
        ref = self._by_uid.get(uid)
        return ref() if ref else None

    def collect_dead_uids(self) -> list[str]:
        """Forget the objects that have died. Returns their uids."""
        dead: list[str] = []
        while self.dead:
            address, uid = self.dead.pop(0)
            if self._by_uid.pop(uid, None) is not None:
                dead.append(uid)
                if self._by_id[address][1] == uid:
                    del self._by_id[address]
        return dead


class ObjectUids:
    """Uids of objects of which most take no weak references (lists, dicts, instances).

    An object counts as alive while something that is reported refers to it: a frame, a tensor's attribute, another
    object. An address can only be reused after its object is freed, that is, after nothing refers to it any more.
    Within one statement this can go unnoticed, except for instances, which do take weak references.
    """

    def __init__(self, uids: UidAllocator) -> None:
        self._uids = uids
        self._by_key: dict[tuple[int, int], str] = {}
        self._keys: dict[str, tuple[int, int]] = {}
        self._refs: dict[str, weakref.ref[Any]] = {}
        self._references: dict[str, tuple[str, ...]] = {}  # holder -> the objects it refers to
        self._reference_counts: dict[str, int] = {}
        self._observed: set[str] = set()
        self._candidates: dict[str, None] = {}  # lost a reference, or never had one
        self._kept: dict[str, weakref.ref[Any]] = {}  # alive until Python frees them

    def begin_observation(self) -> None:
        self._observed.clear()

    def contains(self, value: Any) -> bool:
        return self.find_uid(value) is not None

    def find_uid(self, value: Any) -> str | None:
        uid = self._by_key.get((id(value), id(type(value))))
        ref = self._refs.get(uid) if uid is not None else None
        return uid if ref is None or ref() is value else None

    def is_referenced(self, uid: str) -> bool:
        """Whether something else refers to the object."""
        return bool(self._reference_counts.get(uid))

    def uid_of(self, value: Any) -> tuple[str, bool]:
        """The object's uid, and whether this observation meets it for the first time."""
        uid = self.find_uid(value)
        if uid is None:
            key = (id(value), id(type(value)))
            uid = self._by_key[key] = self._uids.allocate_uid("o")
            self._keys[uid], self._reference_counts[uid] = key, 0
            self._candidates[uid] = None
            if weakref_offset_of(type(value)):
                self._refs[uid] = weakref.ref(value)
        first = uid not in self._observed
        self._observed.add(uid)
        return uid, first

    def track_until_freed(self, value: Any) -> None:
        """Count an object that takes weak references as alive until Python frees it, whatever refers to it."""
        uid = self.find_uid(value)
        if uid is not None and uid not in self._kept:
            self._kept[uid] = weakref.ref(value)
            self.set_referenced_objects(f"alive {uid}", (uid,))

    def tracked_objects(self) -> list[Any]:
        """Those of `track_until_freed` that live."""
        return [value for ref in list(self._kept.values()) if (value := ref()) is not None]

    def set_referenced_objects(self, holder: str, targets: tuple[str, ...]) -> None:
        """Set the objects to which a holder refers now.

        holder: a uid, or a frame's uid and a name
        """
        before = self._references.get(holder, ())
        if targets == before:
            return
        if targets:
            self._references[holder] = targets
        else:
            del self._references[holder]
        for uid in targets:
            if uid in self._reference_counts:
                self._reference_counts[uid] += 1
        for uid in before:
            if uid in self._reference_counts:
                self._reference_counts[uid] -= 1
                self._candidates[uid] = None

    def collect_dead_uids(self) -> list[str]:
        """Forget the objects to which nothing that is reported leads. Returns their uids."""
        dead: list[str] = []
        for uid in [uid for uid, ref in self._kept.items() if ref() is None]:
            del self._kept[uid]
            self.set_referenced_objects(f"alive {uid}", ())
        if not self._candidates:
            return dead
        cycle_members: list[str] = []
        while self._candidates:
            uid, _ = self._candidates.popitem()
            if uid not in self._reference_counts:
                continue
            if not self._reference_counts[uid]:
                self._forget_object(uid, dead)
            elif self._references.get(uid):
                cycle_members.append(uid)
        if any(uid in self._reference_counts and uid in self._objects_reachable_from([uid]) for uid in cycle_members):
            reached = self._objects_reachable_from(
                [holder for holder in self._references if holder not in self._reference_counts]
            )
            for uid in [uid for uid in self._reference_counts if uid not in reached]:
                self._forget_object(uid, dead)
            self._candidates.clear()
        return dead

    def _forget_object(self, uid: str, dead: list[str]) -> None:
        dead.append(uid)
        key = self._keys.pop(uid)
        if self._by_key.get(key) == uid:
            del self._by_key[key]
        del self._reference_counts[uid]
        self._refs.pop(uid, None)
        self.set_referenced_objects(uid, ())

    def _objects_reachable_from(self, holders: list[str]) -> set[str]:
        """The objects to which these holders refer, directly or indirectly."""
        reachable: set[str] = set()
        queue = list(holders)
        while queue:
            for uid in self._references.get(queue.pop(), ()):
                if uid not in reachable:
                    reachable.add(uid)
                    queue.append(uid)
        return reachable


def referenced_uid(value: Value) -> str | None:
    """The uid to which an encoded value refers, if it is a reference."""
    return cast(Ref, value).get("ref") if type(value) is dict else None


def encode_reference(uid: str | None) -> Value:
    """The encoded value that refers to an entity; None for no uid."""
    return None if uid is None else {"ref": uid}


def referenced_object_uid(value: Value) -> str | None:
    """The uid of the object that an encoded value refers to; None for a reference to anything else."""
    uid = cast(Ref, value).get("ref") if type(value) is dict else None
    return uid if uid is not None and uid[0] == "o" else None


TOKEN_KEY = " gradbox"


class NodeToken:
    """Is stored in `node.metadata`, which belongs to the C++ node and outlives its Python wrapper."""

    __slots__ = ("__weakref__", "uid")

    def __init__(self, uid: str) -> None:
        self.uid = uid


class NodeUids:
    """Names nodes and notices their death. It never keeps a node's wrapper, which would keep the saved tensors alive.

    dead: the uids of nodes that died since the last `collect_dead_uids`
    """

    def __init__(self, uids: UidAllocator) -> None:
        self._uids = uids
        self._tokens: dict[str, weakref.ref[NodeToken]] = {}
        self.dead: list[str] = []

    def uid_of(self, node: Any) -> str:
        metadata = node.metadata
        token = metadata.get(TOKEN_KEY)
        if token is None:
            token = metadata[TOKEN_KEY] = NodeToken(self._uids.allocate_uid("n"))
            uid = token.uid
            self._tokens[uid] = weakref.ref(token, lambda _: self.dead.append(uid))
        name: str = token.uid
        return name

    def remove_tokens(self) -> None:
        """Remove the tokens from living nodes after the run, because nodes may outlive it."""
        living = [token for ref in self._tokens.values() if (token := ref()) is not None]
        if living:
            for metadata in gc.get_referrers(*living):
                if type(metadata) is dict and isinstance(metadata.get(TOKEN_KEY), NodeToken):
                    del metadata[TOKEN_KEY]
        self._tokens.clear()

    def collect_dead_uids(self) -> list[str]:
        """The uids of the nodes that died since the last call."""
        dead, self.dead = self.dead, []
        for uid in dead:
            self._tokens.pop(uid, None)
        return dead
