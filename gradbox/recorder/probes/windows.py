"""Windows: which elements are listed of storages too big to be listed whole."""

import math
from typing import Any

from gradbox.recorder.observation import Observation
from gradbox.recorder.probes import cells
from gradbox.recorder.probes.holders import Holders
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.storages import Storages
from gradbox.wire.entities import MAX_CELLS
from gradbox.wire.job_records import FocusRecord

MAX_WRITTEN_ELEMENTS = 256
"""Written elements of a big storage that stay in its windows."""


class Windows(Probe):
    """Reports the storages' contents: of big ones the elements that small handles read and those that were written.

    focus: `{"storage", "step", "from", "to"}`, elements of one big storage that are listed too, from that step on.
    """

    def __init__(self, context: ProbeContext, focus: FocusRecord, storages: Storages, holders: Holders) -> None:
        super().__init__(context)
        self._storages, self._holders = storages, holders
        self._written: dict[str, dict[str, set[int]]] = {}
        self._focus: tuple[str, int, range] | None = None  # storage, step, elements
        if focus.get("storage") is not None:
            last = min(int(focus["to"]), int(focus["from"]) + MAX_CELLS)
            self._focus = focus["storage"], int(focus.get("step") or 0), range(int(focus["from"]), last)

    def update(self, observation: Observation) -> None:
        focused = {self._focus[0]} if self._focus is not None and observation.step >= self._focus[1] else set()
        wanted: dict[str, dict[str, set[int]]] = {}
        for storage in self._storages.compared | self._holders.changed | focused:
            record = self._storages.records.get(storage)
            if record is not None and record.nbytes > MAX_CELLS:
                wanted[storage] = self._elements_to_list(storage, storage in focused)
        self._storages.update_contents(wanted)
        self._storages.update_overlaps()

    def _elements_to_list(self, storage: str, focused: bool) -> dict[str, set[int]]:
        """The elements to list, by the dtype under which they are read."""
        wanted: dict[str, set[int]] = {}
        if focused and self._focus is not None:
            for dtype in self._holders.dtypes(storage):
                wanted.setdefault(dtype, set()).update(self._focus[2])
        for uid in self._holders.holders_of(storage):
            if uid[0] == "t":
                facts: Any = self._delta.tensor(uid)
                if math.prod(facts.get("shape") or [0]) <= MAX_CELLS and "stride" in facts:
                    elements = cells.elements_of(facts["shape"], facts["stride"], facts["offset"])
                    wanted.setdefault(facts["dtype"], set()).update(elements)
        if storage in self._storages.changed:
            dtype, _, elements = self._storages.changed[storage]
            written = self._written.setdefault(storage, {}).setdefault(dtype, set())
            written.update(elements[: max(MAX_WRITTEN_ELEMENTS - len(written), 0)])
        for dtype, written in self._written.get(storage, {}).items():
            wanted.setdefault(dtype, set()).update(written)
        return wanted

    def forget(self, storage: str) -> None:
        """This storage died."""
        self._written.pop(storage, None)
