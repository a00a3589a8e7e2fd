"""Saved tensors: what each slot of a node pins, the version it expects, and whether torch will still take it.

`_raw_saved_*` is read without unpacking: it runs no hook and checks nothing. Whether a slot is stale is asked of
torch itself, by reading it the way backward does, and only where no hook would run.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

import torch

from server.worker.names import WeakNames
from server.worker.probes import cells, handles
from server.worker.probes.counters import Counters
from server.worker.probes.holders import Holders
from server.worker.probes.storages import Storages
from server.worker.probes.views import Views

FEW = 64
"""Slots that are watched while iterations pass unseen."""

_EXPECTED = re.compile(r"is at version (\d+); expected version (\d+)")


def verdict(node: Any, attribute: str) -> tuple[str, int | None]:
    """What torch says when the slot is read: its state, and the version it expected where it names it."""
    try:
        getattr(node, attribute)
    except RuntimeError as error:
        text = str(error)
        found = _EXPECTED.search(text)
        if found or "modified by an inplace" in text:
            return "stale", int(found[2]) if found else None
        if "detached in-place" in text:
            return "detached", None
        if "freed" in text:
            return "freed", None
        return "unknown", None
    except Exception:
        return "unknown", None
    return "ok", None


class Saved:
    """The slots of all nodes: `slots[node][slot]` are the facts last told."""

    def __init__(
        self, storages: Storages, counters: Counters, tensors: WeakNames, holders: Holders, views: Views
    ) -> None:
        self._storages, self._counters, self._tensors = storages, counters, tensors
        self._holders, self._views = holders, views
        self._attributes: dict[type, list[str]] = {}
        self.slots: dict[str, dict[str, dict[str, Any]]] = {}
        self._bytes: dict[tuple[str, str], bytes] = {}
        self._inner: dict[tuple[str, str], bool] = {}  # whether it was no leaf when it was saved
        self._late: set[tuple[str, str]] = set()  # first seen after statements that were not
        self._by: dict[str, dict[tuple[str, str], None]] = {}  # counter, storage or tensor -> slots
        self.late = False  # a slot first seen now may have been changed before
        self.news: list[tuple[str, str, str, str | None]] = []  # node, slot, state, state before

    def forget(self, node: str) -> None:
        self._keep(node, {})
        for slot in self.slots.pop(node, {}):
            self._bytes.pop((node, slot), None)
            self._inner.pop((node, slot), None)
            self._late.discard((node, slot))

    def _keep(self, node: str, now: dict[str, dict[str, Any]]) -> None:
        """Note what the slots of a node hold now."""
        for name, slot in self.slots.get(node, {}).items():
            for uid in held(slot):
                self._by[uid].pop((node, name), None)
                if not self._by[uid]:
                    del self._by[uid]
            if "counter" in slot and held(slot) and slot["counter"] is not None:
                self._counters.pin(slot["counter"], -1)
        for name, slot in now.items():
            for uid in held(slot):
                self._by.setdefault(uid, {})[node, name] = None
            if "counter" in slot and held(slot) and slot["counter"] is not None:
                self._counters.pin(slot["counter"], 1)
                if slot.get("storage"):
                    self._counters.on(slot["counter"], slot["storage"])
        self._holders.hold(
            node, [(s["storage"], s["dtype"]) for s in now.values() if s.get("storage") and s["state"] != "freed"]
        )

    def holding(self, uid: str) -> bool:
        """Whether a slot holds this counter, storage or tensor."""
        return uid in self._by

    def few(self, letter: str) -> list[str]:
        """Some of the counters or storages that slots hold and that are as they were when they were saved."""
        fine = (
            uid
            for uid, places in self._by.items()
            if uid[0] == letter and all(self.slots[node][name]["state"] in ("ok", "unknown") for node, name in places)
        )
        return list(islice(fine, FEW))

    def recheck(self, uids: Iterable[str]) -> dict[str, dict[str, dict[str, Any]]]:
        """The slots of the nodes of which one changed, for these counters moved or these storages were written.

        What torch would say follows from the counter's value and the bytes; no node is asked.
        """
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for node, name in dict.fromkeys(place for uid in uids for place in self._by.get(uid, ())):
            slot = self.slots[node][name]
            if slot["state"] not in ("ok", "unknown", "changed", "stale"):
                continue
            state = self._state(node, name, slot)
            if state != slot["state"]:
                self.news.append((node, name, state, slot["state"]))
                slot["state"] = state
                found[node] = self.slots[node]
        return {node: {name: dict(slot) for name, slot in slots.items()} for node, slots in found.items()}

    def _state(self, node: str, name: str, slot: dict[str, Any]) -> str:
        counter = slot.get("counter")
        if counter is not None and self._counters.version(counter) != slot["expected"]:
            return "stale"
        if self._other_bytes(node, name, slot):
            return "changed"
        return "unknown" if (node, name) in self._late else "ok"

    def look(self, node: Any, uid: str) -> dict[str, dict[str, Any]] | None:
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
                now.update({k: freed(s) for k, s in before.items() if k == name or k.startswith(f"{name}[")})
                continue
            if isinstance(raw, tuple | list):
                for k, one in enumerate(raw):
                    self._slot(node, uid, f"{name}[{k}]", None, one, now, before)
            else:
                self._slot(node, uid, name, f"_saved_{name}", raw, now, before)
        for name, slot in now.items():
            old = before.get(name, {}).get("state")
            if old != slot["state"]:
                self.news.append((uid, name, slot["state"], old))
        self._keep(uid, now)
        self.slots[uid] = now
        return {name: dict(slot) for name, slot in now.items()}

    def _slot(
        self,
        node: Any,
        uid: str,
        name: str,
        attribute: str | None,
        raw: Any,
        now: dict[str, Any],
        before: dict[str, Any],
    ) -> None:
        if raw is None:
            return
        known = before.get(name)
        if raw.unpack_hook is not None:
            now[name] = {"state": "packed"}
            return
        data = raw.data
        if not isinstance(data, torch.Tensor):
            if known is not None:
                now[name] = freed(known)
            elif attribute is not None and verdict(node, attribute)[0] == "freed":
                now[name] = {"state": "freed"}
            return  # else an optional tensor that was not given
        slot = now[name] = self._facts(data)
        counter = None
        if not handles.bare(data).is_inference():
            counter = self._counters.slot(known.get("counter") if known else None, data, slot.get("storage"))
        slot["counter"] = counter
        version = None if handles.bare(data).is_inference() else handles.bare(data)._version
        asks = self._views.stale(slot.get("tensor", ""))  # reading the slot, torch would ask the view for its node
        state, named = verdict(node, attribute) if attribute and not asks else ("ok", None)
        expected = known.get("expected") if known else (named if named is not None else version)
        slot["expected"] = expected
        if state == "ok" and (attribute is None or asks) and version != expected:
            state = "stale"
        leaf, key = handles.leaf(data, asks) is True, (uid, name)
        if self.late and known is None:
            self._late.add(key)
        if state == "ok" and self._other_bytes(uid, name, slot):
            state = "changed"
        if state == "ok" and key in self._late:
            state = "unknown"
        slot["state"] = state
        if self._inner.setdefault(key, not leaf) and leaf:
            slot["detached"] = True
            if known is not None and not known.get("detached"):
                self.news.append((uid, name, "detached", state))

    def _facts(self, data: torch.Tensor) -> dict[str, Any]:
        own = handles.bare(data)
        slot: dict[str, Any] = {"dtype": str(own.dtype)[6:], "shape": list(own.shape)}
        tensor = self._tensors.known(data)
        if tensor is not None:
            slot["tensor"] = tensor
        if own.layout == torch.strided and not torch._C._functorch.is_functorch_wrapped_tensor(data):
            slot.update(
                storage=self._storages.see(data),
                offset=own.storage_offset(),
                stride=list(own.stride()),
            )
        return slot

    def _other_bytes(self, uid: str, name: str, slot: dict[str, Any]) -> bool:
        """Whether the saved elements are other bytes than when they were saved; at first sight they are noted."""
        if "storage" not in slot:
            return False
        buffer = self._storages.bytes_of(slot["storage"])
        if buffer is None:
            return False
        now = cells.gather(buffer, cells.itemsize(slot["dtype"]), slot["shape"], slot["stride"], slot["offset"])
        now = cells.digest(now)
        was = self._bytes.setdefault((uid, name), now)
        return was != now


def held(slot: dict[str, Any]) -> list[str]:
    """The counter, storage and tensor that a slot still holds."""
    if slot["state"] == "freed":
        return []
    return [slot[key] for key in ("counter", "storage", "tensor") if slot.get(key) is not None]


def freed(slot: dict[str, Any]) -> dict[str, Any]:
    """A slot after backward released it: what it was, and nothing that may be used again."""
    return {key: slot[key] for key in ("dtype", "shape", "expected") if key in slot} | {"state": "freed"}
