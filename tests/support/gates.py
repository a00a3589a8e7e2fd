"""Programs for the stand-in recorder that end when a test says so, not after a time that a slow machine has long spent
elsewhere."""

import itertools
from pathlib import Path

numbers = itertools.count()


class Gate:
    """A program that runs until the gate is opened.

    chance: every run of it gives another result. path: what exists once it is open.
    """

    def __init__(self, folder: Path, *, chance: bool = False) -> None:
        self._folder = folder / f"gate-{next(numbers)}"
        self._folder.mkdir()
        self.path = self._folder / "open"
        self.source = f"{'chance' if chance else 'same'}_until {self.path}"

    @property
    def runs(self) -> int:
        """How many runs of it have begun."""
        return sum(path.name.startswith("run-") for path in self._folder.iterdir())

    @property
    def has_begun(self) -> bool:
        return self.runs > 0

    def open(self) -> None:
        """Let the runs end, also those to come. Needs no descriptor."""
        self.path.mkdir(exist_ok=True)
