"""Whose work the event loop does next: that of the network for which it worked least, a few milliseconds at a time."""

import asyncio
import heapq
import itertools
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

from server.pool.fair_queue import FairScheduler

ROUND_SECONDS = 0.004
"""Seconds of one round of the event loop in which work is begun."""

TurnWork = Callable[[], bool | None]
"""What is done in a turn. Returns True where most of it comes after: then nothing else is begun in this round."""

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("gradbox.server")


class FairTurns:
    """The event loop's time, shared fairly among networks: a newcomer is next, whoever else has work waiting.

    clock: processor seconds of this thread
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._scheduler = FairScheduler()
        self._waiting: dict[str, deque[TurnWork]] = {}
        self._order: list[tuple[float, int, str]] = []  # a heap of (tag, arrival, network): those with work
        self._arrivals = itertools.count()
        self._running = False

    def add_work(self, network: str, work: TurnWork) -> None:
        """Do this when it is this network's turn."""
        if network in self._waiting:
            self._waiting[network].append(work)
        else:
            self._waiting[network] = deque([work])
            self._push_network(network)
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._run_work_round)

    async def wait_for_turn(self, network: str) -> None:
        """Wait for this network's turn. What follows has to be charged."""
        granted = asyncio.get_running_loop().create_future()
        self.add_work(network, partial(_grant_turn, granted))
        await granted

    def charge_network(self, network: str, seconds: float) -> None:
        """Count time that was spent for a network."""
        self._scheduler.charge_flow(network, seconds)

    async def run_and_charge_network(self, network: str, work: Coroutine[Any, Any, None]) -> None:
        """Do this, and charge the network for each of its steps, and for what it does by `work_in_thread`."""
        charge = partial(self.charge_network, network)
        _charge.set(charge)
        await MeteredCoroutine(work, charge, self._clock)

    def _push_network(self, network: str) -> None:
        heapq.heappush(self._order, (self._scheduler.start_tag(network), next(self._arrivals), network))

    def _run_work_round(self) -> None:
        """Do what fits into a round, and come back for the rest."""
        until = time.perf_counter() + ROUND_SECONDS
        while self._order:
            tag, arrival, network = heapq.heappop(self._order)
            tag_now = self._scheduler.start_tag(network)
            if tag_now > tag:  # it was charged since
                heapq.heappush(self._order, (tag_now, arrival, network))
                continue
            self._scheduler.advance_virtual_time(tag)
            if self._run_first_work(network) or time.perf_counter() > until:
                break
        if self._order:
            asyncio.get_running_loop().call_soon(self._run_work_round)
        else:
            self._running = False
            self._scheduler.reset()

    def _run_first_work(self, network: str) -> bool:
        """Do the first work of a network; whether most of it comes after."""
        works = self._waiting[network]
        work, began = works.popleft(), self._clock()
        try:
            return bool(work())
        except Exception:
            log.exception("work of a connection")
            return False
        finally:
            self.charge_network(network, self._clock() - began)
            if works:
                self._push_network(network)
            else:
                del self._waiting[network]


_charge: ContextVar[Callable[[float], None]] = ContextVar("charge")


async def work_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function returns, called in a thread. The network whose request this is for is charged for its processor
    time."""
    seconds = 0.0

    def call_and_measure() -> T:
        nonlocal seconds
        began = time.thread_time()
        try:
            return function(*args, **kwargs)
        finally:
            seconds = time.thread_time() - began

    try:
        return await asyncio.to_thread(call_and_measure)
    finally:
        charge = _charge.get(None)
        if charge is not None:
            charge(seconds)


class MeteredCoroutine:
    """Awaits a coroutine, and reports the seconds that each of its steps took.

    clock: of these seconds
    """

    def __init__(
        self, work: Coroutine[Any, Any, None], charge: Callable[[float], None], clock: Callable[[], float]
    ) -> None:
        self._work, self._charge, self._clock = work, charge, clock

    def __await__(self) -> Generator[Any, Any, None]:
        step: Callable[[Any], Any] = self._work.send
        value: Any = None
        while True:
            began = self._clock()
            try:
                awaited = step(value)
            except StopIteration:
                return
            finally:
                self._charge(self._clock() - began)
            try:
                step, value = self._work.send, (yield awaited)
            except BaseException as error:  # the task is cancelled
                step, value = self._work.throw, error


def _grant_turn(turn: "asyncio.Future[None]") -> bool:
    if turn.done():  # who waited was cancelled
        return False
    turn.set_result(None)
    return True
