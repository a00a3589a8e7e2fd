"""One look at everything that lives: the probes in their order, and the events that follow from what they found."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from server.wire.events import EVENTS
from server.worker.probes import cells, modes
from server.worker.probes.arrays import Arrays
from server.worker.probes.counters import Counters
from server.worker.probes.device import Devices
from server.worker.probes.graph import Graph
from server.worker.probes.holders import Holders
from server.worker.probes.ops import Ops
from server.worker.probes.saved_tensors import SavedTensors
from server.worker.probes.stale_views import StaleViews
from server.worker.probes.storages import Storages
from server.worker.probes.tensors import Tensors
from server.worker.reachability import Reachability
from server.worker.trace_delta import TraceDelta
from server.worker.uids import UidAllocator, WeakUids, uid_order
from server.worker.values import ValueEncoder

MAX_WRITTEN_ELEMENTS = 256
"""Written elements of a big storage that stay in its windows."""

_TRANSITION_EVENTS = {row.state: name for name, row in EVENTS.items() if row.state is not None}


class Observer:
    """The picture of a run, and the way to bring it up to date."""

    def __init__(self, fault: Callable[[BaseException], None]) -> None:
        self._fault = fault
        self.uids, self.picture = UidAllocator(), TraceDelta()
        tensor_uids = WeakUids(self.uids, "t")
        self.holders = Holders()
        self.storages = Storages(self.uids, self.picture, self.holders)
        self.counters = Counters(self.uids, self.picture, tensor_uids)
        stale_views = StaleViews()
        self.saved_tensors = SavedTensors(self.storages, self.counters, tensor_uids, self.holders, stale_views)
        self.graph = Graph(self.uids, self.picture, self.saved_tensors, lambda value: self.values.scalar(value))
        self.arrays = Arrays(self.uids, self.picture, self.storages, self.holders)
        self.tensors = Tensors(
            tensor_uids,
            self.picture,
            self.storages,
            self.counters,
            self.holders,
            stale_views,
            self.graph.uid_of,
            lambda uid, objects: self.values.objects.set_references(uid, objects),
            fault,
        )
        self.values = ValueEncoder(self.uids, self.picture, self.tensors.register, self.arrays.register, self._node)
        self.reach = Reachability(self.values, tensor_uids.find, self.tensors.register)
        self._mode = self.uids.allocate("m")
        self.devices = Devices(self.uids, self.picture, self.storages.by_address)
        self._window: tuple[str, int, range] | None = None  # storage, step from which on, elements
        self._written_elements: dict[str, dict[str, set[int]]] = {}
        self._released: set[str] = set()
        self.visited_nodes: list[
            tuple[Any, str]
        ] = []  # nodes that the engine ran since the look before, and their uids
        self.reached_tensors: list[str] = []  # tensors that something outside of the names was seen to hold
        self._dead: list[str] = []  # died, and not told yet
        self.ended_backwards: list[str] = []  # backward passes that are over

    def open_window(self, focus: dict[str, Any]) -> None:
        """Tell certain elements of a big storage too: `{"storage", "step", "from", "to"}`."""
        if focus.get("storage") is not None:
            last = min(int(focus["to"]), int(focus["from"]) + cells.MAX_CELLS)
            self._window = focus["storage"], int(focus.get("step") or 0), range(int(focus["from"]), last)

    def _node(self, node: Any) -> str:
        self.tensors.graph_roots.append(node)
        return self.graph.uid_of(node)

    def observe(
        self,
        step: int,
        frames: Callable[[bool], bool],
        ops: Ops,
        log: list[dict[str, Any]],
        retired_frames: list[str],
        observe_all: bool,
        exposes_memory: bool,
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """What changed since the look before, as a step's `set` and `gone`; events are added to `log`.

        frames: tells the frames, all or those of the step, and whether that is enough. everything: look at all that
        lives, not only at what may have changed. opens: the statement may have handed out memory.
        """
        try:
            self._collect_dead()
            observe_all = self._observe_values(frames, observe_all or self.storages.ops_unobserved)
            if not observe_all:
                self._observe_related(ops)
            if exposes_memory:
                self._expose_observed()
            self._collect_dead()
            self._update(step, observe_all, ops, log)
            self._retire([*self._dead, *retired_frames, *self.ended_backwards])
            for reported in (self._dead, retired_frames, self.ended_backwards):
                reported.clear()
            return self.picture.flush()
        finally:
            self.tensors.end_observation()
            self.visited_nodes.clear()
            self.reached_tensors.clear()

    def _observe_values(self, frames: Callable[[bool], bool], observe_all: bool) -> bool:
        """Look at the frames and at what they lead to; whether it was at everything after all."""
        for probe in (self.values, self.counters, self.graph):
            probe.begin_observation()
        self.counters.storages_rebound = (
            self.saved_tensors.after_unobserved
        )  # some may have gone to other storages unseen
        self.tensors.begin_observation(observe_all)
        self.tensors.enqueue([*self.reached_tensors, *self.tensors.stale_views.take_asked(self._dead)])
        self.reach.begin_observation(not observe_all)
        if not frames(observe_all):
            observe_all = True
            self.reach.begin_observation(False)
            self.tensors.enqueue_all()
            frames(True)
        self.tensors.observe_pending(self.values.encode)
        for node, uid in self.visited_nodes:
            self.graph.observe_visited(node, uid)
        return observe_all

    def _update(self, step: int, observe_all: bool, ops: Ops, log: list[dict[str, Any]]) -> None:
        """Compare the bytes, walk the graph, and tell what follows."""
        dead = self.storages.compare(observe_all)
        self.tensors.forget_storages(dead)
        moved = self.counters.moved()
        self._walk_graph(observe_all or self.counters.ambiguous or self._saved_handle_displaced(), step)
        for uid, slots in self.saved_tensors.recheck([*(c for c, _, _ in moved), *self.storages.changed]).items():
            self.picture.update(uid, {"saved": slots})
        self.arrays.observe()
        self._events(ops, log, dead, moved)
        self._dead += [*dead, *self.counters.update_values()]
        self.storages.update_contents(self._windows_wanted(step))
        self.storages.update_overlaps()
        for storage in sorted(self.holders.changed, key=uid_order):
            if storage in self.storages.records:
                self.picture.update(
                    storage, {"held_by": sorted(self.holders.holders_of(storage), key=uid_order) or None}
                )
        self.holders.changed.clear()
        self.picture.update(self._mode, modes.facts())
        self.devices.observe()

    def _observe_related(self, ops: Ops) -> None:
        """Look at what stands in relation to what changed, until nothing new comes of it."""
        written = set(ops.last_writers())
        for _ in range(8):
            moved = [counter for counter, _, _ in self.counters.moved()]
            stood = {str(self.picture.state[uid].get("storage")) for uid in self.tensors.displaced}
            self.tensors.enqueue_related(written | stood, moved)
            if not self.tensors.has_pending():
                return
            self.tensors.observe_pending(self.values.encode)

    def saved_tensors_modified(self) -> bool:
        """Whether what nodes saved was written since the look before; asked between looks, of a few small ones."""
        for counter in self.saved_tensors.sample_intact("c"):
            tensor = self.counters.living_handle(counter)
            if tensor is not None and tensor._version != self.counters.version(counter):
                return True
        return any(self.storages.is_modified(storage) for storage in self.saved_tensors.sample_intact("s"))

    def _saved_handle_displaced(self) -> bool:
        """Whether a handle stands differently that a node saved."""
        for uid in self.tensors.displaced:
            facts = self.picture.state[uid]
            if any(self.saved_tensors.is_held(str(held)) for held in (uid, facts.get("counter"), facts.get("storage"))):
                return True
        return False

    def _expose_observed(self) -> None:
        for uid in self.tensors.observed_uids():
            storage = self.picture.state.get(uid, {}).get("storage")
            if storage is not None:
                self.storages.expose(storage)
        for storage in self.storages.touched:
            self.storages.expose(storage)

    def _walk_graph(self, again: bool, step: int) -> None:
        done = 0
        if again:
            self.tensors.collect_graph_roots()
        while done < len(self.tensors.graph_roots):
            self.graph.walk(self.tensors.graph_roots[done], again, step, self.tensors.register)
            self.tensors.observe_pending(self.values.encode)
            done += 1

    def _windows_wanted(self, step: int) -> dict[str, dict[str, set[int]]]:
        """The elements of big storages that small handles read, and those that were written."""
        wanted_elements: dict[str, dict[str, set[int]]] = {}
        focused = {self._window[0]} if self._window is not None and step >= self._window[1] else set()
        for storage in self.storages.compared | self.holders.changed | focused:
            record = self.storages.records.get(storage)
            if record is None or record.nbytes <= cells.MAX_CELLS:
                continue
            wanted = wanted_elements[storage] = {}
            if storage in focused and self._window is not None:
                for dtype in self.holders.dtypes(storage):
                    wanted.setdefault(dtype, set()).update(self._window[2])
            for uid in self.holders.holders_of(storage):
                facts = self.picture.state.get(uid, {})
                if (
                    facts.get("kind") == "tensor"
                    and math.prod(facts.get("shape") or [0]) <= cells.MAX_CELLS
                    and "stride" in facts
                ):
                    wanted.setdefault(facts["dtype"], set()).update(
                        cells.elements_of(facts["shape"], facts["stride"], facts["offset"])
                    )
            if storage in self.storages.changed:
                dtype, _, elements = self.storages.changed[storage]
                written = self._written_elements.setdefault(storage, {}).setdefault(dtype, set())
                written.update(elements[: max(MAX_WRITTEN_ELEMENTS - len(written), 0)])
            for dtype, written in self._written_elements.get(storage, {}).items():
                wanted.setdefault(dtype, set()).update(written)
        return wanted_elements

    def _events(self, ops: Ops, log: list[dict[str, Any]], dead: list[str], moved: list[tuple[str, int, int]]) -> None:
        def event(name: str, **fields: Any) -> None:
            log.append({"kind": "event", "event": name, **fields})

        for storage in self.storages.allocated:
            event("storage_allocated", storage=storage)
        written = ops.last_writers()
        for storage, (dtype, count, elements) in self.storages.changed.items():
            fields: dict[str, Any] = {"storage": storage, "changed": count}
            if storage in written:
                fields["op"], fields["by"] = written[storage]
            region = evenly_spaced_region(elements) if count == len(elements) else None
            if region:
                fields["region"] = {**region, "dtype": dtype}
            event("written", **fields)
        for counter, before, now in moved:
            event("version_bumped", counter=counter, **{"from": before, "to": now})
        for node, slot, state, before_state in self.saved_tensors.transitions:
            if before_state is None and state not in ("freed", "unknown"):
                event("saved", node=node, slot=slot)
            if state in _TRANSITION_EVENTS:
                event(_TRANSITION_EVENTS[state], node=node, slot=slot)
            if state == "freed" and before_state is not None and node not in self._released:
                self._released.add(node)
                event("graph_released", node=node)
        self.saved_tensors.transitions.clear()
        try:
            log += ops.path_cuts()
        except Exception as error:
            self._fault(error)
        for storage in dead:
            event("storage_freed", storage=storage)

    def _collect_dead(self) -> None:
        """Let go of what died since the time before."""
        tensors = self.tensors.uids.collect_dead()
        self.counters.forget(tensors)
        tensors += self.tensors.take_parts(tensors)
        self.tensors.forget(tensors)
        nodes = self.graph.collect_dead()
        self._released.difference_update(nodes)
        self._dead += [*tensors, *self.arrays.collect_dead(), *nodes]

    def _retire(self, gone: list[str]) -> None:
        """Retire what died; what came and went inside the statement is told with what was noted of it."""
        for uid in gone:
            if uid not in self.picture.state and uid in self.tensors.provisional:
                self.picture.update(uid, self.tensors.provisional[uid])
        self.tensors.end_statement()
        for uid in [*gone, *self.values.objects.collect_dead()]:
            self.picture.remove(uid)
            self._written_elements.pop(uid, None)


def evenly_spaced_region(elements: list[int]) -> dict[str, Any] | None:
    """Evenly spaced element numbers as a region of one dimension."""
    if not elements:
        return None
    step = elements[1] - elements[0] if len(elements) > 1 else 1
    if any(b - a != step for a, b in pairwise(elements)):
        return None
    return {"offset": elements[0], "shape": [len(elements)], "stride": [step]}
