"""Saved tensors: what each slot of a node pins, the version it expects, and whether torch will still take it.

`_raw_saved_*` is read without unpacking: it runs no hook and checks nothing. Whether a slot is stale is asked of
torch itself, by reading it the way backward does, and only where no hook would run.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

import torch

from server.worker.probes import cells, handles
from server.worker.probes.counters import Counters
from server.worker.probes.holders import Holders
from server.worker.probes.stale_views import StaleViews
from server.worker.probes.storages import Storages
from server.worker.uids import WeakUids

MAX_WATCHED = 64
"""Slots that are watched while iterations pass unseen."""

_EXPECTED = re.compile(r"is at version (\d+); expected version (\d+)")


def ask_torch(node: Any, attribute: str) -> tuple[str, int | None]:
    """What torch says when the slot is read: its state, and the version it expected where it names it."""
    try:
        getattr(node, attribute)
    except RuntimeError as error:
        text = str(error)
        versions = _EXPECTED.search(text)
        if versions or "modified by an inplace" in text:
            return "stale", int(versions[2]) if versions else None
        if "detached in-place" in text:
            return "detached", None
        if "freed" in text:
            return "freed", None
        return "unknown", None
    except Exception:
        return "unknown", None
    return "ok", None


class SavedTensors:
    """The slots of all nodes: `slots[node][slot]` are the facts last told."""

    def __init__(
        self, storages: Storages, counters: Counters, tensors: WeakUids, holders: Holders, views: StaleViews
    ) -> None:
        self._storages, self._counters, self._tensors = storages, counters, tensors
        self._holders, self._views = holders, views
        self._attributes: dict[type, list[str]] = {}
        self.slots: dict[str, dict[str, dict[str, Any]]] = {}
        self._bytes: dict[tuple[str, str], bytes] = {}
        self._non_leaf: dict[tuple[str, str], bool] = {}  # whether it was no leaf when it was saved
        self._unverified: set[tuple[str, str]] = set()  # first seen after statements that were not
        self._slots_by_uid: dict[str, dict[tuple[str, str], None]] = {}  # counter, storage or tensor -> slots
        self.after_unobserved = False  # a slot first seen now may have been changed before
        self.transitions: list[tuple[str, str, str, str | None]] = []  # node, slot, state, state before

    def forget(self, node: str) -> None:
        self._index_slots(node, {})
        for slot in self.slots.pop(node, {}):
            self._bytes.pop((node, slot), None)
            self._non_leaf.pop((node, slot), None)
            self._unverified.discard((node, slot))

    def _index_slots(self, node: str, current: dict[str, dict[str, Any]]) -> None:
        """Note what the slots of a node hold now."""
        for name, slot in self.slots.get(node, {}).items():
            for uid in held_uids(slot):
                self._slots_by_uid[uid].pop((node, name), None)
                if not self._slots_by_uid[uid]:
                    del self._slots_by_uid[uid]
            if "counter" in slot and held_uids(slot) and slot["counter"] is not None:
                self._counters.pin(slot["counter"], -1)
        for name, slot in current.items():
            for uid in held_uids(slot):
                self._slots_by_uid.setdefault(uid, {})[node, name] = None
            if "counter" in slot and held_uids(slot) and slot["counter"] is not None:
                self._counters.pin(slot["counter"], 1)
                if slot.get("storage"):
                    self._counters.link_storage(slot["counter"], slot["storage"])
        self._holders.hold(
            node, [(s["storage"], s["dtype"]) for s in current.values() if s.get("storage") and s["state"] != "freed"]
        )

    def is_held(self, uid: str) -> bool:
        """Whether a slot holds this counter, storage or tensor."""
        return uid in self._slots_by_uid

    def sample_intact(self, letter: str) -> list[str]:
        """Some of the counters or storages that slots hold and that are as they were when they were saved."""
        intact = (
            uid
            for uid, slots in self._slots_by_uid.items()
            if uid[0] == letter and all(self.slots[node][name]["state"] in ("ok", "unknown") for node, name in slots)
        )
        return list(islice(intact, MAX_WATCHED))

    def recheck(self, uids: Iterable[str]) -> dict[str, dict[str, dict[str, Any]]]:
        """The slots of the nodes of which one changed, for these counters moved or these storages were written.

        What torch would say follows from the counter's value and the bytes; no node is asked.
        """
        changed: dict[str, dict[str, dict[str, Any]]] = {}
        for node, name in dict.fromkeys(slot_key for uid in uids for slot_key in self._slots_by_uid.get(uid, ())):
            slot = self.slots[node][name]
            if slot["state"] not in ("ok", "unknown", "changed", "stale"):
                continue
            state = self._state(node, name, slot)
            if state != slot["state"]:
                self.transitions.append((node, name, state, slot["state"]))
                slot["state"] = state
                changed[node] = self.slots[node]
        return {node: {name: dict(slot) for name, slot in slots.items()} for node, slots in changed.items()}

    def _state(self, node: str, name: str, slot: dict[str, Any]) -> str:
        counter = slot.get("counter")
        if counter is not None and self._counters.version(counter) != slot["expected"]:
            return "stale"
        if self._bytes_differ(node, name, slot):
            return "changed"
        return "unknown" if (node, name) in self._unverified else "ok"

    def observe(self, node: Any, uid: str) -> dict[str, dict[str, Any]] | None:
        """The slots of a node; None where it can have none."""
        attributes = self._attributes.get(type(node))
        if attributes is None:
            attributes = self._attributes[type(node)] = [a for a in dir(type(node)) if a.startswith("_raw_saved_")]
        if not attributes:
            return None
        before = self.slots.get(uid, {})
        now: dict[str, dict[str, Any]] = {}
        for attribute in attributes:
            name = attribute[len("_raw_saved_") :]
            try:
                raw = getattr(node, attribute)
            except RuntimeError:  # a Python Function says so once all its saved tensors are freed
                now.update({k: freed_slot(s) for k, s in before.items() if k == name or k.startswith(f"{name}[")})
                continue
            if isinstance(raw, tuple | list):
                for k, element in enumerate(raw):
                    self._slot(node, uid, f"{name}[{k}]", None, element, now, before)
            else:
                self._slot(node, uid, name, f"_saved_{name}", raw, now, before)
        for name, slot in now.items():
            old = before.get(name, {}).get("state")
            if old != slot["state"]:
                self.transitions.append((uid, name, slot["state"], old))
        self._index_slots(uid, now)
        self.slots[uid] = now
        return {name: dict(slot) for name, slot in now.items()}

    def _slot(
        self,
        node: Any,
        uid: str,
        name: str,
        attribute: str | None,
        raw: Any,
        current: dict[str, Any],
        previous: dict[str, Any],
    ) -> None:
        if raw is None:
            return
        known = previous.get(name)
        if raw.unpack_hook is not None:
            current[name] = {"state": "packed"}
            return
        data = raw.data
        if not isinstance(data, torch.Tensor):
            if known is not None:
                current[name] = freed_slot(known)
            elif attribute is not None and ask_torch(node, attribute)[0] == "freed":
                current[name] = {"state": "freed"}
            return  # else an optional tensor that was not given
        slot = current[name] = self._facts(data)
        counter = None
        if not handles.bare(data).is_inference():
            counter = self._counters.counter_of_slot(known.get("counter") if known else None, data, slot.get("storage"))
        slot["counter"] = counter
        version = None if handles.bare(data).is_inference() else handles.bare(data)._version
        is_stale_view = self._views.is_stale(
            slot.get("tensor", "")
        )  # reading the slot, torch would ask the view for its node
        state, reported = ask_torch(node, attribute) if attribute and not is_stale_view else ("ok", None)
        expected = known.get("expected") if known else (reported if reported is not None else version)
        slot["expected"] = expected
        if state == "ok" and (attribute is None or is_stale_view) and version != expected:
            state = "stale"
        leaf, key = handles.leaf(data, is_stale_view) is True, (uid, name)
        if self.after_unobserved and known is None:
            self._unverified.add(key)
        if state == "ok" and self._bytes_differ(uid, name, slot):
            state = "changed"
        if state == "ok" and key in self._unverified:
            state = "unknown"
        slot["state"] = state
        if self._non_leaf.setdefault(key, not leaf) and leaf:
            slot["detached"] = True
            if known is not None and not known.get("detached"):
                self.transitions.append((uid, name, "detached", state))

    def _facts(self, data: torch.Tensor) -> dict[str, Any]:
        own = handles.bare(data)
        slot: dict[str, Any] = {"dtype": str(own.dtype)[6:], "shape": list(own.shape)}
        tensor = self._tensors.find(data)
        if tensor is not None:
            slot["tensor"] = tensor
        if own.layout == torch.strided and not torch._C._functorch.is_functorch_wrapped_tensor(data):
            slot.update(
                storage=self._storages.register(data),
                offset=own.storage_offset(),
                stride=list(own.stride()),
            )
        return slot

    def _bytes_differ(self, uid: str, name: str, slot: dict[str, Any]) -> bool:
        """Whether the saved elements are other bytes than when they were saved; at first sight they are noted."""
        if "storage" not in slot:
            return False
        buffer = self._storages.contents(slot["storage"])
        if buffer is None:
            return False
        current = cells.gather(buffer, cells.itemsize(slot["dtype"]), slot["shape"], slot["stride"], slot["offset"])
        current = cells.digest(current)
        saved = self._bytes.setdefault((uid, name), current)
        return saved != current


def held_uids(slot: dict[str, Any]) -> list[str]:
    """The counter, storage and tensor that a slot still holds."""
    if slot["state"] == "freed":
        return []
    return [slot[key] for key in ("counter", "storage", "tensor") if slot.get(key) is not None]


def freed_slot(slot: dict[str, Any]) -> dict[str, Any]:
    """A slot after backward released it: what it was, and nothing that may be used again."""
    return {key: slot[key] for key in ("dtype", "shape", "expected") if key in slot} | {"state": "freed"}
