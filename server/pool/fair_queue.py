"""The queue for free workers: bounded, fair among clients and then among networks, first come first served within one."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable

from server.visitors.clients import Client
from server.wire.problems import Busy

AVERAGED_RUNS = 8
"""Runs that the moving average of their duration reaches back to, about."""

MAX_FLOWS = 1000
"""Flows whose service is remembered; with more of them, the virtual time moves on."""

log = logging.getLogger("gradbox.pool")


class FairScheduler:
    """Start-time fair queueing among flows, named by strings: the flow with the lowest start tag is next.

    A flow's start tag is the cost of what it was served, and never below the virtual time. So a newcomer is behind at
    most one request of each other flow, and a request that leaves unserved has cost its flow nothing.
    """

    def __init__(self) -> None:
        self._virtual_time = 0.0  # no waiting flow's start tag is below it
        self._served: dict[str, float] = {}  # finish tags last served; those up to the virtual time say nothing

    def start_tag(self, flow: str) -> float:
        """The tag that a flow's next request counts from."""
        return max(self._virtual_time, self._served.get(flow, 0.0))

    def finish_tags(self, flows: Iterable[str]) -> list[float]:
        """One tag for each waiting request of cost 1, given by their flows in order of arrival."""
        counts: Counter[str] = Counter()
        tags = []
        for flow in flows:
            counts[flow] += 1
            tags.append(self.start_tag(flow) + counts[flow])
        return tags

    def charge_flow(self, flow: str, cost: float) -> None:
        """Count what a flow was served."""
        self._served[flow] = self.start_tag(flow) + cost
        if len(self._served) > MAX_FLOWS:
            self._forget_flows_not_ahead()

    def advance_virtual_time(self, start_tag: float) -> None:
        """Move the virtual time on to this start tag, that of a request which is served now."""
        self._virtual_time = max(self._virtual_time, start_tag)

    def charge_first_request(self, flow: str, waiting: Iterable[str]) -> None:
        """Record that the first request of this flow is served, at a cost of 1. waiting: the flows of those that still wait.

        The virtual time moves on but passes no waiting flow, so that the order of the others stays as it was.
        """
        start = self.start_tag(flow)
        self.charge_flow(flow, 1)
        self.advance_virtual_time(min([start, *map(self.start_tag, waiting)]))

    def reset(self) -> None:
        """Begin anew, once nothing waits."""
        self._virtual_time = max(self._served.values(), default=self._virtual_time)
        self._served.clear()

    def _forget_flows_not_ahead(self) -> None:
        """Forget the flows that are not ahead. Where many are, the virtual time passes half of them: a stream of ever new
        flows would hold it up, and every flow's second request with it."""
        ahead = sorted(tag for tag in self._served.values() if tag > self._virtual_time)
        if len(ahead) > MAX_FLOWS // 2:
            self._virtual_time = ahead[len(ahead) // 2]
        self._served = {flow: tag for flow, tag in self._served.items() if tag > self._virtual_time}


class WorkerRequest:
    """One request for a worker, as an asynchronous context: entered once a worker is free, left when it is given back."""

    def __init__(self, queue: "FairQueue", client: Client, on_position: Callable[[int], None] | None) -> None:
        self._queue, self.client, self._on_position = queue, client, on_position
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._position: int | None = None
        self._granted_at = 0.0
        self.entered_at = 0.0
        """When it was entered, by the queue's clock."""

    async def __aenter__(self) -> None:
        self.entered_at = self._queue.clock()
        self._queue.enqueue(self)
        try:
            await self.granted
        except BaseException:
            self._queue.withdraw(self)
            raise
        self._granted_at = self._queue.clock()

    async def __aexit__(self, *_: object) -> None:
        self._queue.release_worker(self._queue.clock() - self._granted_at)

    def report_position(self, position: int) -> None:
        """Call `on_position` where the number of requests ahead has changed."""
        if position == self._position:
            return
        self._position = position
        if self._on_position is not None:
            try:
                self._on_position(position)
            except Exception:  # of one who waits; it must not reach the one whose run has just ended
                log.exception("can't report a waiting program's position")


class FairQueue:
    """At most `workers` requests served at once, and at most `limit` that wait.

    A client may fill a quarter of the queue and a network three quarters. classroom: a network may fill all of it.
    Where several networks fill it, a newcomer from another has the place of the last one of who waits most.
    clock: returns seconds.
    """

    def __init__(
        self, workers: int, limit: int, classroom: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._workers, self._limit, self.clock = workers, limit, clock
        self.client_limit = max(2, limit // 4)
        self._network_limit = limit if classroom else max(2, limit * 3 // 4)
        self._tickets: list[WorkerRequest] = []  # by arrival
        self._clients, self._networks = FairScheduler(), FairScheduler()
        self._running = 0
        self._completed, self._average = 0, 1.0  # requests, and the moving average of their seconds

    @property
    def waiting_count(self) -> int:
        """How many requests wait for a worker."""
        return len(self._waiting_requests())

    @property
    def longest_wait_seconds(self) -> float:
        """Seconds for which the oldest of those that wait has waited; 0 where none waits."""
        return max((self.clock() - ticket.entered_at for ticket in self._waiting_requests()), default=0.0)

    @property
    def is_full(self) -> bool:
        """Whether the next request would be refused, whoever sends it."""
        return self._running >= self._workers and self.waiting_count >= self._limit

    @property
    def running_count(self) -> int:
        """How many requests have a worker."""
        return self._running

    def create_request(self, client: Client, on_position: Callable[[int], None] | None = None) -> WorkerRequest:
        """A request for a worker, to be entered once. Entering it raises Busy at once where the queue is full.

        on_position: called with the number of requests ahead, as soon as it waits and each time that number changes.
        """
        return WorkerRequest(self, client, on_position)

    def enqueue(self, ticket: WorkerRequest) -> None:
        """Grant it now, or in its turn. Raises Busy."""
        if self._running >= self._workers:
            self._evict_request_if_full(ticket)
        self._tickets.append(ticket)
        self._grant_free_workers()

    def withdraw(self, ticket: WorkerRequest) -> None:
        """Take back a request that was not entered."""
        if ticket in self._tickets:
            self._tickets.remove(ticket)
        elif (
            not ticket.granted.cancelled() and ticket.granted.exception() is None
        ):  # it was granted in the same moment, and goes to the next
            self._running -= 1
        self._grant_free_workers()

    def release_worker(self, seconds: float) -> None:
        """Give back a worker that was used for so long."""
        self._completed += 1
        self._average += (seconds - self._average) / min(self._completed, AVERAGED_RUNS)
        self._running -= 1
        self._grant_free_workers()

    def _evict_request_if_full(self, ticket: WorkerRequest) -> None:
        """Take the last place of the network with the most, where the queue is full. Raises Busy."""
        waiting, client = self._waiting_requests(), ticket.client
        of_client = sum(other.client.id == client.id for other in waiting)
        networks = Counter(other.client.network for other in waiting)
        of_network = networks[client.network]
        if of_client >= self.client_limit or of_network >= self._network_limit:
            raise self._busy_error(ticket, waiting)
        if len(waiting) < self._limit:
            return
        largest, count = networks.most_common(1)[0]
        if count <= of_network + 1:
            raise self._busy_error(ticket, waiting)
        last = next(other for other in reversed(self._sort_by_turn(waiting)) if other.client.network == largest)
        self._tickets.remove(last)
        last.granted.set_exception(self._busy_error(last, waiting))

    def _busy_error(self, ticket: WorkerRequest, waiting: list[WorkerRequest]) -> Busy:
        """The answer to one who can't wait now. waiting: all who can."""
        others = [other for other in waiting if other is not ticket]
        position = self._sort_by_turn([*others, ticket]).index(ticket)
        return Busy(max(1.0, self._average * position / self._workers))

    def _grant_free_workers(self) -> None:
        """Grant the free workers, and report the positions of those that still wait."""
        self._tickets = self._waiting_requests()
        while self._tickets and self._running < self._workers:
            first = self._sort_by_turn(self._tickets)[0]
            self._tickets.remove(first)
            self._clients.charge_first_request(first.client.id, [ticket.client.id for ticket in self._tickets])
            self._networks.charge_first_request(
                first.client.network, [ticket.client.network for ticket in self._tickets]
            )
            self._running += 1
            first.granted.set_result(None)
        for position, ticket in enumerate(self._sort_by_turn(self._tickets)):
            ticket.report_position(position)

    def _waiting_requests(self) -> list[WorkerRequest]:
        """The queued tickets that have not just been cancelled."""
        return [ticket for ticket in self._tickets if not ticket.granted.done()]

    def _sort_by_turn(self, tickets: list[WorkerRequest]) -> list[WorkerRequest]:
        """By the client's tag, then the network's, then arrival."""
        clients = dict(zip(tickets, self._clients.finish_tags(ticket.client.id for ticket in tickets), strict=True))
        tickets = sorted(tickets, key=clients.__getitem__)
        networks = dict(
            zip(tickets, self._networks.finish_tags(ticket.client.network for ticket in tickets), strict=True)
        )
        return sorted(tickets, key=lambda ticket: (clients[ticket], networks[ticket]))
