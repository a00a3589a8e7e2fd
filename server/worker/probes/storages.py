"""Storages: who is one and the same, whose bytes changed, which died, and their elements."""

import hashlib
from typing import Any

import numpy as np
import torch

from server.worker.names import Uids, order
from server.worker.picture import Picture
from server.worker.probes import cells
from server.worker.probes.handles import bare
from server.worker.probes.holders import Holders
from server.worker.probes.records import ArrayRecord, Light, Record, TorchRecord, extent

PLACES = 4096
"""Changed elements that are named; more are counted."""

KEPT = 1 << 24
"""Bytes up to which a copy is kept to compare with; beyond, digests of its chunks, which tell no elements apart."""

ROOM = 1 << 26
"""Bytes of all copies of more than WHOLE; once they are used up, bigger storages are known by digests too."""

CHUNK = 1 << 16

WHOLE = 1 << 16
"""Bytes up to which a storage is compared at every look, whatever took it."""

address: Any = torch._C._storage_address  # type: ignore[attr-defined]

EARLY = 4096
"""Bytes up to which a temporary's content is kept, should it die inside its statement."""


class Storages:
    """All storages of a run. `changed` holds those whose bytes differ from the look before."""

    def __init__(self, uids: Uids, picture: Picture, holders: Holders) -> None:
        self._uids, self._picture, self._holders = uids, picture, holders
        self._by_address: dict[int, str] = {}
        self._address: dict[str, int] = {}
        self.records: dict[str, Record] = {}
        self.changed: dict[str, tuple[str, int | None, list[int]]] = {}
        self.touched: set[str] = set()
        self.exposed: set[str] = set()  # their memory was handed out
        self._lights: set[str] = set()
        self._orphans: set[str] = set()  # living, and read by nobody that is known
        self.due: set[str] = set()  # compared in this look
        self.open = True  # the program has ways to write bytes that are no operators
        self.unheard = False  # operators ran that were not heard
        self._moved = False  # memory came, went or lies elsewhere
        self._copied = 0  # bytes of the copies of large storages
        self.born: list[str] = []
        self.light = 0  # the backward passes that run

    def see(self, tensor: torch.Tensor) -> str:
        """The uid of a tensor's storage."""
        place = address(tensor)
        uid = self._by_address.get(place)
        record = self.records.get(uid) if uid is not None else None
        if isinstance(record, Light):
            if record.carried or record.living():
                record.wear(tensor)
                return record.uid
            uid = None  # another storage at the same place
        if uid is None:
            uid = self._by_address[place] = self._uids.fresh("s")
            self._address[uid] = place
            if self.light:
                self._lights.add(uid)
                self._add(Light(uid, tensor))
            else:
                self._add(TorchRecord(uid, bare(tensor).untyped_storage()))
        return uid

    def settle(self) -> None:
        """Backward is over: what is left of its gradients are storages like any other."""
        for uid in sorted(self._lights, key=order):
            record = self.records.get(uid)
            if isinstance(record, Light) and (tensors := record.living()):
                solid = self.records[uid] = TorchRecord(uid, tensors[0].untyped_storage())
                solid.take_over(record)
                self._lights.discard(uid)

    def known(self, tensor: torch.Tensor) -> str | None:
        uid = self._by_address.get(address(tensor))
        record = self.records.get(uid) if uid is not None else None
        return uid if not isinstance(record, Light) or record.living() else None

    def carry(self, tensor: torch.Tensor) -> None:
        """AccumulateGrad takes this gradient: until it is done, what lies at the address is the same storage."""
        record = self.records.get(self._by_address.get(address(tensor), ""))
        if isinstance(record, Light):
            record.carried = True

    def expose(self, uid: str) -> None:
        """Its memory is in other hands: whatever the program does may write it."""
        self.exposed.add(uid)

    def see_array(self, owner: np.ndarray[Any, Any]) -> tuple[str, int]:
        """The storage that holds an array's memory, and the byte of it at which that begins."""
        pointer, nbytes = extent(owner)
        for record in self.records.values():
            if record.device != "cpu" or (record.fresh and record.read() is None):
                continue
            if record.pointer <= pointer and pointer + nbytes <= record.pointer + record.nbytes and record.nbytes > 0:
                self.expose(record.uid)
                return record.uid, pointer - record.pointer
        record = ArrayRecord(self._uids.fresh("s"), owner)
        self._add(record)
        self.expose(record.uid)
        record.read()
        return record.uid, 0

    def _add(self, record: Record) -> None:
        self._moved = True
        self.records[record.uid] = record
        self.born.append(record.uid)

    def early(self, uid: str, dtype: str) -> None:
        """What a storage holds right after the operation that made or wrote it, in case it dies before the look."""
        record = self.records[uid]
        if record.fresh:
            buffer = record.read()
            if buffer is not None and len(buffer) <= EARLY and record.device == "cpu":
                record.data = bytes(buffer)
                if dtype not in record.dtypes:
                    record.dtypes.append(dtype)

    def blank(self, uid: str) -> None:
        """Nobody wrote it yet; should it die so, nothing is known to have been in it."""
        if self.records[uid].fresh:
            self.records[uid].data = None

    def compare(self, everything: bool) -> list[str]:
        """Find what changed; the uids of the dead. everything: not only what may have changed.

        A large storage is compared where an operator took it, or where its bytes can be written without one.
        """
        anyhow = self.unheard or (everything and self.open)
        self.unheard = False
        self.changed = {}
        if not self.light:
            self.settle()
        if everything or anyhow:
            self.due = set(self.records)
        else:
            likely = (self.touched, self.exposed, self.born, self._lights, self._orphans, self._holders.lost)
            self.due = {uid for uids in likely for uid in uids if uid in self.records}
        dead = []
        for uid in sorted(self.due, key=order):
            record = self.records[uid]
            lay = record.pointer, record.nbytes
            buffer = record.read()
            self._moved = self._moved or lay != (record.pointer, record.nbytes)
            if buffer is not None:
                self._compare(record, buffer, anyhow or uid in self.exposed)
            else:
                dead.append(uid)
                self._die(record)
        for uid in self._lights:
            self.records[uid].carried = False
        self.touched.clear()
        self._holders.lost.clear()
        return dead

    def _die(self, record: Record) -> None:
        uid = record.uid
        if record.fresh:  # lived and died inside one statement
            if record.data is not None:
                self._tell(record, record.data, record.dtypes)
            else:
                self._picture.put(uid, {"kind": "storage", "device": record.device, "nbytes": max(record.nbytes, 0)})
        self._moved = True
        self._copied -= record.large
        del self.records[uid]
        place = self._address.pop(uid, None)
        if place is not None and self._by_address.get(place) == uid:
            del self._by_address[place]
        for uids in (self._lights, self._orphans, self.exposed, self.due):
            uids.discard(uid)

    def _compare(self, record: Record, buffer: Any, anyhow: bool) -> None:
        nbytes = len(buffer)
        if nbytes > WHOLE and not (record.fresh or anyhow or record.uid in self.touched):
            return
        old = record.data
        large = nbytes if nbytes > WHOLE else 0
        if nbytes <= KEPT and self._copied - record.large + large <= ROOM and not (record.digest and large):
            new = bytes(buffer)
            same = not record.fresh and new == old
            self._copied += large - record.large
            record.data, record.digest, record.large = new, None, large
        else:
            digest = digests(buffer)
            same = not record.fresh and (digest == record.digest if record.digest else digests(old or b"") == digest)
            self._copied -= record.large
            record.data, record.digest, record.large = None, digest, 0
        if not same:
            record.dirty = True
            if not record.fresh:
                dtype = (self._holders.dtypes(record.uid) or record.dtypes or ["uint8"])[0]
                self.changed[record.uid] = (dtype, *difference(old, record.data, cells.itemsize(dtype)))
        record.fresh = False

    def tell(self, wanted: dict[str, dict[str, set[int]]]) -> None:
        """Put into the picture what is new. wanted: `_windows`."""
        news = {uid for uid in (*self.due, *self._holders.changed, *self.born, *wanted) if uid in self.records}
        for uid in sorted(news, key=order):
            record = self.records[uid]
            dtypes = self._holders.dtypes(uid) or record.dtypes or ["uint8"]
            if record.dirty or record.fresh or dtypes != record.dtypes:
                buffer = record.read()
                if buffer is None:
                    continue
                if record.fresh:
                    self._compare(record, buffer, True)
                self._tell(record, buffer, dtypes)
            if record.nbytes > cells.LIMIT:
                self._windows(record, wanted.get(uid, {}))
            record.dirty = False
            if self._holders.of(uid):
                self._orphans.discard(uid)
            else:
                self._orphans.add(uid)
        self.born.clear()

    def _tell(self, record: Record, buffer: Any, dtypes: list[str]) -> None:
        """Cells whole or patched, or a summary."""
        record.dtypes = list(dtypes)
        facts: dict[str, Any] = {"kind": "storage", "device": record.device, "nbytes": max(record.nbytes, 0)}
        listed = {d: cells.decode(buffer, d) for d in dtypes if len(buffer) // cells.itemsize(d) <= cells.LIMIT}
        facts["summary"] = {
            d: told for d in dtypes if d not in listed and (told := cells.summary(buffer, d)) is not None
        } or None
        told, record.cells = record.cells, listed
        if listed and list(listed) == list(told) and all(len(listed[d]) == len(told[d]) for d in listed):
            patch = {d: p for d in listed if (p := patched(told[d], listed[d]))}
            pending = self._picture.set.get(record.uid, {})
            if sum(map(len, patch.values())) * 2 < sum(map(len, listed.values())) and "cells" not in pending:
                self._picture.put(record.uid, facts)
                if patch:
                    self._picture.state[record.uid]["cells"] = listed
                    self._picture.delta(record.uid, {"cells_at": patch})
                return
        facts["cells"] = listed or None
        self._picture.put(record.uid, facts)

    def _windows(self, record: Record, wanted: dict[str, set[int]]) -> None:
        """For a storage too big to list: head, tail and the elements that small handles read, as runs of values."""
        large = [d for d in record.dtypes if record.nbytes // cells.itemsize(d) > cells.LIMIT]
        if not large:
            return
        runs = {}
        for d in large:
            total = record.nbytes // cells.itemsize(d)
            want = set(range(cells.EDGE)) | set(range(total - cells.EDGE, total))
            runs[d] = cells.runs(want | {k for k in wanted.get(d, ()) if 0 <= k < total})
        if not record.dirty and record.runs == runs:
            return
        record.runs = runs
        buffer = record.read()
        told = {}
        for d, spans in runs.items():
            size = cells.itemsize(d)
            told[d] = [[a, cells.decode(buffer[a * size : b * size], d)] for a, b in spans]
        self._picture.put(record.uid, {"windows": told})

    def within(self) -> None:
        """Tell which storages' bytes lie inside another's: two `from_numpy` of one array are two storages.

        Only memory that was handed out, or came from elsewhere, can be in two.
        """
        if not (self.open and self._moved):
            return
        self._moved = False
        spans = sorted(
            (
                (r.pointer, -r.nbytes, k, r)
                for k, r in enumerate(self.records.values())
                if r.pointer and r.nbytes > 0 and r.device == "cpu"
            ),
            key=lambda span: span[:3],
        )
        inside: dict[str, dict[str, Any]] = {}
        outer: Record | None = None
        for pointer, negative, _, record in spans:
            if outer is not None and pointer - negative <= outer.pointer + outer.nbytes:
                inside[record.uid] = {"storage": outer.uid, "at": pointer - outer.pointer}
            else:
                outer = record
        for uid in self.records:
            if uid in inside or self._picture.state.get(uid, {}).get("within") is not None:
                self._picture.put(uid, {"within": inside.get(uid)})

    def on(self, device: str) -> dict[int, str]:
        """The storages of a kind of device, by the address at which each begins."""
        return {r.pointer: uid for uid, r in self.records.items() if r.pointer and r.device.startswith(device)}

    def written(self, uid: str) -> bool:
        """Whether a small storage holds other bytes than at the look before."""
        record = self.records.get(uid)
        if record is None or record.data is None or record.fresh or len(record.data) > EARLY:
            return False
        buffer = record.read()
        return buffer is not None and bytes(buffer) != record.data

    def bytes_of(self, uid: str) -> Any:
        """The storage's bytes as this look found them, or where they lie; None when it is gone."""
        record = self.records.get(uid)
        if record is None:
            return None
        return record.data if record.data is not None and not record.fresh else record.read()


def digests(data: Any) -> bytes:
    """Sixteen bytes for each chunk."""
    view = memoryview(data)
    parts = (view[at : at + CHUNK] for at in range(0, len(view), CHUNK))
    return b"".join(hashlib.blake2b(part, digest_size=16).digest() for part in parts)


def patched(old: list[Any], new: list[Any]) -> dict[str, Any]:
    return {str(k): y for k, (x, y) in enumerate(zip(old, new, strict=True)) if x != y or str(x) != str(y)}


def difference(old: bytes | None, new: bytes | None, size: int) -> tuple[int | None, list[int]]:
    """How many elements hold other bytes, and the first of them; None where one side was not kept."""
    if old is None or new is None:
        return None, []
    count, longest = min(len(old), len(new)) // size, max(len(old), len(new)) // size
    one, other = (np.frombuffer(side, "u1", count * size).reshape(count, size) for side in (old, new))
    places = np.flatnonzero((one != other).any(axis=1))
    beyond = range(count, min(longest, count + PLACES))
    return len(places) + longest - count, [*places[:PLACES].tolist(), *beyond][:PLACES]
