"""Storages: which are the same, whose bytes changed, which died, and what they contain; of large ones, which elements
to list."""

import hashlib
import math
from typing import Any

import numpy as np
import torch

from gradbox.recorder.devices.device_bytes import DeviceBytes, UnreadableBytes
from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.observation import Observation
from gradbox.recorder.probes import cells
from gradbox.recorder.probes.handles import as_plain_tensor
from gradbox.recorder.probes.probe import Probe, ProbeContext
from gradbox.recorder.probes.storage_holders import StorageHolders
from gradbox.recorder.probes.storage_records import (
    ArrayStorageRecord,
    StorageRecord,
    TorchStorageRecord,
    TransientGradStorageRecord,
    address_and_length_of_bytes,
    report_cells,
    report_windows_of_large_storage,
)
from gradbox.recorder.uids import uid_sort_key
from gradbox.wire import entities
from gradbox.wire.entities import MAX_CELLS
from gradbox.wire.job_records import FocusRecord

MAX_CHANGED_ELEMENTS = 4096
"""Changed elements that are named. More are only counted."""

MAX_COPY_BYTES = 1 << 24
"""Bytes up to which a copy is kept for comparison. Of a larger storage digests of its chunks are kept, which tell no
elements apart."""

MAX_TOTAL_COPY_BYTES = 1 << 26
"""Bytes of all copies of more than ALWAYS_COMPARED_BYTES. Once they are used up, digests are kept of further large
storages."""

CHUNK_BYTES = 1 << 16

ALWAYS_COMPARED_BYTES = 1 << 16
"""Bytes up to which a storage is compared in every observation, whatever the statement used."""

storage_address_of: Any = torch._C._storage_address  # type: ignore[attr-defined]

MAX_CAPTURE_BYTES = 4096
"""Bytes up to which the content of a temporary is kept in case it dies inside its statement."""


