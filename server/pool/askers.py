"""Those who wait for one run: others may join them, and any may leave, while it waits for a worker."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from server.visitors.clients import Client


@dataclass(eq=False)
class Asker:
    """One who waits for a run.

    id: its name in a queue on another machine
    on_refused: called with the error where the place of this one is given to another, though the run may go on
    """

    client: Client
    on_refused: Callable[[Exception], None] | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(8))


class Askers:
    """on_change: set by the queue in which the run waits, and called when one has joined or left."""

    def __init__(self, *askers: Asker) -> None:
        self._askers = {asker.id: asker for asker in askers}
        self.on_change: Callable[[], None] = _ignore_change

    @classmethod
    def of_client(cls, client: Client) -> "Askers":
        """This client alone."""
        return cls(Asker(client))

    def __iter__(self) -> Iterator[Asker]:
        """By when they came."""
        return iter(list(self._askers.values()))

    def __len__(self) -> int:
        return len(self._askers)

    def join(self, asker: Asker) -> None:
        """One more waits for the run."""
        self._askers[asker.id] = asker
        self.on_change()

    def leave(self, asker: Asker) -> None:
        """One of them does not wait for it any more."""
        if self._askers.pop(asker.id, None) is not None:
            self.on_change()

    def refuse(self, id_: str, error: Exception) -> None:
        """Tell the one of this id that it has no place any more. Changes nothing for the others."""
        asker = self._askers.pop(id_, None)
        if asker is not None and asker.on_refused is not None:
            asker.on_refused(error)


def _ignore_change() -> None:
    """What nobody queues needs to tell nobody."""
