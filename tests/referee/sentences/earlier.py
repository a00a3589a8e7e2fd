"""What is remembered of objects from one moment to the next, without keeping them alive."""

import gc
import weakref
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from tests.referee.sentences.paths import Undecided

MOST_BYTES = 4_000_000
"""A larger tensor's bytes are not compared."""


@dataclass(frozen=True)
class Reading:
    """How a tensor or an array reads memory. `storage` is the address of torch's storage, `begin` and `end` are of the
    bytes of the whole of it."""

    storage: int
    begin: int
    end: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device: str


def reading(thing: Any) -> Reading:
    """Of a tensor, an array, or one that was. Raises Undecided for another layout."""
    if isinstance(thing, Was):
        if thing.reading is None:
            raise Undecided("it was neither a tensor nor an array")
        return thing.reading
    if isinstance(thing, numpy.ndarray):
        base = thing
        while isinstance(base.base, numpy.ndarray):
            base = base.base
        begin = base.__array_interface__["data"][0]
        at = thing.__array_interface__["data"][0]
        return Reading(begin, begin, begin + base.nbytes, at, thing.shape, thing.strides, str(thing.dtype), "cpu")
    if not isinstance(thing, torch.Tensor):
        raise Undecided(f"{type(thing).__name__} is neither a tensor nor an array")
    if thing.layout != torch.strided or torch._C._functorch.is_functorch_wrapped_tensor(thing):
        raise Undecided("the tensor has no strides")
    storage = thing.untyped_storage()
    begin = storage.data_ptr()
    return Reading(
        storage._cdata,
        begin,
        begin + storage.nbytes(),
        begin + int(thing.storage_offset()) * thing.element_size(),
        tuple(thing.shape),
        thing.stride(),
        str(thing.dtype).removeprefix("torch."),
        str(thing.device),
    )


class Was:
    """An object as it was at a moment before; it may be gone since."""

    def __init__(self, thing: Any) -> None:
        self.id, self.type = id(thing), type(thing)
        self.reading: Reading | None = None
        self.reference: Any = None
        try:
            self.reference = weakref.ref(thing)
        except TypeError:
            pass
        if isinstance(thing, torch.Tensor | numpy.ndarray):
            try:
                self.reading = reading(thing)
            except Undecided:
                pass

    def object(self) -> Any:
        """The object; None where it is gone. Raises Undecided where that can't be told."""
        if self.reference is None:
            raise Undecided(f"whether a {self.type.__name__} is gone can't be seen")
        found = self.reference()
        return owned(found) if isinstance(found, torch.Tensor) else found


def owned(tensor: Any) -> Any:
    """A tensor that a weak reference gave: its memory may have kept it alive, and Python takes it over."""
    tensor._fix_weakref()
    return tensor


def bytes_of(thing: Any, most: int = MOST_BYTES) -> bytes:
    """The bytes of what a tensor or an array reads, in its own order. Raises Undecided where they are many."""
    if isinstance(thing, numpy.ndarray):
        return thing.tobytes()
    if not isinstance(thing, torch.Tensor):
        raise Undecided(f"{type(thing).__name__} has no bytes")
    if thing.is_meta or thing.layout != torch.strided or thing.is_quantized:
        raise Undecided("its bytes can't be read")
    if thing.numel() * thing.element_size() > most:
        raise Undecided("it has too many bytes")
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        plain = thing.detach().resolve_conj().resolve_neg().cpu().contiguous()
        return plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def shares_storage(tensor: torch.Tensor, other: torch.Tensor) -> bool:
    try:
        return reading(tensor).storage == reading(other).storage
    except Undecided:
        return False


class Seen:
    """The tensors of this process, and when each was first seen. The process that forked has frozen its own objects."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[Any, int]] = {}
        self._collected: list[int] = []
        self._storages: dict[int, tuple[StorageWeakRef, int]] = {}
        self._borrowed: set[int] = set()

    def look(self, moment: int) -> None:
        """Note the tensors that there are at a moment."""
        collected = [generation["collections"] for generation in gc.get_stats()[1:]]
        # new objects are in the first two generations, unless the second was collected
        generations = (0, 1) if collected == self._collected else (0, 1, 2)
        self._collected = collected
        for generation in generations:
            for thing in gc.get_objects(generation):
                if issubclass(type(thing), torch.Tensor):
                    self._note(thing, moment)

    def _note(self, thing: torch.Tensor, moment: int) -> None:
        if id(thing) not in self._first:
            key = id(thing)
            self._first[key] = (weakref.ref(thing, lambda _: self._first.pop(key, None)), moment)
        if thing.layout == torch.strided and not torch._C._functorch.is_functorch_wrapped_tensor(thing):
            storage = thing.untyped_storage()
            known = self._storages.get(storage._cdata)
            if known is None or known[0].expired():
                self._storages[storage._cdata] = (StorageWeakRef(storage), moment)
                # memory of NumPy's can't be resized, and is not given back with the storage
                (self._borrowed.discard if storage.resizable() else self._borrowed.add)(storage._cdata)

    def freed(self) -> int:
        """How many storages with memory of their own are gone since this was asked the last time."""
        gone = [cdata for cdata, (storage, _) in self._storages.items() if storage.expired()]
        for cdata in gone:
            del self._storages[cdata]
        return len(set(gone) - self._borrowed)

    def moment_of(self, thing: Any, now: int) -> int:
        """When a tensor was first seen."""
        self._note(thing, now)
        return self._first[id(thing)][1]

    def moment_of_storage(self, thing: Any, now: int) -> int:
        """When a tensor's storage was first seen."""
        self._note(thing, now)
        cdata = thing.untyped_storage()._cdata
        if cdata not in self._storages:
            raise Undecided("the tensor has no storage")
        return self._storages[cdata][1]

    def tensors(self) -> list[torch.Tensor]:
        """Those that are alive."""
        out = []
        for reference, _ in list(self._first.values()):
            found = reference()
            if found is not None:
                out.append(owned(found))
        return out
