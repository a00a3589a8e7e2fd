"""Decides whose work the event loop does next: that of the network for which it has worked least, a few milliseconds at
a time."""

import asyncio
import heapq
import itertools
import logging
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar

from server.pool.fair_lock import FairLock
from server.pool.fair_queue import FairScheduler

ROUND_SECONDS = 0.004
"""Seconds in one round of the event loop during which new work is begun."""

ScheduledWork = Callable[[], bool | None]
"""The work of a turn. Returns True if most of it happens later; then nothing else is begun in this round."""

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger("gradbox.server")


class FairWorkScheduler:
    """Shares the event loop's time fairly among networks: a newcomer is next, whoever else has work waiting.

    clock: returns the processor seconds of this thread
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._scheduler = FairScheduler()
        self._thread = FairLock(sys.maxsize)  # one works at a time: each has Python's lock, which the event loop needs
        self._waiting: dict[str, deque[ScheduledWork]] = {}
        self._order: list[tuple[float, int, str]] = []  # a heap of (tag, arrival, network): those with work
        self._arrivals = itertools.count()
        self._running = False

    def add_work(self, network: str, work: ScheduledWork) -> None:
        """Do this work when it is the network's turn."""
        if network in self._waiting:
            self._waiting[network].append(work)
        else:
            self._waiting[network] = deque([work])
            self._push_network(network)
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._run_work_round)

    async def wait_for_turn(self, network: str) -> None:
        """Wait for this network's turn. The caller has to charge the network for what follows."""
        granted = asyncio.get_running_loop().create_future()
        self.add_work(network, partial(_grant_turn, granted))
        await granted

    def charge_network(self, network: str, seconds: float) -> None:
        """Charge a network for time that was spent on it."""
        self._scheduler.charge_flow(network, seconds)

    async def run_and_charge_network(self, network: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine and charge the network for each of its steps, including what it does by `work_in_thread`."""
        charge = partial(self.charge_network, network)
        _thread_turn.set(partial(self._work_in_thread, network))
        await MeteredCoroutine(work, charge, self._clock)

    async def _work_in_thread(self, network: str, function: Callable[[], T]) -> T:
        """Call a function in a thread when it is the network's turn; the network is charged."""
        seconds = 0.0

        def call_and_measure() -> T:
            nonlocal seconds
            began = time.thread_time()
            try:
                return function()
            finally:
                seconds = time.thread_time() - began

        try:
            async with self._thread.wait_for_turn([network]):
                return await asyncio.to_thread(call_and_measure)
        finally:
            self.charge_network(network, seconds)

    def _push_network(self, network: str) -> None:
        heapq.heappush(self._order, (self._scheduler.start_tag(network), next(self._arrivals), network))

    def _run_work_round(self) -> None:
        """Do the work that fits into a round, and schedule another round for the rest."""
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
        """Do the first work of a network. Returns whether most of it happens later."""
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


_thread_turn: ContextVar[Callable[[Callable[[], Any]], Awaitable[Any]]] = ContextVar("thread_turn")


async def work_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that computes in a thread and return its result. What serves a request waits for the turn of its
    network, which is charged for the processor time."""
    wait_for_turn = _thread_turn.get(None)
    if wait_for_turn is None:
        return await asyncio.to_thread(function, *args, **kwargs)
    result: T = await wait_for_turn(partial(function, *args, **kwargs))
    return result


class MeteredCoroutine:
    """Awaits a coroutine and reports how many seconds each of its steps took.

    clock: measures these seconds
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
