"""numpy arrays: handles, measured in bytes, on memory that torch or numpy owns."""

from typing import Any

import numpy as np
import torch

from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.handles import has_storage
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.storage_holders import StorageHolders
from gradbox.recorder.probes.storage_records import address_and_length_of_bytes
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.uids import WeakUids
from gradbox.wire import entities


class NumpyArrays(Probe):
    """The numpy arrays that the program's names lead to."""

    def __init__(self, context: ProbeContext, storages: Storages, tensors: WeakUids, holders: StorageHolders) -> None:
        super().__init__(context)
        self._storages, self._tensors, self._holders = storages, tensors, holders
        self.uids = WeakUids(context.uids, "a")

    def register_array(self, array: np.ndarray[Any, Any]) -> str | None:
        """The array's uid; None for an array that holds Python objects or has code of its own."""
        if type(array) is not np.ndarray or array.dtype.hasobject:
            return None
        return self.uids.uid_of(array)

    def observe_living_arrays(self) -> None:
        """Report where each array lies. Unknown memory becomes a new storage."""
        for uid, array in self.uids.living_objects():
            interface = array.__array_interface__
            storage, at = self._storage_location(array)
            if uid not in self._delta.state:
                self._note_base_tensor(uid, array)
            name = str(array.dtype)
            self._holders.set_storages_of_holder(
                uid, [(storage, name if name in CELL_DTYPES else "uint8")] if storage else []
            )
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
            self._delta.update_entity(uid, facts)

    def _note_base_tensor(self, uid: str, array: np.ndarray[Any, Any]) -> None:
        base = memory_owning_array(array).base
        tensor = self._tensors.find_uid(base) if isinstance(base, torch.Tensor) else None
        if tensor is not None:
            self._context.observation.array_bases[tensor] = uid

    def _storage_location(self, array: np.ndarray[Any, Any]) -> tuple[str | None, int | None]:
        """The storage and the byte in it at which the array begins; None for memory whose size nobody guarantees."""
        owner, pointer = memory_owning_array(array), array.__array_interface__["data"][0]
        if isinstance(owner.base, torch.Tensor) and has_storage(owner.base):
            uid, size = self._storages.register_tensor_storage(owner.base), owner.base.element_size()
            self._storages.mark_exposed(uid)
            return uid, pointer - owner.base.data_ptr() + int(owner.base.storage_offset()) * size
        if not owner.flags.owndata and type(owner.base).__name__ not in SIZED_BUFFER_TYPES:
            return None, None
        storage, at = self._storages.register_array_storage(owner)
        return storage, at + pointer - address_and_length_of_bytes(owner)[0]

    def collect_dead_entities(self, observation: Observation) -> None:
        if not self.uids.dead:
            return
        dead = self.uids.collect_dead_uids()
        for uid in dead:
            self._holders.remove_holder(uid)
        observation.dead_uids += dead


def memory_owning_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that owns the memory. `as_strided`, which reads wherever it is told, puts an object of its own in
    between."""
    while True:
        base: Any = array.base
        if type(base).__name__ == "DummyArray" and type(base).__module__.startswith("numpy."):
            base = base.base
        if type(base) is not np.ndarray:
            return array
        array = base


SIZED_BUFFER_TYPES = frozenset(("bytes", "bytearray", "memoryview", "array", "mmap", "PyCapsule"))
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
