"""Version counters. Which tensors share one is found out by moving it and checking which versions follow."""

from collections.abc import Iterable
from typing import Any

import torch

from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.handles import (
    as_plain_tensor,
    empty_tensor_with_counter_of,
    is_plain_tensor,
    temporarily_at_version,
)
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.uids import WeakUids
from gradbox.wire import entities

TRIAL_VERSION_OFFSET = 1 << 20
"""By how much a counter is moved to find out who shares it."""


class VersionCounters(Probe):
    """The counters of a run, and the handles that have them."""

    def __init__(self, context: ProbeContext, tensors: WeakUids) -> None:
        super().__init__(context)
        self._uids, self._tensors = context.uids, tensors
        self._counter_of: dict[str, tuple[str, int]] = {}  # tensor uid -> (counter, address of its implementation)
        self._met_within_operation: set[str] = set()  # tensors that the operation may yet give another counter
        self._handles_by_counter: dict[str, dict[str, None]] = {}
        self._counters_by_storage: dict[str, dict[str, None]] = {}  # of tensors that ever read it
        self._without_storage: dict[str, None] = {}  # counters of sparse tensors, whose views may be dense
        self._storages_by_counter: dict[str, set[str]] = {}
        self._reported_versions: dict[str, int] = {}
        self._observed_versions: dict[str, int] = {}
        self._slot_counts: dict[str, int] = {}  # counter -> how many slots hold it
        self._maybe_dead: dict[str, None] = {}
        self._written_versions: dict[str, int] = {}  # since the last observation, of counters that slots hold
        self._readable: dict[str, Any] = {}  # counter -> an empty tensor that has it, while nothing is observed

    def keep_saved_counters_readable(self) -> None:
        """Make sure that the counters of saved tensors can be read after a stretch without observation, in which
        handles may die. Each gets one more tensor that shares it and has no memory."""
        for uid, (counter, _) in self._counter_of.items():
            if counter in self._slot_counts and counter not in self._readable:
                tensor = self._tensors.get_object(uid)
                if tensor is not None and is_plain_tensor(tensor):
                    self._readable[counter] = empty_tensor_with_counter_of(tensor)

    def begin_observation(self, observation: Observation) -> None:  # noqa: ARG002
        self._observed_versions = {}
        if self._readable:
            self._written_versions |= {counter: tensor._version for counter, tensor in self._readable.items()}
            self._readable.clear()
        for counter, version in self._written_versions.items():
            if self._reported_versions.get(counter, version) != version:
                self._observed_versions[counter] = version
        self._written_versions.clear()

    def record_version_after_write(self, uid: str, tensor: torch.Tensor) -> None:
        """Note the version of a tensor after an operation wrote to it. The tensor may be gone at the observation while
        a saved tensor still has its counter."""
        known = self._counter_of.get(uid)
        if known is not None and known[0] in self._slot_counts:
            self._written_versions[known[0]] = as_plain_tensor(tensor)._version

    def observe_tensor_counter(self, uid: str, tensor: torch.Tensor, storage: str | None) -> str:
        """The counter of this tensor. Its value is noted for this observation."""
        own = as_plain_tensor(tensor)
        version, impl = own._version, own._cdata
        known = self._counter_of.get(uid)
        inside = self._context.is_within_operation()
        settles = uid in self._met_within_operation and not inside
        if settles or known is None or known[1] != impl or self._observed_versions.get(known[0], version) != version:
            if known is not None:
                self._handles_by_counter[known[0]].pop(uid, None)
                self._maybe_dead[known[0]] = None
            candidates = self._candidate_counters(storage) if known is None else None
            shared = self.find_shared_counter(tensor, excluded=uid, candidates=candidates)
            counter = shared or (known[0] if settles and known is not None else self._uids.allocate_uid("c"))
            if inside:
                self._met_within_operation.add(uid)
            elif settles:
                self._met_within_operation.discard(uid)
            self._counter_of[uid] = (counter, impl)
            self._handles_by_counter.setdefault(counter, {})[uid] = None
        else:
            counter = known[0]
        if storage is not None:
            self.link_counter_to_storage(counter, storage)
        else:
            self._without_storage[counter] = None
        self._observed_versions[counter] = version
        return counter

    def _candidate_counters(self, storage: str | None) -> Iterable[str] | None:
        """The known counters that a new tensor may share: it was made from one that read the same storage."""
        observation = self._context.observation
        if storage is None or observation.storages_rebound:
            return None
        candidates = {**self._counters_by_storage.get(storage, {}), **self._without_storage}
        if any(counter in self._slot_counts and self.find_living_tensor(counter) is None for counter in candidates):
            observation.counters_ambiguous = True
        return candidates

    def find_living_tensor(self, counter: str, excluded: str | None = None) -> Any:
        """A living tensor that has this counter."""
        for handle in self._handles_by_counter.get(counter, ()):
            if handle != excluded:
                tensor = self._tensors.get_object(handle)
                if tensor is not None:
                    return tensor
        return None

    def find_shared_counter(
        self, tensor: torch.Tensor, excluded: str | None = None, candidates: Iterable[str] | None = None
    ) -> str | None:
        """The known counter that moves together with this tensor's, or None. Leaves every counter as it was.

        excluded: a handle that is not asked
        candidates: the counters to try; None for all
        """
        handles: list[tuple[str, Any, int]] = []
        for counter in self._handles_by_counter if candidates is None else candidates:
            other = self.find_living_tensor(counter, excluded)
            if other is not None:
                handles.append((counter, as_plain_tensor(other), as_plain_tensor(other)._version))
        if not handles:
            return None
        with temporarily_at_version(tensor, as_plain_tensor(tensor)._version + TRIAL_VERSION_OFFSET):
            return next((counter for counter, other, before in handles if other._version != before), None)

    def is_counter_shared(self, tensor: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether moving the counter of one moves the other's. Leaves both as they were."""
        before = as_plain_tensor(other)._version
        with temporarily_at_version(tensor, as_plain_tensor(tensor)._version + TRIAL_VERSION_OFFSET):
            return bool(as_plain_tensor(other)._version != before)

    def observe_slot_counter(self, recorded: str | None, tensor: torch.Tensor, storage: str | None) -> str:
        """The counter of a saved tensor. If no living tensor has it, its slot alone keeps it."""
        has_handle = recorded is not None and self.find_living_tensor(recorded) is not None
        rebound = self._context.observation.storages_rebound
        candidates = self._counters_by_storage.get(storage, {}) if storage is not None and not rebound else None
        counter = (
            recorded
            if has_handle
            else (self.find_shared_counter(tensor, candidates=candidates) or recorded or self._uids.allocate_uid("c"))
        )
        assert counter is not None
        self._observed_versions[counter] = as_plain_tensor(tensor)._version
        return counter

    def add_to_slot_count(self, counter: str, change: int) -> None:
        """Change the number of slots that hold a counter."""
        count = self._slot_counts.get(counter, 0) + change
        if count:
            self._slot_counts[counter] = count
        else:
            self._slot_counts.pop(counter, None)
            self._maybe_dead[counter] = None

    def link_counter_to_storage(self, counter: str, storage: str) -> None:
        """Note that a tensor with this counter reads that storage."""
        if counter not in self._counters_by_storage.get(storage, ()):
            self._counters_by_storage.setdefault(storage, {})[counter] = None
            self._storages_by_counter.setdefault(counter, set()).add(storage)

    def handles_with_counter(self, counter: str) -> Iterable[str]:
        return self._handles_by_counter.get(counter, ())

    def known_version(self, counter: str) -> int | None:
        """The counter's version, as this observation found it or as it was last reported."""
        return self._observed_versions.get(counter, self._reported_versions.get(counter))

    def has_observed_versions(self) -> bool:
        """Whether this observation has met any counter."""
        return bool(self._observed_versions)

    def version_changes(self) -> list[tuple[str, int, int]]:
        """(counter, from, to) for the counters that have moved since the last observation."""
        return [
            (c, self._reported_versions[c], v)
            for c, v in self._observed_versions.items()
            if c in self._reported_versions and self._reported_versions[c] != v
        ]

    def forget_tensors(self, tensors: Iterable[str]) -> None:
        """Forget tensors that have died."""
        for uid in tensors:
            self._met_within_operation.discard(uid)
            known = self._counter_of.pop(uid, None)
            if known is not None:
                self._handles_by_counter[known[0]].pop(uid, None)
                self._maybe_dead[known[0]] = None

    def update_delta(self, observation: Observation) -> None:
        """Report the versions. Counters that no handle and no slot has any more are dead."""
        for counter, value in self._observed_versions.items():
            self._reported_versions[counter] = value
            facts: entities.Counter = {"kind": "counter", "value": value}
            self._delta.update_entity(counter, facts)
        for counter in self._maybe_dead:
            if not self._handles_by_counter.get(counter) and counter not in self._slot_counts:
                self._handles_by_counter.pop(counter, None)
                self._without_storage.pop(counter, None)
                for storage in self._storages_by_counter.pop(counter, ()):
                    self._counters_by_storage[storage].pop(counter, None)
                    if not self._counters_by_storage[storage]:
                        del self._counters_by_storage[storage]
                if self._reported_versions.pop(counter, None) is not None:
                    observation.dead_uids.append(counter)
        self._maybe_dead.clear()
