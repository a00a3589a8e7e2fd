"""One look at everything that lives: the probes in their order, and the events that follow from what they found."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from server.worker.names import Uids, WeakNames, order
from server.worker.picture import Picture
from server.worker.probes import cells, modes
from server.worker.probes.arrays import Arrays
from server.worker.probes.counters import Counters
from server.worker.probes.device import Devices
from server.worker.probes.graph import Graph
from server.worker.probes.holders import Holders
from server.worker.probes.ops import Ops
from server.worker.probes.saved import Saved
from server.worker.probes.storages import Storages
from server.worker.probes.tensors import Tensors
from server.worker.probes.views import Views
from server.worker.reach import Reach
from server.worker.values import Values

WROTE = 256
"""Written elements of a big storage that stay in its windows."""

_NEWS = {"stale": "saved_stale", "changed": "saved_changed_silently", "detached": "saved_detached"}


class Look:
    """The picture of a run, and the way to bring it up to date."""

    def __init__(self, fault: Callable[[BaseException], None]) -> None:
        self._fault = fault
        self.uids, self.picture = Uids(), Picture()
        names = WeakNames(self.uids, "t")
        self.holders = Holders()
        self.storages = Storages(self.uids, self.picture, self.holders)
        self.counters = Counters(self.uids, self.picture, names)
        views = Views()
        self.saved = Saved(self.storages, self.counters, names, self.holders, views)
        self.graph = Graph(self.uids, self.picture, self.saved, lambda value: self.values.scalar(value))
        self.arrays = Arrays(self.uids, self.picture, self.storages, self.holders)
        self.tensors = Tensors(
            names,
            self.picture,
            self.storages,
            self.counters,
            self.holders,
            views,
            self.graph.name,
            lambda uid, objects: self.values.objects.refer(uid, objects),
            fault,
        )
        self.values = Values(self.uids, self.picture, self.tensors.see, self.arrays.see, self._node)
        self.reach = Reach(self.values, names.known, self.tensors.see)
        self._mode = self.uids.fresh("m")
        self.devices = Devices(self.uids, self.picture, self.storages.on)
        self._window: tuple[str, int, range] | None = None  # storage, step from which on, elements
        self._wrote: dict[str, dict[str, set[int]]] = {}
        self._released: set[str] = set()
        self.visited: list[tuple[Any, str]] = []  # nodes that the engine ran since the look before, and their uids
        self.reached: list[str] = []  # tensors that something outside of the names was seen to hold
        self._gone: list[str] = []  # died, and not told yet
        self.ended: list[str] = []  # backward passes that are over

    def open_window(self, focus: dict[str, Any]) -> None:
        """Tell certain elements of a big storage too: `{"storage", "step", "from", "to"}`."""
        if focus.get("storage") is not None:
            last = min(int(focus["to"]), int(focus["from"]) + cells.LIMIT)
            self._window = focus["storage"], int(focus.get("step") or 0), range(int(focus["from"]), last)

    def _node(self, node: Any) -> str:
        self.tensors.roots.append(node)
        return self.graph.name(node)

    def take(
        self,
        step: int,
        frames: Callable[[bool], bool],
        ops: Ops,
        log: list[dict[str, Any]],
        over: list[str],
        everything: bool,
        opens: bool,
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """What changed since the look before, as a step's `set` and `gone`; events are added to `log`.

        frames: tells the frames, all or those of the step, and whether that is enough. everything: look at all that
        lives, not only at what may have changed. opens: the statement may have handed out memory.
        """
        try:
            self._mourn()
            everything = self._see(frames, everything or self.storages.unheard)
            if not everything:
                self._relatives(ops)
            if opens:
                self._expose()
            self._mourn()
            self._tell(step, everything, ops, log)
            self._bury([*self._gone, *over, *self.ended])
            for told in (self._gone, over, self.ended):
                told.clear()
            return self.picture.take()
        finally:
            self.tensors.finish()
            self.visited.clear()
            self.reached.clear()

    def _see(self, frames: Callable[[bool], bool], everything: bool) -> bool:
        """Look at the frames and at what they lead to; whether it was at everything after all."""
        for probe in (self.values, self.counters, self.graph):
            probe.begin()
        self.counters.moving = self.saved.late  # some may have gone to other storages unseen
        self.tensors.begin(everything)
        self.tensors.look_at([*self.reached, *self.tensors.views.asked(self._gone)])
        self.reach.begin(not everything)
        if not frames(everything):
            everything = True
            self.reach.begin(False)
            self.tensors.widen()
            frames(True)
        self.tensors.drain(self.values.encode)
        for node, uid in self.visited:
            self.graph.visited(node, uid)
        return everything

    def _tell(self, step: int, everything: bool, ops: Ops, log: list[dict[str, Any]]) -> None:
        """Compare the bytes, walk the graph, and tell what follows."""
        dead = self.storages.compare(everything)
        self.tensors.freed(dead)
        moved = self.counters.moved()
        self._walk(everything or self.counters.unsure or self._displaced(), step)
        for uid, slots in self.saved.recheck([*(c for c, _, _ in moved), *self.storages.changed]).items():
            self.picture.put(uid, {"saved": slots})
        self.arrays.look()
        self._events(ops, log, dead, moved)
        self._gone += [*dead, *self.counters.look()]
        self.storages.tell(self._wanted(step))
        self.storages.within()
        for storage in sorted(self.holders.changed, key=order):
            if storage in self.storages.records:
                self.picture.put(storage, {"held_by": sorted(self.holders.of(storage), key=order) or None})
        self.holders.changed.clear()
        self.picture.put(self._mode, modes.facts())
        self.devices.look()

    def _relatives(self, ops: Ops) -> None:
        """Look at what stands in relation to what changed, until nothing new comes of it."""
        written = set(ops.written())
        for _ in range(8):
            moved = [counter for counter, _, _ in self.counters.moved()]
            stood = {str(self.picture.state[uid].get("storage")) for uid in self.tensors.standing}
            self.tensors.relatives(written | stood, moved)
            if not self.tensors.waiting():
                return
            self.tensors.drain(self.values.encode)

    def spoils(self) -> bool:
        """Whether what nodes saved was written since the look before; asked between looks, of a few small ones."""
        for counter in self.saved.few("c"):
            tensor = self.counters.witness(counter)
            if tensor is not None and tensor._version != self.counters.version(counter):
                return True
        return any(self.storages.written(storage) for storage in self.saved.few("s"))

    def _displaced(self) -> bool:
        """Whether a handle stands differently that a node saved."""
        for uid in self.tensors.standing:
            told = self.picture.state[uid]
            if any(self.saved.holding(str(it)) for it in (uid, told.get("counter"), told.get("storage"))):
                return True
        return False

    def _expose(self) -> None:
        for uid in self.tensors.seen():
            storage = self.picture.state.get(uid, {}).get("storage")
            if storage is not None:
                self.storages.expose(storage)
        for storage in self.storages.touched:
            self.storages.expose(storage)

    def _walk(self, again: bool, step: int) -> None:
        done = 0
        if again:
            self.tensors.revisit()
        while done < len(self.tensors.roots):
            self.graph.walk(self.tensors.roots[done], again, step, self.tensors.see)
            self.tensors.drain(self.values.encode)
            done += 1

    def _wanted(self, step: int) -> dict[str, dict[str, set[int]]]:
        """The elements of big storages that small handles read, and those that were written."""
        out: dict[str, dict[str, set[int]]] = {}
        shown = {self._window[0]} if self._window is not None and step >= self._window[1] else set()
        for storage in self.storages.due | self.holders.changed | shown:
            record = self.storages.records.get(storage)
            if record is None or record.nbytes <= cells.LIMIT:
                continue
            wanted = out[storage] = {}
            if storage in shown and self._window is not None:
                for dtype in self.holders.dtypes(storage):
                    wanted.setdefault(dtype, set()).update(self._window[2])
            for uid in self.holders.of(storage):
                facts = self.picture.state.get(uid, {})
                if (
                    facts.get("kind") == "tensor"
                    and math.prod(facts.get("shape") or [0]) <= cells.LIMIT
                    and "stride" in facts
                ):
                    wanted.setdefault(facts["dtype"], set()).update(
                        cells.places(facts["shape"], facts["stride"], facts["offset"])
                    )
            if storage in self.storages.changed:
                dtype, _, places = self.storages.changed[storage]
                kept = self._wrote.setdefault(storage, {}).setdefault(dtype, set())
                kept.update(places[: max(WROTE - len(kept), 0)])
            for dtype, kept in self._wrote.get(storage, {}).items():
                wanted.setdefault(dtype, set()).update(kept)
        return out

    def _events(self, ops: Ops, log: list[dict[str, Any]], dead: list[str], moved: list[tuple[str, int, int]]) -> None:
        def event(name: str, **fields: Any) -> None:
            log.append({"kind": "event", "event": name, **fields})

        for storage in self.storages.born:
            event("storage_allocated", storage=storage)
        written = ops.written()
        for storage, (dtype, count, places) in self.storages.changed.items():
            fields: dict[str, Any] = {"storage": storage, "changed": count}
            if storage in written:
                fields["op"], fields["by"] = written[storage]
            region = arithmetic(places) if count == len(places) else None
            if region:
                fields["region"] = {**region, "dtype": dtype}
            event("written", **fields)
        for counter, before, now in moved:
            event("version_bumped", counter=counter, **{"from": before, "to": now})
        for node, slot, state, before_state in self.saved.news:
            if before_state is None and state not in ("freed", "unknown"):
                event("saved", node=node, slot=slot)
            if state in _NEWS:
                event(_NEWS[state], node=node, slot=slot)
            if state == "freed" and before_state is not None and node not in self._released:
                self._released.add(node)
                event("graph_released", node=node)
        self.saved.news.clear()
        try:
            log += ops.cuts()
        except Exception as error:
            self._fault(error)
        for storage in dead:
            event("storage_freed", storage=storage)

    def _mourn(self) -> None:
        """Let go of what died since the time before."""
        tensors = self.tensors.names.bury()
        self.counters.forget(tensors)
        tensors += self.tensors.parted(tensors)
        self.tensors.forget(tensors)
        nodes = self.graph.bury()
        self._released.difference_update(nodes)
        self._gone += [*tensors, *self.arrays.bury(), *nodes]

    def _bury(self, gone: list[str]) -> None:
        """Retire what died; what came and went inside the statement is told with what was noted of it."""
        for uid in gone:
            if uid not in self.picture.state and uid in self.tensors.early:
                self.picture.put(uid, self.tensors.early[uid])
        self.tensors.passed()
        for uid in [*gone, *self.values.objects.bury()]:
            self.picture.drop(uid)
            self._wrote.pop(uid, None)


def arithmetic(places: list[int]) -> dict[str, Any] | None:
    """Evenly spaced element numbers as a region of one dimension."""
    if not places:
        return None
    step = places[1] - places[0] if len(places) > 1 else 1
    if any(b - a != step for a, b in pairwise(places)):
        return None
    return {"offset": places[0], "shape": [len(places)], "stride": [step]}
