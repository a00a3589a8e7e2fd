"""Whose turn it is: a bounded line, fair among clients and then among addresses, first come first served within one."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

RECENT = 8
"""Turns that the estimate of their length reaches back to, about."""

REMEMBERED = 1000
"""Names whose latest turns are remembered; where there are more, time moves on."""

log = logging.getLogger("gradbox.pool")


@dataclass(frozen=True)
class Who:
    """Who asks: a client, and the address that it asks from."""

    client: str
    address: str


class Busy(Exception):
    """No room to wait in; come back in so many seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"too many programs are waiting; try again in {retry_after:.0f} s")
        self.retry_after = retry_after


class Fair:
    """Start-time fair queueing among names, where every turn weighs the same.

    The k-th who waits under a name has the tag `base + k`, and the lowest tag is next. So a newcomer is behind one of
    each other name at most, and one who leaves without a turn has cost its name nothing.
    """

    def __init__(self) -> None:
        self._now = 0  # the virtual time; no waiting name's base is below it
        self._last: dict[str, int] = {}  # tags of the latest turns, of those names that are ahead of it

    def base(self, name: str) -> int:
        return max(self._now, self._last.get(name, 0))

    def tags(self, names: Iterable[str]) -> list[int]:
        """The tags of those who wait under these names, given in the order that they have within a name."""
        counts: Counter[str] = Counter()
        tags = []
        for name in names:
            counts[name] += 1
            tags.append(self.base(name) + counts[name])
        return tags

    def serve(self, name: str, waiting: Iterable[str]) -> None:
        """The first of this name has its turn; `waiting` are the names of those who still wait.

        Time moves on with it but passes nobody who waits, so that the others' order stays as it was. Only where a
        stream of ever new names would hold time up, and the second programs of all others with it, it moves on anyway.
        """
        tag = self._last[name] = self.base(name) + 1
        now = min([tag - 1, *map(self.base, waiting)])
        if len(self._last) > REMEMBERED:
            now = max(now, self._now + 1)
        if now > self._now:
            self._now = now
            self._last = {name: tag for name, tag in self._last.items() if tag > now}


class Turn:
    """One program's turn, as a context: entered, it has come; left, it is the next one's."""

    def __init__(self, turns: "Turns", who: Who, told: Callable[[int], None] | None) -> None:
        self._turns, self.who, self._told = turns, who, told
        self.came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ahead: int | None = None
        self._began = 0.0

    async def __aenter__(self) -> None:
        self._turns.ask(self)
        try:
            await self.came
        except BaseException:
            self._turns.forget(self)
            raise
        self._began = self._turns.clock()

    async def __aexit__(self, *_: object) -> None:
        self._turns.end(self._turns.clock() - self._began)

    def tell(self, ahead: int) -> None:
        if ahead == self._ahead:
            return
        self._ahead = ahead
        if self._told is not None:
            try:
                self._told(ahead)
            except Exception:  # of one who waits; it must not reach the one whose turn has just ended
                log.exception("a waiting program can't be told its place")


class Turns:
    """At most `workers` turns at once, and at most `queue` who wait for one.

    Of these, a client may be a quarter and an address three quarters. classroom: an address may be all of them.
    clock: seconds.
    """

    def __init__(
        self, workers: int, queue: int, classroom: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._workers, self._queue, self.clock = workers, queue, clock
        self.share = max(2, queue // 4)
        self._address_share = queue if classroom else max(2, queue * 3 // 4)
        self._line: list[Turn] = []  # by arrival
        self._clients, self._addresses = Fair(), Fair()
        self._running = 0
        self._ended, self._length = 0, 1.0  # turns, and the moving average of their seconds

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting())

    @property
    def running(self) -> int:
        """How many have it."""
        return self._running

    def take(self, who: Who, told: Callable[[int], None] | None = None) -> Turn:
        """A turn, to be entered once. Entering it raises Busy, at once, where there is no room to wait in.

        told: called with how many are ahead, as soon as it waits and each time that changes.
        """
        return Turn(self, who, told)

    def ask(self, turn: Turn) -> None:
        """It comes now, or in time. Raises Busy."""
        if self._running >= self._workers:
            self._admit(turn)
        self._line.append(turn)
        self._settle()

    def forget(self, turn: Turn) -> None:
        """It is not wanted any more."""
        if turn in self._line:
            self._line.remove(turn)
        elif not turn.came.cancelled():  # it came in the same moment, and goes to the next
            self._running -= 1
        self._settle()

    def end(self, seconds: float) -> None:
        """One is over, after so long."""
        self._ended += 1
        self._length += (seconds - self._length) / min(self._ended, RECENT)
        self._running -= 1
        self._settle()

    def _admit(self, turn: Turn) -> None:
        line, who = self._waiting(), turn.who
        clients = sum(other.who.client == who.client for other in line)
        addresses = sum(other.who.address == who.address for other in line)
        if len(line) >= self._queue or clients >= self.share or addresses >= self._address_share:
            ahead = self._order([*line, turn]).index(turn)
            raise Busy(max(1.0, self._length * ahead / self._workers))

    def _settle(self) -> None:
        """Give away the turns that are free, and tell those who still wait where they are."""
        self._line = self._waiting()
        while self._line and self._running < self._workers:
            first = self._order(self._line)[0]
            self._line.remove(first)
            self._clients.serve(first.who.client, [turn.who.client for turn in self._line])
            self._addresses.serve(first.who.address, [turn.who.address for turn in self._line])
            self._running += 1
            first.came.set_result(None)
        for ahead, turn in enumerate(self._order(self._line)):
            turn.tell(ahead)

    def _waiting(self) -> list[Turn]:
        """Those in the line that have not just been cancelled."""
        return [turn for turn in self._line if not turn.came.done()]

    def _order(self, line: list[Turn]) -> list[Turn]:
        """By the client's tag, then the address's, then arrival."""
        clients = dict(zip(line, self._clients.tags(turn.who.client for turn in line), strict=True))
        line = sorted(line, key=clients.__getitem__)
        addresses = dict(zip(line, self._addresses.tags(turn.who.address for turn in line), strict=True))
        return sorted(line, key=lambda turn: (clients[turn], addresses[turn]))