class Storages(Probe):
    """All storages of a run.

    compared: storages whose bytes the last observation compared
    changed: for each one that differs (dtype, number of changed elements or None, the first of them)
    allocated: storages first seen since the last observation
    exposed: storages whose memory was handed out
    """

    def __init__(self, context: ProbeContext, holders: StorageHolders, statements: ProgramStatements) -> None:
        super().__init__(context)
        self._uids, self._holders = context.uids, holders
        self._by_address: dict[int, str] = {}
        self._address_by_uid: dict[str, int] = {}
        self.records: dict[str, StorageRecord] = {}
        self.changed: dict[str, tuple[str, int | None, list[int]]] = {}
        self.exposed: set[str] = set()
        self._transients: set[str] = set()
        self._without_holders: set[str] = set()  # living, and read by nobody that is known
        self.compared: set[str] = set()
        self._statements = statements
        self._layout_changed = False  # memory came, went or lies elsewhere
        self._copied_bytes = 0  # bytes of the copies of large storages
        self.allocated: list[str] = []

    def register_tensor_storage(self, tensor: torch.Tensor) -> str:
        """The uid of a tensor's storage."""
        storage_address = storage_address_of(tensor)
        uid = self._by_address.get(storage_address)
        record = self.records.get(uid) if uid is not None else None
        if isinstance(record, TransientGradStorageRecord):
            if record.accumulating or record.living_handles():
                record.add_handle(tensor)
                return record.uid
            uid = None  # another storage at the same place
        if uid is None:
            uid = self._by_address[storage_address] = self._uids.allocate_uid("s")
            self._address_by_uid[uid] = storage_address
            if self._context.running_backwards:
                self._transients.add(uid)
                self._add_record(TransientGradStorageRecord(uid, tensor))
            else:
                self._add_record(TorchStorageRecord(uid, as_plain_tensor(tensor).untyped_storage()))
        return uid

    def promote_transient_storages(self) -> None:
        """Turn what is left of a finished backward's gradients into ordinary storages."""
        for uid in sorted(self._transients, key=uid_sort_key):
            record = self.records.get(uid)
            if isinstance(record, TransientGradStorageRecord) and (tensors := record.living_handles()):
                promoted = self.records[uid] = TorchStorageRecord(uid, tensors[0].untyped_storage())
                promoted.inherit_from(record)
                self._transients.discard(uid)

    def find_tensor_storage(self, tensor: torch.Tensor) -> str | None:
        uid = self._by_address.get(storage_address_of(tensor))
        record = self.records.get(uid) if uid is not None else None
        return uid if not isinstance(record, TransientGradStorageRecord) or record.living_handles() else None

    def torch_storage_address(self, uid: str) -> int | None:
        """The address of torch's record of a storage, not of its bytes."""
        return self._address_by_uid.get(uid)

    def mark_gradient_accumulating(self, tensor: torch.Tensor) -> None:
        """Note that AccumulateGrad takes this gradient: until it is done, what lies at the address is the same
        storage."""
        record = self.records.get(self._by_address.get(storage_address_of(tensor), ""))
        if isinstance(record, TransientGradStorageRecord):
            record.accumulating = True

    def mark_exposed(self, uid: str) -> None:
        """Note that a storage's memory was handed out: anything that the program does may write it."""
        self.exposed.add(uid)

    def register_array_storage(self, owner: np.ndarray[Any, Any]) -> tuple[str, int]:
        """The storage that holds an array's memory, and the byte in it at which that begins."""
        pointer, nbytes = address_and_length_of_bytes(owner)
        for record in self.records.values():
            if record.device != "cpu" or (record.never_compared and record.read_bytes() is None):
                continue
            if record.pointer <= pointer and pointer + nbytes <= record.pointer + record.nbytes and record.nbytes > 0:
                self.mark_exposed(record.uid)
                return record.uid, pointer - record.pointer
        record = ArrayStorageRecord(self._uids.allocate_uid("s"), owner)
        self._add_record(record)
        self.mark_exposed(record.uid)
        record.read_bytes()
        return record.uid, 0

    def _add_record(self, record: StorageRecord) -> None:
        self._layout_changed = True
        self.records[record.uid] = record
        self.allocated.append(record.uid)

    def capture_bytes(self, uid: str, dtype: str) -> None:
        """Keep what a storage holds right after the operation that made or wrote it, in case it dies before the
        observation."""
        record = self.records[uid]
        if record.never_compared:
            buffer = record.read_bytes()
            if buffer is not None and len(buffer) <= MAX_CAPTURE_BYTES and record.device == "cpu":
                record.data = bytes(buffer)
                if dtype not in record.dtypes:
                    record.dtypes.append(dtype)

    def discard_captured_bytes(self, uid: str) -> None:
        """Note that nothing has written the storage yet. If it dies like this, its content is unknown."""
        if self.records[uid].never_compared:
            self.records[uid].data = None

    def compare_storages(self, observation: Observation) -> list[str]:
        """Find which storages changed, among all or among those that may have. Returns the uids of the dead.

        A large storage is compared if an operator took it, or if its bytes can be written without one.
        """
        touched = observation.touched_storages
        compare_large = observation.ops_unobserved or (
            observation.observe_all and self._statements.may_write_without_ops and not observation.unstepped_code_ran
        )
        self.changed = {}
        if self._transients and not self._context.running_backwards:
            self.promote_transient_storages()
        if observation.slots_unobserved:
            self.compared = set(self.records)
        else:  # what nodes alone hold can't be written
            handles = self._holders.read_by_handles if observation.observe_all or compare_large else ()
            candidates = (
                touched,
                self.exposed,
                self.allocated,
                self._transients,
                self._without_holders,
                self._holders.released,
                handles,
            )
            self.compared = {uid for uids in candidates for uid in uids if uid in self.records}
        dead: list[str] = []
        if not self.compared:
            self._holders.clear_released_storages()
            return dead
        for uid in sorted(self.compared, key=uid_sort_key) if len(self.compared) > 1 else list(self.compared):
            record = self.records[uid]
            layout = record.pointer, record.nbytes
            buffer = record.read_bytes()
            self._layout_changed = self._layout_changed or layout != (record.pointer, record.nbytes)
            if buffer is not None:
                self._compare_record_bytes(record, buffer, compare_large or uid in self.exposed or uid in touched)
            else:
                dead.append(uid)
                self._retire_record(record)
        for uid in self._transients:
            self.records[uid].accumulating = False
        self._holders.clear_released_storages()
        return dead

    def _retire_record(self, record: StorageRecord) -> None:
        uid = record.uid
        if record.never_compared:  # lived and died inside one statement
            if record.data is not None:
                report_cells(self._delta, record, record.data, record.dtypes, self._context.max_cells)
            else:
                self._delta.update_entity(
                    uid, {"kind": "storage", "device": record.device, "nbytes": max(record.nbytes, 0)}
                )
        self._layout_changed = True
        self._copied_bytes -= record.large_copy_bytes
        del self.records[uid]
        storage_address = self._address_by_uid.pop(uid, None)
        if storage_address is not None and self._by_address.get(storage_address) == uid:
            del self._by_address[storage_address]
        for uids in (self._transients, self._without_holders, self.exposed, self.compared):
            uids.discard(uid)

    def _compare_record_bytes(self, record: StorageRecord, buffer: Any, compare_large: bool) -> None:
        if isinstance(buffer, UnreadableBytes):
            return
        nbytes = len(buffer)
        if nbytes > ALWAYS_COMPARED_BYTES and not (record.never_compared or compare_large):
            return
        old = record.data
        large = nbytes if nbytes > ALWAYS_COMPARED_BYTES else 0
        if (
            nbytes <= (ALWAYS_COMPARED_BYTES if isinstance(buffer, DeviceBytes) else MAX_COPY_BYTES)
            and self._copied_bytes - record.large_copy_bytes + large <= MAX_TOTAL_COPY_BYTES
            and not (record.digest and large)
        ):
            new = bytes(buffer)
            same = not record.never_compared and new == old
            self._copied_bytes += large - record.large_copy_bytes
            record.data, record.digest, record.large_copy_bytes = old if same else new, None, large
        else:
            digest = chunk_digests(buffer)
            same = not record.never_compared and (
                digest == record.digest if record.digest else chunk_digests(old or b"") == digest
            )
            self._copied_bytes -= record.large_copy_bytes
            record.data, record.digest, record.large_copy_bytes = None, digest, 0
        if not same:
            record.region_digests.clear()
            record.unreported = True
            if not record.never_compared:
                dtype = (self._holders.dtypes_of_storage(record.uid) or record.dtypes or ["uint8"])[0]
                self.changed[record.uid] = (dtype, *changed_elements(old, record.data, cells.dtype_itemsize(dtype)))
        record.never_compared = False

    def update_delta(self, observation: Observation) -> None:  # noqa: ARG002
        changed = self._holders.changed
        for uid in sorted(changed, key=uid_sort_key) if len(changed) > 1 else changed:
            if uid in self.records:
                facts: entities.Storage = {"held_by": sorted(self._holders.holders_of(uid), key=uid_sort_key) or None}
                self._delta.update_entity(uid, facts)
        self._holders.clear_changed_storages()

    def report_contents(self, wanted: dict[str, dict[str, set[int]]]) -> None:
        """Report new contents.

        wanted: the elements of large storages to list, by dtype
        """
        reported = {
            uid for uid in (*self.compared, *self._holders.changed, *self.allocated, *wanted) if uid in self.records
        }
        for uid in sorted(reported, key=uid_sort_key) if len(reported) > 1 else reported:
            record = self.records[uid]
            dtypes = self._holders.dtypes_of_storage(uid) or record.dtypes or ["uint8"]
            if record.unreported or record.never_compared or dtypes != record.dtypes:
                buffer = record.data if uid in self.compared and not record.never_compared else None
                if buffer is None:
                    buffer = record.read_bytes()
                if buffer is None:
                    continue
                if record.never_compared:
                    self._compare_record_bytes(record, buffer, True)
                report_cells(self._delta, record, buffer, dtypes, self._context.max_cells)
            if record.nbytes > MAX_CELLS and not record.never_compared:
                report_windows_of_large_storage(self._delta, record, wanted.get(uid, {}))
            record.unreported = False
            if self._holders.holders_of(uid):
                self._without_holders.discard(uid)
            else:
                self._without_holders.add(uid)
        self.allocated.clear()

    def report_overlaps(self) -> None:
        """Report which storages' bytes lie inside another's: two `from_numpy` of one array are two storages.

        Only memory that was handed out, or came from elsewhere, can belong to two.
        """
        if not (self._statements.may_write_without_ops and self._layout_changed):
            return
        self._layout_changed = False
        spans = sorted(
            (
                (r.pointer, -r.nbytes, k, r)
                for k, r in enumerate(self.records.values())
                if r.pointer and r.nbytes > 0 and r.device == "cpu"
            ),
            key=lambda span: span[:3],
        )
        inside: dict[str, entities.Within] = {}
        outer: StorageRecord | None = None
        for pointer, negative, _, record in spans:
            if outer is not None and pointer - negative <= outer.pointer + outer.nbytes:
                inside[record.uid] = {"storage": outer.uid, "at": pointer - outer.pointer}
                self.mark_exposed(record.uid)  # whichever function made it: what writes one writes the other
                self.mark_exposed(outer.uid)
            else:
                outer = record
        for uid in self.records:
            if uid in inside or self._delta.storage_state(uid).get("within") is not None:
                facts: entities.Storage = {"within": inside.get(uid)}
                self._delta.update_entity(uid, facts)

    def uids_by_address(self, device: str) -> dict[int, str]:
        """The storages on a kind of device, by the address at which each begins."""
        return {r.pointer: uid for uid, r in self.records.items() if r.pointer and r.device.startswith(device)}

    def is_storage_modified(self, uid: str) -> bool:
        """Whether a small storage's bytes differ from those at the last observation."""
        record = self.records.get(uid)
        if record is None or record.data is None or record.never_compared or len(record.data) > MAX_CAPTURE_BYTES:
            return False
        buffer = record.read_bytes()
        return buffer is not None and not isinstance(buffer, UnreadableBytes) and bytes(buffer) != record.data

    def storage_bytes(self, uid: str) -> Any:
        """The storage's bytes as this observation found them, or in place; None if it is gone."""
        record = self.records.get(uid)
        if record is None:
            return None
        if record.data is not None and not record.never_compared:
            return record.data
        buffer = record.read_bytes()
        small = isinstance(buffer, DeviceBytes) and len(buffer) <= ALWAYS_COMPARED_BYTES
        return bytes(buffer) if small else buffer  # as the copy that is then kept

    def region_digest(self, uid: str, region: cells.Region) -> bytes | None:
        """The digest of a region's bytes as this observation found them; None if the storage is gone.

        For a copy that is kept it is computed once: the copy is replaced when the storage changes.
        """
        record, data = self.records.get(uid), self.storage_bytes(uid)
        if record is None or data is None or isinstance(data, UnreadableBytes):
            return None
        if isinstance(data, DeviceBytes):
            digest = record.region_digests.get(region)
            if digest is None:
                digest = data.region_digest(*region)
                if not record.never_compared:
                    record.region_digests[region] = digest
            return digest
        if record.data is None or data is not record.data:
            return cells.region_digest(data, *region)
        digest = record.region_digests.get(region)
        if digest is None:
            digest = cells.region_digest(data, *region)
            if len(digest) < cells.MAX_UNDIGESTED_BYTES < len(record.data):  # fewer bytes would stand for themselves
                record.region_digests[region] = digest
        return digest


