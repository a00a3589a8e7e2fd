"""One look at everything that lives: the probes in their order, and the events that follow from what they found."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from server.worker.names import Picture, Uids, WeakNames
from server.worker.probes import cells, modes
from server.worker.probes.arrays import Arrays
from server.worker.probes.counters import Counters
from server.worker.probes.graph import Graph
from server.worker.probes.ops import Ops
from server.worker.probes.saved import Saved
from server.worker.probes.storages import Storages
from server.worker.probes.tensors import Tensors
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
        self.storages = Storages(self.uids, self.picture)
        self.counters = Counters(self.uids, self.picture, names)
        self.saved = Saved(self.storages, self.counters, names)
        self.graph = Graph(self.uids, self.picture, self.saved, lambda value: self.values.scalar(value))
        self.tensors = Tensors(names, self.picture, self.storages, self.counters, self.graph.name, fault)
        self.arrays = Arrays(self.uids, self.picture, self.storages)
        self.values = Values(self.uids, self.picture, self.tensors.see, self.arrays.see, self._node)
        self._mode = self.uids.fresh("m")
        self._wrote: dict[str, dict[str, set[int]]] = {}
        self._released: set[str] = set()
        self._held: dict[str, set[str]] = {}
        self.again = False  # saved slots may have changed without a trace in any handle
        self.ended: list[str] = []  # backward passes that are over

    def _node(self, node: Any) -> str:
        self.tensors.roots.append(node)
        return self.graph.name(node)

    def take(
        self, step: int, frames: Callable[[], None], ops: Ops, log: list[dict[str, Any]], over: list[str]
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """What changed since the look before, as a step's `set` and `gone`; events are added to `log`."""
        try:
            return self._take(step, frames, ops, log, over)
        finally:
            self.tensors.finish()

    def _take(
        self, step: int, frames: Callable[[], None], ops: Ops, log: list[dict[str, Any]], over: list[str]
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        self.values.begin()
        self.counters.begin()
        self.graph.begin()
        self.tensors.begin()
        frames()
        self.tensors.drain(self.values.encode)
        dead = self.storages.compare(self._dtypes(self._readers()))
        moved = self.counters.moved()
        again = bool(self.again or self.storages.changed or moved or self.tensors.standing)
        self.again = False
        self._walk(again, step)
        self.arrays.look()
        readers = self._readers()
        self._events(ops, log, dead, moved)
        counters = self.counters.look(self.saved.counters())
        self.storages.tell(self._dtypes(readers), self._wanted(readers))
        self.storages.within()
        for storage in self.storages.records:
            holders = {uid for uid, _ in readers.get(storage, ())}
            if self._held.get(storage) != holders:
                self._held[storage] = holders
                self.picture.put(storage, {"held_by": sorted(holders, key=order) or None})
        self.picture.put(self._mode, modes.facts())
        self._bury([*dead, *counters, *over, *self.ended])
        over.clear()
        self.ended.clear()
        return self.picture.take()

    def _walk(self, again: bool, step: int) -> None:
        done = 0
        if again:
            self.tensors.revisit()
        while done < len(self.tensors.roots):
            self.graph.walk(self.tensors.roots[done], again, step, self.tensors.see)
            self.tensors.drain(self.values.encode)
            done += 1

    def _readers(self) -> dict[str, list[tuple[str, str]]]:
        """storage -> (who reads it, under which dtype): handles, arrays, saved slots."""
        out = {storage: list(found) for storage, found in self.tensors.readers.items()}
        for more in (self.arrays.readers(), self.saved.readers()):
            for storage, found in more.items():
                out.setdefault(storage, []).extend(found)
        return out

    def _dtypes(self, readers: dict[str, list[tuple[str, str]]]) -> dict[str, list[str]]:
        return {storage: sorted({dtype for _, dtype in found}) for storage, found in readers.items()}

    def _wanted(self, readers: dict[str, list[tuple[str, str]]]) -> dict[str, dict[str, set[int]]]:
        """The elements of big storages that small handles read, and those that were written."""
        out: dict[str, dict[str, set[int]]] = {}
        for storage, record in self.storages.records.items():
            if record.nbytes <= cells.LIMIT:
                continue
            wanted = out[storage] = {}
            for uid, dtype in readers.get(storage, ()):
                facts = self.picture.state.get(uid, {})
                if (
                    facts.get("kind") == "tensor"
                    and math.prod(facts.get("shape") or [0]) <= cells.LIMIT
                    and "stride" in facts
                ):
                    wanted.setdefault(dtype, set()).update(
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
        self.storages.born.clear()
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

    def _bury(self, gone: list[str]) -> None:
        """Retire what died; what came and went inside the statement is told with what was noted of it."""
        for uid in self.tensors.names.bury():
            if uid not in self.picture.state:
                facts = self.tensors.early.get(uid)
                if facts is not None:
                    self.picture.put(uid, facts)
            gone.append(uid)
        self.tensors.forget(gone)
        gone += self.tensors.parted(gone)
        nodes = self.graph.bury()
        self._released.difference_update(nodes)
        for uid in [*gone, *self.arrays.bury(), *nodes, *self.values.objects.unreached()]:
            self.picture.drop(uid)
            self._wrote.pop(uid, None)
            self._held.pop(uid, None)


def order(uid: str) -> tuple[str, int]:
    return uid[0], int(uid[1:])


def arithmetic(places: list[int]) -> dict[str, Any] | None:
    """Evenly spaced element numbers as a region of one dimension."""
    if not places:
        return None
    step = places[1] - places[0] if len(places) > 1 else 1
    if any(b - a != step for a, b in pairwise(places)):
        return None
    return {"offset": places[0], "shape": [len(places)], "stride": [step]}
