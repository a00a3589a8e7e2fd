"""Saved tensors: what each slot of a node pins, the version it expects, and whether torch will still take it.

`_raw_saved_*` is read without unpacking: it runs no hook and checks nothing. Whether a slot is stale is asked of
torch itself, by reading it the way backward does, and only where no hook would run.
"""

import re
from typing import Any

import torch

from server.worker.names import WeakNames
from server.worker.probes import cells, handles
from server.worker.probes.counters import Counters
from server.worker.probes.storages import Storages

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

    def __init__(self, storages: Storages, counters: Counters, tensors: WeakNames) -> None:
        self._storages, self._counters, self._tensors = storages, counters, tensors
        self._attributes: dict[type, list[str]] = {}
        self.slots: dict[str, dict[str, dict[str, Any]]] = {}
        self._bytes: dict[tuple[str, str], bytes] = {}
        self._inner: dict[tuple[str, str], bool] = {}  # whether it was no leaf when it was saved
        self.news: list[tuple[str, str, str, str | None]] = []  # node, slot, state, state before

    def forget(self, node: str) -> None:
        for slot in self.slots.pop(node, {}):
            self._bytes.pop((node, slot), None)
            self._inner.pop((node, slot), None)

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
        counter = None if data.is_inference() else self._counters.slot(known.get("counter") if known else None, data)
        slot["counter"] = counter
        version = None if data.is_inference() else data._version
        state, named = verdict(node, attribute) if attribute else ("ok", None)
        expected = known.get("expected") if known else (named if named is not None else version)
        slot["expected"] = expected
        if state == "ok" and attribute is None and version != expected:
            state = "stale"
        if state == "ok" and self._other_bytes(uid, name, data, slot):
            state = "changed"
        slot["state"] = state
        leaf, key = handles.leaf(data) is True, (uid, name)
        if self._inner.setdefault(key, not leaf) and leaf:
            slot["detached"] = True
            if known is not None and not known.get("detached"):
                self.news.append((uid, name, "detached", state))

    def _facts(self, data: torch.Tensor) -> dict[str, Any]:
        slot: dict[str, Any] = {"dtype": str(data.dtype)[6:], "shape": list(data.shape)}
        tensor = self._tensors.known(data)
        if tensor is not None:
            slot["tensor"] = tensor
        if data.layout == torch.strided and not torch._C._functorch.is_functorch_wrapped_tensor(data):
            slot.update(
                storage=self._storages.see(data),
                offset=data.storage_offset(),
                stride=list(data.stride()),
            )
        return slot

    def _other_bytes(self, uid: str, name: str, data: torch.Tensor, slot: dict[str, Any]) -> bool:
        """Whether the saved elements are other bytes than when they were saved; at first sight they are noted."""
        if "storage" not in slot:
            return False
        buffer = self._storages.bytes_of(slot["storage"])
        if buffer is None:
            return False
        now = cells.gather(buffer, data.element_size(), slot["shape"], slot["stride"], slot["offset"])
        now = cells.digest(now)
        was = self._bytes.setdefault((uid, name), now)
        return was != now

    def readers(self) -> dict[str, list[tuple[str, str]]]:
        """storage -> (node, dtype) of the slots that hold it."""
        out: dict[str, list[tuple[str, str]]] = {}
        for node, slots in self.slots.items():
            for slot in slots.values():
                if slot.get("storage") and slot["state"] != "freed":
                    out.setdefault(slot["storage"], []).append((node, slot["dtype"]))
        return out

    def counters(self) -> set[str]:
        """The counters that slots hold."""
        return {
            slot["counter"]
            for slots in self.slots.values()
            for slot in slots.values()
            if slot.get("counter") and slot["state"] != "freed"
        }


def freed(slot: dict[str, Any]) -> dict[str, Any]:
    """A slot after backward released it: what it was, and nothing that may be used again."""
    return {key: slot[key] for key in ("dtype", "shape", "expected") if key in slot} | {"state": "freed"}