def chunk_digests(data: Any) -> bytes:
    """Sixteen bytes for each chunk, computed on the device if the data is there."""
    if isinstance(data, DeviceBytes):
        return data.digest()
    view = memoryview(data)
    parts = (view[at : at + CHUNK_BYTES] for at in range(0, len(view), CHUNK_BYTES))
    return b"".join(hashlib.blake2b(part, digest_size=16).digest() for part in parts)


WORD_SIZES = (1, 2, 4, 8)
"""Element sizes in bytes that numpy can compare as numbers."""


def changed_elements(old: bytes | None, new: bytes | None, size: int) -> tuple[int | None, list[int]]:
    """How many elements differ, and the first of them; None if one side was not kept."""
    if old is None or new is None:
        return None, []
    count, longest = min(len(old), len(new)) // size, max(len(old), len(new)) // size
    if size in WORD_SIZES:
        left, right = (np.frombuffer(side, f"u{size}", count) for side in (old, new))
        changed = np.flatnonzero(left != right)
    else:
        left, right = (np.frombuffer(side, "u1", count * size).reshape(count, size) for side in (old, new))
        changed = np.flatnonzero((left != right).any(axis=1))
    beyond = range(count, min(longest, count + MAX_CHANGED_ELEMENTS))
    return len(changed) + longest - count, [*changed[:MAX_CHANGED_ELEMENTS].tolist(), *beyond][:MAX_CHANGED_ELEMENTS]


