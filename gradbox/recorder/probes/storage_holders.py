"""Which handles, arrays and nodes (through what they saved) read each storage, and with which dtypes."""

from collections.abc import Iterable


class StorageHolders:
    """The storages that handles, arrays and nodes read.

    changed: storages whose holders changed since they were reported
    released: storages that lost a holder
    read_by_handles: storages that a tensor or an array reads, with the number of readers; others are held by nodes
        alone
    """

    def __init__(self) -> None:
        self._dtypes_by_storage: dict[str, dict[str, tuple[str, ...]]] = {}
        self._dtypes_by_holder: dict[str, dict[str, tuple[str, ...]]] = {}
        self.changed: set[str] = set()
        self.released: set[str] = set()
        self.read_by_handles: dict[str, int] = {}

    def set_storages_of_holder(self, holder: str, storages: Iterable[tuple[str, str]]) -> None:
        """Note that `holder` reads these (storage, dtype) pairs, and no others."""
        current: dict[str, tuple[str, ...]] = {}
        for storage, dtype in storages:
            current[storage] = tuple(sorted({dtype, *current.get(storage, ())}))
        before = self._dtypes_by_holder.get(holder, {})
        if current == before:
            return
        for storage in before.keys() - current.keys():
            self._release_storage_from_holder(storage, holder)
        for storage, dtypes in current.items():
            if before.get(storage) != dtypes:
                readers = self._dtypes_by_storage.setdefault(storage, {})
                if holder not in readers and holder[0] != "n":
                    self.read_by_handles[storage] = self.read_by_handles.get(storage, 0) + 1
                readers[holder] = dtypes
                self.changed.add(storage)
        if current:
            self._dtypes_by_holder[holder] = current
        else:
            self._dtypes_by_holder.pop(holder, None)

    def remove_holder(self, holder: str) -> None:
        for storage in self._dtypes_by_holder.pop(holder, {}):
            self._release_storage_from_holder(storage, holder)

    def clear_changed_storages(self) -> None:
        """Forget the changed storages after their holders were reported."""
        self.changed.clear()

    def clear_released_storages(self) -> None:
        """Forget the storages that lost a holder, after they were compared."""
        self.released.clear()

    def holders_of(self, storage: str) -> Iterable[str]:
        return self._dtypes_by_storage.get(storage, {})

    def dtypes_of_storage(self, storage: str) -> list[str]:
        """The dtypes with which a storage is read, in alphabetical order."""
        readers = self._dtypes_by_storage.get(storage, {}).values()
        return sorted({dtype for dtypes in readers for dtype in dtypes})

    def _release_storage_from_holder(self, storage: str, holder: str) -> None:
        readers = self._dtypes_by_storage[storage]
        del readers[holder]
        if holder[0] != "n":
            self.read_by_handles[storage] -= 1
            if not self.read_by_handles[storage]:
                del self.read_by_handles[storage]
        self.changed.add(storage)
        self.released.add(storage)
        if not readers:
            del self._dtypes_by_storage[storage]
