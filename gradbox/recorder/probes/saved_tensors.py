"""Saved tensors: what each slot of a node keeps alive, which version it expects, and whether torch will still accept
it.

`_raw_saved_*` is read without unpacking, which runs no hook and checks nothing. Whether a slot is stale is found out by
reading it as backward does, and only if that runs no hook.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple, cast

import torch

from gradbox.recorder.probes import cells, handles
from gradbox.recorder.probes.cells import encode_number
from gradbox.recorder.probes.counters import VersionCounters
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.stale_views import StaleViews
from gradbox.recorder.probes.storage_holders import StorageHolders
from gradbox.recorder.probes.storages import Storages, storage_address_of
from gradbox.recorder.uids import WeakUids
from gradbox.wire import entities

MAX_SAMPLED_SLOTS = 64
"""Slots that are checked while iterations pass unrecorded."""

_RUNNING_STATISTICS = ("running_mean", "running_var")
"""Slots of a batch norm that its backward reads only outside of training. Each forward in training writes them."""

_tensors_as_values: Any = torch._C.ScriptList([torch.zeros(())])
"""A list of C++ values. A tensor that torch made from a number comes out of it as the number, without a dispatcher
call."""
_tensors_as_values.pop()

_VERSIONS_IN_ERROR_PATTERN = re.compile(r"is at version (\d+); expected version (\d+)")


def slot_state_by_torch(node: Any, attribute: str) -> tuple[entities.SlotState, int | None]:
    """The state of a slot according to torch when it is read, and the version that torch expected if it names one."""
    try:
        getattr(node, attribute)
    except RuntimeError as error:
        text = str(error)
        versions = _VERSIONS_IN_ERROR_PATTERN.search(text)
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


SlotKey = tuple[str, str]
"""A slot: its node's uid and its name."""

NodeSlots = dict[str, entities.Slot]
"""The slots of one node by name."""


class SlotTransition(NamedTuple):
    """A change of a slot's state.

    before: None for a new slot
    """

    node: str
    slot: str
    state: entities.SlotState
    before: entities.SlotState | None


