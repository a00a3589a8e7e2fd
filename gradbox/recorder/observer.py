"""One observation: runs the probes in order and derives events from what they found."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

from gradbox.recorder.code_places import code_place_record
from gradbox.recorder.devices.device import DeviceMemory
from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.arrays import NumpyArrays
from gradbox.recorder.probes.counters import VersionCounters
from gradbox.recorder.probes.graph import AutogradGraph
from gradbox.recorder.probes.index_writes import index_write_events
from gradbox.recorder.probes.modes import TorchModes
from gradbox.recorder.probes.path_cuts import path_cut_events
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.saved_tensors import SavedTensors, SlotTransition
from gradbox.recorder.probes.stale_views import StaleViews
from gradbox.recorder.probes.storage_holders import StorageHolders
from gradbox.recorder.probes.storages import Storages, StorageWindows
from gradbox.recorder.probes.tensors import Tensors
from gradbox.recorder.reachability import Reachability
from gradbox.recorder.uids import NodeUids, ObjectUids, WeakUids
from gradbox.recorder.value_encoder import ValueEncoder
from gradbox.wire import events
from gradbox.wire.job_records import FocusRecord

_TRANSITION_EVENTS = {row.state: name for name, row in events.EVENTS.items() if row.state is not None}

MAX_RELATED_ROUNDS = 8
"""How often an observation proceeds from what it found to related tensors."""


class Observer:
    """The probes of a run. `observe` updates the trace's state.

    focus: see `StorageWindows`
    """

    def __init__(self, context: ProbeContext, focus: FocusRecord, statements: ProgramStatements) -> None:
        self._context, self._delta = context, context.delta
        tensor_uids = WeakUids(context.uids, "t")
        self.node_uids = node_uids = NodeUids(context.uids)
        objects = ObjectUids(context.uids)
        self.holders = StorageHolders()
        self.storages = Storages(context, self.holders, statements)
        self.counters = VersionCounters(context, tensor_uids)
        self.stale_views = StaleViews()
        self.saved_tensors = SavedTensors(
            context, self.storages, self.counters, tensor_uids, self.holders, self.stale_views
        )
        self.arrays = NumpyArrays(context, self.storages, tensor_uids, self.holders)
        self.tensors = Tensors(
            context, tensor_uids, node_uids, objects, self.storages, self.counters, self.holders, self.stale_views
        )
        self.values = ValueEncoder(context, objects, self.tensors, self.arrays, node_uids)
        self.graph = AutogradGraph(context, node_uids, self.saved_tensors, self.tensors, self.values)
        self.reachability = Reachability(self.values, self.tensors)
        self.modes = TorchModes(context)
        self.devices = DeviceMemory(context, self.storages)
        self.windows = StorageWindows(context, focus, self.storages, self.holders)
        probes: tuple[Probe, ...] = (
            self.tensors, self.arrays, self.graph, self.counters, self.windows, self.storages, self.modes,
            self.devices,
        )  # fmt: skip
        # only the probes that override a phase are called in it: each observation has some thirty empty calls less
        self._collect_phase = [
            probe.collect_dead_entities for probe in probes if overrides_phase(probe, "collect_dead_entities")
        ]
        self._begin_phase = [probe.begin_observation for probe in probes if overrides_phase(probe, "begin_observation")]
        self._update_phase = [probe.update_delta for probe in probes if overrides_phase(probe, "update_delta")]
        self._end_phase = [probe.end_observation for probe in probes if overrides_phase(probe, "end_observation")]

    def observe(self, observation: Observation, observe_frames: Callable[[bool], bool]) -> None:
        """Find what has changed since the last observation: facts go to the delta, events to the log.

        observe_frames: observes the frames, all of them or those of the step, and returns whether that is enough
        """
        observation.observe_all = observation.observe_all or observation.ops_unobserved
        try:
            self._collect_dead_entities(observation)
            self._observe_reachable_values(observation, observe_frames)
            if not observation.observe_all:
                self._observe_related_tensors(observation)
            if observation.exposes_memory:
                self._mark_observed_storages_exposed(observation)
            self._collect_dead_entities(observation)
            self._update_delta(observation)
            self._remove_dead_entities(observation)
        finally:
            for end in self._end_phase:
                end(observation)

    def has_modified_saved_tensors(self) -> bool:
        """Whether saved tensors were written since the last observation. Checks a few small ones, between two
        observations."""
        for counter in self.saved_tensors.sample_unmodified_uids("c"):
            tensor = self.counters.find_living_tensor(counter)
            if tensor is not None and tensor._version != self.counters.known_version(counter):
                return True
        return any(
            self.storages.is_storage_modified(storage) for storage in self.saved_tensors.sample_unmodified_uids("s")
        )

    def _collect_dead_entities(self, observation: Observation) -> None:
        for collect_dead in self._collect_phase:
            collect_dead(observation)

    def _observe_reachable_values(self, observation: Observation, observe_frames: Callable[[bool], bool]) -> None:
        """Observe the frames and what they lead to, or everything if the frames turn out not to be enough."""
        self.values.begin_observation()
        for begin in self._begin_phase:
            begin(observation)
        self.tensors.enqueue_tensors(
            [*observation.reached_tensors, *self.stale_views.take_views_of_dead_nodes(observation.dead_uids)]
        )
        self.reachability.begin_observation(not observation.observe_all)
        if observation.skipped_steps:  # known tensors first: one that reads another storage now matters for new ones
            self.tensors.observe_pending_tensors(self.values.encode)
        if not observe_frames(observation.observe_all):
            observation.observe_all = True
            self.reachability.begin_observation(False)
            self.tensors.enqueue_all_living()
            observe_frames(True)
        for stepped in (
            self.values.objects.tracked_objects() if observation.observe_all or observation.has_stepped else ()
        ):
            self.values.encode(stepped)
        self.tensors.observe_pending_tensors(self.values.encode)
        for node, uid in observation.visited_nodes:
            self.graph.observe_visited_node(node, uid)

    def _observe_related_tensors(self, observation: Observation) -> None:
        """Observe what is related to what has changed, until nothing new is found."""
        if not (observation.op_calls or self.tensors.changed_handles or self.counters.has_observed_versions()):
            return
        written = set(observation.last_writes_by_storage())
        for _ in range(MAX_RELATED_ROUNDS):
            moved = [counter for counter, _, _ in self.counters.version_changes()]
            storages = {str(self._delta.tensor_state(uid).get("storage")) for uid in self.tensors.changed_handles}
            self.tensors.enqueue_related_tensors(written | storages, moved)
            if not self.tensors.has_pending_tensors():
                return
            self.tensors.observe_pending_tensors(self.values.encode)

    def _mark_observed_storages_exposed(self, observation: Observation) -> None:
        """Mark the memory of everything that the statement led to as possibly handed out."""
        for uid in self.tensors.observed_uids():
            storage = self._delta.tensor_state(uid).get("storage")
            if storage is not None:
                self.storages.mark_exposed(storage)
        for storage in observation.touched_storages:
            self.storages.mark_exposed(storage)

    def _update_delta(self, observation: Observation) -> None:
        """Compare the bytes, walk the graph, and report the changes."""
        dead_storages = self.storages.compare_storages(observation)
        self.tensors.detached_copies.forget_storages(dead_storages)
        moved = self.counters.version_changes()
        self._walk_graph(observation)
        if moved or self.storages.changed:
            changed = [*(counter for counter, _, _ in moved), *self.storages.changed]
            for uid, slots in self.saved_tensors.recheck_slots(changed).items():
                self.graph.update_node_slots(uid, slots)
        self.arrays.observe_living_arrays()
        self._append_events(observation, dead_storages, moved)
        observation.dead_uids += dead_storages
        for update in self._update_phase:
            update(observation)

    def _walk_graph(self, observation: Observation) -> None:
        """Walk the graph from the roots that were met; from all roots, including known nodes, if slots may have changed
        unobserved."""
        all_nodes = (
            observation.slots_unobserved
            or observation.counters_ambiguous
            or self._has_changed_saved_handle()
            or self.saved_tensors.has_number_in(self.storages.allocated)
        )
        if all_nodes:
            self.tensors.collect_graph_roots()
        done = 0
        while done < len(observation.graph_roots):
            self.graph.report_reachable_nodes(observation.graph_roots[done], all_nodes, observation.step)
            self.tensors.observe_pending_tensors(self.values.encode)
            done += 1

    def _has_changed_saved_handle(self) -> bool:
        """Whether a handle that a node saved now reads its storage differently."""
        for uid in self.tensors.changed_handles:
            facts = self._delta.tensor_state(uid)
            if any(
                self.saved_tensors.is_held_by_slot(str(held))
                for held in (uid, facts.get("counter"), facts.get("storage"))
            ):
                return True
        return False

    def _append_events(
        self, observation: Observation, dead_storages: list[str], moved: list[tuple[str, int, int]]
    ) -> None:
        log = observation.log
        for storage in self.storages.allocated:
            log.append({"kind": "event", "event": "storage_allocated", "storage": storage})
        writers = observation.last_writes_by_storage()
        for storage, (dtype, count, elements) in self.storages.changed.items():
            log.append(storage_written_event(storage, dtype, count, elements, writers.get(storage)))
        for counter, before, now in moved:
            log.append({"kind": "event", "event": "version_bumped", "counter": counter, "from": before, "to": now})
        for transition in self.saved_tensors.transitions:
            log += self._slot_transition_events(transition, observation)
        self.saved_tensors.clear_transitions()
        try:
            log += path_cut_events(observation, self.tensors)
            log += index_write_events(observation, dead_storages)
        except Exception as error:
            self._context.report_recorder_fault(error)
        for storage in dead_storages:
            log.append({"kind": "event", "event": "storage_freed", "storage": storage})

    def _slot_transition_events(self, transition: SlotTransition, observation: Observation) -> list[events.Event]:
        node, slot, state, before = transition
        slot_events: list[events.Event] = []
        if before is None and state not in ("freed", "unknown") and not self.saved_tensors.is_number(node, slot):
            slot_events.append({"kind": "event", "event": "saved", "node": node, "slot": slot})
        name = _TRANSITION_EVENTS.get(state)
        if name is not None:
            broken = {"kind": "event", "event": name, "node": node, "slot": slot}
            write = self._write_that_broke_slot(transition, observation)
            slot_events.append(cast(events.Event, {**broken, **write}))
        elif state == "freed" and before is not None and self.graph.mark_node_released(node):
            slot_events.append({"kind": "event", "event": "graph_released", "node": node})
        return slot_events

    def _write_that_broke_slot(self, transition: SlotTransition, observation: Observation) -> dict[str, Any]:
        """The handle and the line without steps through which the operations broke a slot; see
        `events.BrokenSlotEvent`."""
        slot = self.saved_tensors.slots[transition.node][transition.slot]
        if observation.skipped_steps:
            return {}
        if transition.state == "detached":
            tensor = slot.get("tensor")
            return {} if tensor is None else {"by": tensor}
        storage, counter = slot.get("storage"), slot.get("counter")
        writes = [(by, call) for call in observation.op_calls for written, by in call.writes if written == storage]
        if transition.state == "stale":
            counters = [self._counter_of_handle(by, observation) for by, _ in writes]
            if counters != [None]:  # a single write of a handle that is gone can only have been this one
                writes = [write for write, of in zip(writes, counters, strict=True) if of == counter]
        if not writes:
            return {}
        by, call = writes[-1]
        return {"by": by} if call.place is None else {"by": by, "place": code_place_record(call.place)}

    def _counter_of_handle(self, uid: str, observation: Observation) -> str | None:
        """The handle's version counter; None if the handle died in the statement and its counter is not known."""
        state = self._delta.state.get(uid) or observation.provisional_facts.get(uid) or {}
        counter: str | None = state.get("counter")
        return counter

    def _remove_dead_entities(self, observation: Observation) -> None:
        """Retire what has died. What appeared and died within the statement is reported with its provisional facts."""
        gone = [*observation.dead_uids, *observation.retired_frames, *observation.ended_backwards]
        if observation.provisional_facts:
            for uid in gone:
                if uid not in self._delta.state and uid in observation.provisional_facts:
                    self._delta.update_entity(uid, observation.provisional_facts[uid])
        for uid in gone + self.values.objects.collect_dead_uids():
            self._delta.remove_entity(uid)
            self.windows.forget_storage(uid)


def overrides_phase(probe: Probe, phase: str) -> bool:
    """Whether a probe overrides the method of a phase."""
    return getattr(type(probe), phase) is not getattr(Probe, phase)


def storage_written_event(
    storage: str, dtype: str, count: int | None, elements: list[int], writer: tuple[int, str] | None
) -> events.Written:
    """The event for a storage whose bytes changed.

    count: the number of changed elements
    elements: as many of them as are known
    writer: (op, tensor), if known
    """
    event: events.Written = {"kind": "event", "event": "written", "storage": storage, "changed": count}
    if writer is not None:
        event["op"], event["by"] = writer
    region = evenly_spaced_region(elements, dtype) if count == len(elements) else None
    if region is not None:
        event["region"] = region
    return event


def evenly_spaced_region(elements: list[int], dtype: str) -> events.Region | None:
    """Evenly spaced element numbers as a one-dimensional region; None if they are not evenly spaced."""
    if not elements:
        return None
    step = elements[1] - elements[0] if len(elements) > 1 else 1
    if any(b - a != step for a, b in pairwise(elements)):
        return None
    return {"offset": elements[0], "shape": [len(elements)], "stride": [step], "dtype": dtype}
