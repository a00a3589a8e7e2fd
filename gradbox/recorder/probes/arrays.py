"""numpy arrays: handles in bytes on memory that torch or numpy owns."""

from typing import Any

import numpy as np
import torch

from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.handles import has_storage
from gradbox.recorder.probes.holders import Holders
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.storage_records import byte_extent
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.uids import WeakUids
from gradbox.wire import entities


class Arrays(Probe):
    """The numpy arrays that the program's names lead to."""

    def __init__(self, context: ProbeContext, storages: Storages, tensors: WeakUids, holders: Holders) -> None:
        super().__init__(context)
        self._storages, self._tensors, self._holders = storages, tensors, holders
        self.uids = WeakUids(context.uids, "a")

    def register(self, array: np.ndarray[Any, Any]) -> str | None:
        """The array's uid; None for what holds Python objects or has code of its own."""
        if type(array) is not np.ndarray or array.dtype.hasobject:
            return None
        return self.uids.uid_of(array)

    def observe(self) -> None:
        """Report where each array lies; one that lies in unknown memory makes a storage of it."""
        for uid, array in self.uids.living():
            interface = array.__array_interface__
            storage, at = self._location(array)
            if uid not in self._delta.state:
                self._note_base(uid, array)
            name = str(array.dtype)
            self._holders.set_storages(uid, [(storage, name if name in CELL_DTYPES else "uint8")] if storage else [])
            facts: entities.Array = {
                "kind": "array",
                "type": "ndarray",
                "shape": list(array.shape),
                "dtype": str(array.dtype),
                "storage": storage,
                "at": at,
                "steps": list(array.strides),
                "writeable": not interface["data"][1],
            }
            self._delta.update(uid, facts)

    def _note_base(self, uid: str, array: np.ndarray[Any, Any]) -> None:
        base = owner_of(array).base
        tensor = self._tensors.find(base) if isinstance(base, torch.Tensor) else None
        if tensor is not None:
            self._context.observation.array_bases[tensor] = uid

    def _location(self, array: np.ndarray[Any, Any]) -> tuple[str | None, int | None]:
        """(storage, byte of it at which the array begins); None for memory whose end nobody vouches for."""
        owner, pointer = owner_of(array), array.__array_interface__["data"][0]
        if isinstance(owner.base, torch.Tensor) and has_storage(owner.base):
            uid, size = self._storages.register(owner.base), owner.base.element_size()
            self._storages.expose(uid)
            return uid, pointer - owner.base.data_ptr() + int(owner.base.storage_offset()) * size
        if not owner.flags.owndata and type(owner.base).__name__ not in SIZED_BUFFERS:
            return None, None
        storage, at = self._storages.register_array(owner)
        return storage, at + pointer - byte_extent(owner)[0]

    def collect_dead(self, observation: Observation) -> None:
        dead = self.uids.collect_dead()
        for uid in dead:
            self._holders.remove(uid)
        observation.dead_uids += dead


def owner_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array whose memory it reads. `as_strided`, which goes wherever it is told, puts an object of its own between."""
    while True:
        base: Any = array.base
        if type(base).__name__ == "DummyArray" and type(base).__module__.startswith("numpy."):
            base = base.base
        if type(base) is not np.ndarray:
            return array
        array = base


SIZED_BUFFERS = frozenset(("bytes", "bytearray", "memoryview", "array", "mmap", "PyCapsule"))
"""Types of owners whose length numpy has checked."""

CELL_DTYPES = frozenset(
    [
        "bool",
        "uint8",
        "int8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
)
