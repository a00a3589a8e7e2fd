"""Clients that wait for one run. While the run waits for a worker, clients can join or leave."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from server.visitors.clients import Client


@dataclass(eq=False)
class Asker:
    """A client that waits for a run.

    id: its name in a queue on another machine
    on_refused: called with the error when the queue gives this asker's place to another client; the run itself may go
        on
    """

    client: Client
    on_refused: Callable[[Exception], None] | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(8))


class Askers:
    """All clients that wait for one run.

    on_change: called when a client joins or leaves; set by the queue in which the run waits
    """

    def __init__(self, *askers: Asker) -> None:
        self._askers = {asker.id: asker for asker in askers}
        self.on_change: Callable[[], None] = _ignore_change

    @classmethod
    def of_client(cls, client: Client) -> "Askers":
        """Askers with a single client."""
        return cls(Asker(client))

    def __iter__(self) -> Iterator[Asker]:
        """Iterate over the askers in the order in which they joined."""
        return iter(list(self._askers.values()))

    def __len__(self) -> int:
        return len(self._askers)

    def join(self, asker: Asker) -> None:
        """Add an asker."""
        self._askers[asker.id] = asker
        self.on_change()

    def leave(self, asker: Asker) -> None:
        """Remove an asker, if it still waits."""
        if self._askers.pop(asker.id, None) is not None:
            self.on_change()

    def refuse(self, id_: str, error: Exception) -> None:
        """Remove the asker with this id and tell it that its place is gone. The others keep theirs."""
        asker = self._askers.pop(id_, None)
        if asker is not None and asker.on_refused is not None:
            asker.on_refused(error)


def _ignore_change() -> None:
    """The default of `on_change`, for a run that is in no queue."""
