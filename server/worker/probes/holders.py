"""Who reads which storage, and under which dtypes: handles, arrays, and nodes by what they saved."""

from collections.abc import Iterable


class Holders:
    """Kept by who tells it. changed: storages whose holders are not as they were. lost: those that lost one."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, tuple[str, ...]]] = {}
        self._by: dict[str, dict[str, tuple[str, ...]]] = {}
        self.changed: set[str] = set()
        self.lost: set[str] = set()

    def hold(self, who: str, what: Iterable[tuple[str, str]]) -> None:
        """`who` reads these (storage, dtype), and no others."""
        now: dict[str, tuple[str, ...]] = {}
        for storage, dtype in what:
            now[storage] = tuple(sorted({dtype, *now.get(storage, ())}))
        before = self._by.get(who, {})
        if now == before:
            return
        for storage in before.keys() - now.keys():
            self._let_go(storage, who)
        for storage, dtypes in now.items():
            if before.get(storage) != dtypes:
                self._of.setdefault(storage, {})[who] = dtypes
                self.changed.add(storage)
        if now:
            self._by[who] = now
        else:
            self._by.pop(who, None)

    def drop(self, who: str) -> None:
        for storage in self._by.pop(who, {}):
            self._let_go(storage, who)

    def of(self, storage: str) -> Iterable[str]:
        return self._of.get(storage, {})

    def dtypes(self, storage: str) -> list[str]:
        """The dtypes under which it is read, in alphabetical order."""
        readers = self._of.get(storage, {}).values()
        return sorted({dtype for dtypes in readers for dtype in dtypes})

    def _let_go(self, storage: str, who: str) -> None:
        readers = self._of[storage]
        del readers[who]
        self.changed.add(storage)
        self.lost.add(storage)
        if not readers:
            del self._of[storage]