MAX_WRITTEN_ELEMENTS = 256
"""Written elements of a large storage that stay in its windows."""


class StorageWindows(Probe):
    """Reports the contents of storages; of large ones the elements that small handles read and those that were written.

    focus: `{"storage", "step", "from", "to"}`: elements of one large storage that are listed too, from that step on
    """

    def __init__(self, context: ProbeContext, focus: FocusRecord, storages: Storages, holders: StorageHolders) -> None:
        super().__init__(context)
        self._storages, self._holders = storages, holders
        self._written: dict[str, dict[str, set[int]]] = {}
        self._focus: tuple[str, int, range] | None = None  # storage, step, elements
        if focus.get("storage") is not None:
            last = min(int(focus["to"]), int(focus["from"]) + MAX_CELLS)
            self._focus = focus["storage"], int(focus.get("step") or 0), range(int(focus["from"]), last)

    def update_delta(self, observation: Observation) -> None:
        focused = {self._focus[0]} if self._focus is not None and observation.step >= self._focus[1] else set()
        wanted: dict[str, dict[str, set[int]]] = {}
        for storage in self._storages.compared | self._holders.changed | focused:
            record = self._storages.records.get(storage)
            if record is not None and record.nbytes > MAX_CELLS:
                wanted[storage] = self._elements_to_show(storage, storage in focused)
        self._storages.report_contents(wanted)
        self._storages.report_overlaps()

    def _elements_to_show(self, storage: str, focused: bool) -> dict[str, set[int]]:
        """The elements to list, by the dtype with which they are read."""
        wanted: dict[str, set[int]] = {}
        if focused and self._focus is not None:
            for dtype in self._holders.dtypes_of_storage(storage):
                wanted.setdefault(dtype, set()).update(self._focus[2])
        for uid in self._holders.holders_of(storage):
            if uid[0] == "t":
                facts: Any = self._delta.tensor_state(uid)
                if math.prod(facts.get("shape") or [0]) <= self._context.max_cells and "stride" in facts:
                    elements = cells.strided_element_indices(facts["shape"], facts["stride"], facts["offset"])
                    wanted.setdefault(facts["dtype"], set()).update(elements)
        if storage in self._storages.changed:
            dtype, _, elements = self._storages.changed[storage]
            written = self._written.setdefault(storage, {}).setdefault(dtype, set())
            written.update(elements[: max(MAX_WRITTEN_ELEMENTS - len(written), 0)])
        for dtype, written in self._written.get(storage, {}).items():
            wanted.setdefault(dtype, set()).update(written)
        return wanted

    def forget_storage(self, storage: str) -> None:
        """Forget a storage that has died."""
        self._written.pop(storage, None)