class SavedTensors:
    """The slots of all nodes: `slots[node][slot]` are the facts last reported.

    transitions: changes of state since `clear_transitions`
    """

    def __init__(
        self,
        context: ProbeContext,
        storages: Storages,
        counters: VersionCounters,
        tensors: WeakUids,
        holders: StorageHolders,
        stale_views: StaleViews,
    ) -> None:
        self._context = context
        self._storages, self._counters, self._tensors = storages, counters, tensors
        self._holders, self._stale_views = holders, stale_views
        self._attributes: dict[type, list[str]] = {}
        self.slots: dict[str, NodeSlots] = {}
        self._saved_bytes: dict[SlotKey, bytes] = {}
        self._non_leaf: dict[SlotKey, bool] = {}  # whether it was no leaf when it was saved
        self._unread: set[SlotKey] = set()  # saved, and not read by this backward
        self._unverified: set[SlotKey] = set()  # first seen after statements that were not
        self._address_by_number: dict[SlotKey, int] = {}  # of the slots that hold a number, where it lies
        self._numbers_by_address: dict[
            int, set[SlotKey]
        ] = {}  # a dead node's, until it is forgotten, and a new one's too
        self._slots_by_uid: dict[str, dict[SlotKey, None]] = {}  # counter, storage or tensor -> slots
        self.transitions: list[SlotTransition] = []

    def forget_node(self, node: str) -> None:
        self._reindex_node_slots(node, {})
        for slot in self.slots.pop(node, {}):
            self._saved_bytes.pop((node, slot), None)
            self._non_leaf.pop((node, slot), None)
            self._unread.discard((node, slot))
            self._unverified.discard((node, slot))
            self._forget_number((node, slot))

    def _reindex_node_slots(self, node: str, current: NodeSlots) -> None:
        """Update which entities the slots of a node hold."""
        for name, slot in self.slots.get(node, {}).items():
            for uid in uids_held_by_slot(slot):
                self._slots_by_uid[uid].pop((node, name), None)
                if not self._slots_by_uid[uid]:
                    del self._slots_by_uid[uid]
            counter = slot.get("counter")
            if counter is not None and uids_held_by_slot(slot):
                self._counters.add_to_slot_count(counter, -1)
        for name, slot in current.items():
            for uid in uids_held_by_slot(slot):
                self._slots_by_uid.setdefault(uid, {})[node, name] = None
            counter, storage = slot.get("counter"), slot.get("storage")
            if counter is not None and uids_held_by_slot(slot):
                self._counters.add_to_slot_count(counter, 1)
                if storage:
                    self._counters.link_counter_to_storage(counter, storage)
        self._holders.set_storages_of_holder(
            node, [read for slot in current.values() if (read := storage_and_dtype_of_slot(slot)) is not None]
        )

    def clear_transitions(self) -> None:
        """Forget the transitions after they were reported."""
        self.transitions.clear()

    def is_held_by_slot(self, uid: str) -> bool:
        """Whether a slot holds this counter, storage or tensor."""
        return uid in self._slots_by_uid

    def sample_unmodified_uids(self, kind_letter: str) -> list[str]:
        """Some of the counters or storages that slots hold and that have not changed since they were saved. One slot is
        checked for all that hold the same."""
        intact = (
            uid
            for uid, slots in self._slots_by_uid.items()
            if uid[0] == kind_letter and self._can_slot_still_change(next(iter(slots)))
        )
        return list(islice(intact, MAX_SAMPLED_SLOTS))

    def _can_slot_still_change(self, key: SlotKey) -> bool:
        return self.slots[key[0]][key[1]]["state"] in ("ok", "unknown")

    def recheck_slots(self, uids: Iterable[str]) -> dict[str, NodeSlots]:
        """The slots of nodes with a slot that changed, because these counters moved or these storages were written.

        What torch would say follows from the counter's value and the bytes; no node is asked.
        """
        changed: dict[str, NodeSlots] = {}
        for node, name in dict.fromkeys(slot_key for uid in uids for slot_key in self._slots_by_uid.get(uid, ())):
            slot = self.slots[node][name]
            if slot["state"] not in ("ok", "unknown", "changed", "stale"):
                continue
            state = self._recheck_slot_state(node, name, slot)
            if state != slot["state"]:
                self.transitions.append(SlotTransition(node, name, state, slot["state"]))
                slot["state"] = state
                changed[node] = self.slots[node]
        return {node: {name: slot.copy() for name, slot in slots.items()} for node, slots in changed.items()}

    def _recheck_slot_state(self, node: str, name: str, slot: entities.Slot) -> entities.SlotState:
        counter = slot.get("counter")
        if counter is not None and self._counters.known_version(counter) != slot["expected"]:
            return "stale"
        if self._has_changed_bytes(node, name, slot):
            return "changed"
        return "unknown" if (node, name) in self._unverified else "ok"

    def observe_node_slots(self, node: Any, uid: str) -> NodeSlots | None:
        """The slots of a node; None if they are as last reported or can't exist."""
        attributes = self._attributes.get(type(node))
        if attributes is None:
            attributes = self._attributes[type(node)] = [a for a in dir(type(node)) if a.startswith("_raw_saved_")]
        if not attributes:
            return None
        before = self.slots.get(uid, {})
        now: NodeSlots = {}
        for attribute in attributes:
            name = attribute[len("_raw_saved_") :]
            try:
                raw = getattr(node, attribute)
            except RuntimeError:  # a Python Function says so once all its saved tensors are freed
                now.update({k: freed_slot(s) for k, s in before.items() if k == name or k.startswith(f"{name}[")})
                continue
            if isinstance(raw, tuple | list):
                for k, element in enumerate(raw):
                    self._observe_slot(node, uid, f"{name}[{k}]", None, element, now, before)
            else:
                self._observe_slot(node, uid, name, f"_saved_{name}", raw, now, before)
        if now == before:
            return None
        for name, slot in now.items():
            old = before[name]["state"] if name in before else None
            if slot["state"] == "freed":
                self._forget_number((uid, name))  # a new storage may lie where it lay
            if old != slot["state"]:
                self.transitions.append(SlotTransition(uid, name, slot["state"], old))
        self._reindex_node_slots(uid, now)
        self.slots[uid] = now
        return {name: slot.copy() for name, slot in now.items()}

    def _observe_slot(
        self,
        node: Any,
        uid: str,
        name: str,
        attribute: str | None,
        raw: Any,
        current: NodeSlots,
        previous: NodeSlots,
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
            elif attribute is not None and slot_state_by_torch(node, attribute)[0] == "freed":
                current[name] = {"state": "freed"}
            return  # else an optional tensor that was not given
        number = self._saved_number((uid, name), data, known)
        if number is not None:
            current[name] = number
            return
        slot = current[name] = self._slot_facts(data)
        counter = None
        if not handles.as_plain_tensor(data).is_inference():
            counter = self._counters.observe_slot_counter(
                known.get("counter") if known else None, data, slot.get("storage")
            )
        slot["counter"] = counter
        version = None if handles.as_plain_tensor(data).is_inference() else handles.as_plain_tensor(data)._version
        # reading the slot of a stale view, torch would ask the view for its node
        is_stale_view = self._stale_views.is_stale(slot.get("tensor") or "")
        state, reported = slot_state_by_torch(node, attribute) if attribute and not is_stale_view else ("ok", None)
        if known is None:
            expected = reported if reported is not None else version
        else:
            expected = 0 if "value" in known else known.get("expected")
        slot["expected"] = expected
        if state == "ok" and (attribute is None or is_stale_view) and version != expected:
            state = "stale"
        leaf, key = handles.is_leaf(data, is_stale_view) is True, (uid, name)
        observation = self._context.observation
        if (observation.skipped_steps or observation.past_unknown) and known is None:
            self._unverified.add(key)
        if name in _RUNNING_STATISTICS and getattr(node, "_saved_training", False) is True:
            self._unread.add(key)
        if state == "ok" and self._has_changed_bytes(uid, name, slot):
            state = "changed"
        if state == "ok" and key in self._unverified:
            state = "unknown"
        slot["state"] = state
        if self._non_leaf.setdefault(key, not leaf) and leaf:
            slot["detached"] = True
            if known is not None and not known.get("detached"):
                self.transitions.append(SlotTransition(uid, name, "detached", state))

    def _saved_number(self, key: SlotKey, data: torch.Tensor, known: entities.Slot | None) -> entities.Slot | None:
        """The slot of a number that torch wrapped in a tensor to save it, like the 2 of `x * 2`. None for other
        tensors, and once the program has got hold of that tensor, for example through `node._saved_other`."""
        if known is not None:
            if "value" not in known:
                return None
            if data._version == 0 and self._storages.find_tensor_storage(data) is None:
                return known
            self._forget_number(key)
            return None
        if type(data) is not torch.Tensor or data.dim() or not handles.has_storage(data):
            return None
        _tensors_as_values.append(data)
        number = _tensors_as_values.pop()
        if isinstance(number, torch.Tensor) or self._storages.find_tensor_storage(data) is not None:
            return None
        self._address_by_number[key] = address = storage_address_of(data)
        self._numbers_by_address.setdefault(address, set()).add(key)
        return {"value": encode_number(number), "state": "ok"}

    def _forget_number(self, key: SlotKey) -> None:
        address = self._address_by_number.pop(key, None)
        if address is None:
            return
        self._numbers_by_address[address].discard(key)
        if not self._numbers_by_address[address]:
            del self._numbers_by_address[address]

    def is_number(self, node: str, name: str) -> bool:
        return "value" in self.slots[node][name]

    def has_number_in(self, storages: Iterable[str]) -> bool:
        """Whether the program has got hold of a saved number, that is, one of these storages holds it."""
        return bool(self._numbers_by_address) and any(
            self._storages.torch_storage_address(storage) in self._numbers_by_address for storage in storages
        )

    def _slot_facts(self, data: torch.Tensor) -> entities.Slot:
        """The facts of what is saved, without the slot's state."""
        own = handles.as_plain_tensor(data)
        slot = cast(entities.Slot, {"dtype": handles.dtype_name(data), "shape": handles.concrete_shape(own)})
        tensor = self._tensors.find_uid(data)
        if tensor is not None:
            slot["tensor"] = tensor
        if handles.has_storage(data):
            slot["storage"] = self._storages.register_tensor_storage(data)
            slot["offset"], slot["stride"] = own.storage_offset(), list(own.stride())
        return slot

    def _has_changed_bytes(self, uid: str, name: str, slot: entities.Slot) -> bool:
        """Whether the saved elements have other bytes than when they were saved. The first call notes the bytes."""
        facts: Any = slot
        if "storage" not in facts or (uid, name) in self._unread:
            return False
        size = cells.dtype_itemsize(facts["dtype"])
        region = size, tuple(facts["shape"]), tuple(facts["stride"]), facts["offset"]
        current = self._storages.region_digest(facts["storage"], region)
        if current is None:
            return False
        saved = self._saved_bytes.setdefault((uid, name), current)
        return saved != current


def uids_held_by_slot(slot: entities.Slot) -> list[str]:
    """The counter, storage and tensor that a slot still holds."""
    if slot["state"] == "freed":
        return []
    uids = (slot.get("counter"), slot.get("storage"), slot.get("tensor"))
    return [uid for uid in uids if uid is not None]


def storage_and_dtype_of_slot(slot: entities.Slot) -> tuple[str, str] | None:
    """The (storage, dtype) that a slot reads; None for one that is freed or has no storage."""
    storage, dtype = slot.get("storage"), slot.get("dtype")
    return (storage, dtype) if storage and dtype and slot["state"] != "freed" else None


def freed_slot(slot: entities.Slot) -> entities.Slot:
    """A slot after backward released it: its description, without anything that may be reused."""
    facts = {key: value for key, value in slot.items() if key in ("dtype", "shape", "expected")}
    return cast(entities.Slot, {**facts, "state": "freed"})
