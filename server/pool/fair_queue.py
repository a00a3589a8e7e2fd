"""The queue for free workers: bounded, fair among networks by the seconds of their runs, and among clients within
one."""

import asyncio
import logging
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from server.pool.askers import Asker, Askers
from server.visitors.clients import Client
from server.wire.problems import WorkerQueueFull

AVERAGED_RUNS = 8
"""Runs that the moving average of their duration reaches back to, about."""

MAX_FLOWS = 1000
"""Flows whose service is remembered; with more of them, the virtual time moves on."""

EXPECTED_SECONDS = 1.0
"""Seconds that the first run of a network is expected to take, as long as no run of any network has ended."""

FORGOTTEN_SECONDS = 0.1
"""Seconds of run time that each network is forgiven every second, so that no network stays behind the others for ever.
"""

log = logging.getLogger("gradbox.pool")


class FairScheduler:
    """Start-time fair queueing among flows, named by strings: the flow with the lowest tag is next.

    A flow's start tag is the cost of what it was served, but never below the virtual time. A newcomer therefore waits
    behind at most one request of each other flow, and a request that leaves unserved costs its flow nothing.

    forgotten: how far the virtual time advances by itself in one second of the clock
    """

    def __init__(self, forgotten: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._forgotten, self._clock = forgotten, clock
        self._base = -forgotten * clock()
        self._served: dict[str, float] = {}  # finish tags last served; those up to the virtual time say nothing

    @property
    def virtual_time(self) -> float:
        """The virtual time. The start tag of a waiting flow is never below it."""
        return self._base + self._forgotten * self._clock()

    def start_tag(self, flow: str, entered: float | None = None) -> float:
        """The tag from which a flow's next request counts.

        entered: the virtual time when the request came; None for now
        """
        return max(self.virtual_time if entered is None else entered, self._served.get(flow, -math.inf))

    def charge_flow(self, flow: str, cost: float, entered: float | None = None) -> None:
        """FlowCharge a flow for what it was served.

        entered: see `start_tag`
        """
        self._served[flow] = self.start_tag(flow, entered) + cost
        if len(self._served) > MAX_FLOWS:
            self._forget_flows_not_ahead()

    def correct_charge(self, flow: str, cost: float) -> None:
        """Add a difference to what a flow was charged; negative if it was charged too much."""
        if flow in self._served:
            self._served[flow] += cost
        elif cost > 0:
            self.charge_flow(flow, cost)

    def advance_virtual_time(self, start_tag: float) -> None:
        """Advance the virtual time to the start tag of the request that is served now."""
        self._base += max(0.0, start_tag - self.virtual_time)

    def reset(self) -> None:
        """Start over once nothing waits."""
        self.advance_virtual_time(max(self._served.values(), default=self.virtual_time))
        self._served.clear()

    def _forget_flows_not_ahead(self) -> None:
        """Forget the flows that are not ahead of the virtual time. If many are ahead, the virtual time passes half of
        them: otherwise an endless stream of new flows would hold it up, and with it every flow's second request."""
        ahead = sorted(tag for tag in self._served.values() if tag > self.virtual_time)
        if len(ahead) > MAX_FLOWS // 2:
            self.advance_virtual_time(ahead[len(ahead) // 2])
        now = self.virtual_time
        self._served = {flow: tag for flow, tag in self._served.items() if tag > now}


class RunDurationEstimator:
    """How long a network's next run is expected to take: an average of its last runs in which the latest counts for
    half. For an unknown network it is the average of first runs.

    Networks that ask for quick programs therefore go before networks whose programs were long, and before newcomers if
    newcomers ask for long programs.
    """

    def __init__(self) -> None:
        self._averages: OrderedDict[str, float] = OrderedDict()
        self._of_newcomers = EXPECTED_SECONDS

    def estimate_for_network(self, network: str) -> float:
        """The expected duration in seconds."""
        return self._averages.get(network, self._of_newcomers)

    def count_run(self, network: str, seconds: float, was_cut_short: bool = False) -> None:
        """Count a finished run of a network.

        was_cut_short: the run would have taken longer than that
        """
        if was_cut_short and seconds < self.estimate_for_network(network):
            return
        if network not in self._averages:
            self._of_newcomers = (self._of_newcomers + seconds) / 2
        known = self._averages.pop(network, seconds)
        self._averages[network] = (known + seconds) / 2
        while len(self._averages) > MAX_FLOWS:
            self._averages.popitem(last=False)


@dataclass(eq=False)
class QueuePlace:
    """One asker's place in the queue. Several askers may have places for the same request.

    entered: the virtual times of networks and of clients when the asker came
    """

    asker: Asker
    request: "WorkerRequest"
    entered: "tuple[float, float]"

    def flow(self, level: int) -> str:
        """The flow that pays for it: the network, or at the lower level the client within that network."""
        client = self.asker.client
        return f"{client.network} {client.id}" if level else client.network

    @property
    def network(self) -> str:
        return self.asker.client.network


NETWORKS, CLIENTS = 0, 1
"""The two levels of fairness."""


class WorkerRequest:
    """A request for a worker, as an asynchronous context manager: entering waits for a free worker, leaving gives it
    back."""

    def __init__(self, queue: "FairQueue", askers: Askers, on_position: Callable[[int], None] | None) -> None:
        self._queue, self.askers, self._on_position = queue, askers, on_position
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._position: int | None = None
        self._granted_at = 0.0
        self.charges: list[FlowCharge] = []
        """What was charged for the request since it was granted."""
        self.was_cut_short = False
        """Set this if the work was ended before it was done."""
        self.entered_at = 0.0
        """The queue's clock when the request was granted."""

    async def __aenter__(self) -> Self:
        self.entered_at = self._queue.clock()
        self._queue.enqueue(self)
        self.askers.on_change = lambda: self._queue.update_places(self)
        try:
            await self.granted
        except BaseException:
            self._queue.withdraw(self)
            raise
        self._granted_at = self._queue.clock()
        self._queue.add_running(self)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.was_cut_short = self.was_cut_short or kind is not None
        self._queue.release_worker(self, self.elapsed_seconds)

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the request was granted."""
        return self._queue.clock() - self._granted_at

    def report_position(self, position: int) -> None:
        """Call `on_position` if the number of requests ahead has changed."""
        if position == self._position:
            return
        self._position = position
        if self._on_position is not None:
            try:
                self._on_position(position)
            except Exception:  # of one who waits; it must not reach the one whose run has just ended
                log.exception("can't report a waiting program's position")


@dataclass
class FlowCharge:
    """What a flow has been charged for one request so far.

    part: the share of the request's cost that this flow pays
    """

    level: int
    flow: str
    cost: float
    part: float


@dataclass
class QueueOrder:
    """The places in the order in which they are served.

    requests: the waiting requests, each at its best place
    """

    places: list[QueuePlace]
    requests: list[WorkerRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.requests = list(dict.fromkeys(place.request for place in self.places))


class FairQueue:
    """Serves at most `workers` requests at once; at most `limit` may wait.

    The network that has used the fewest seconds is next, counting what its next run is expected to take. Within a
    network the client is chosen by the same rule; a client's requests are served in order of arrival. A request waits
    in the best place of all who ask for it.

    A client may fill a quarter of the queue and a network three quarters. In a full queue that several networks share,
    a newcomer from another network gets the last place of the network that waits for most. Only the place is taken: the
    request goes on waiting if other askers have places for it.

    classroom: a single network may fill the whole queue
    clock: returns seconds
    """

    def __init__(
        self, workers: int, limit: int, classroom: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._workers, self._limit, self.clock = workers, limit, clock
        self.client_limit = max(2, limit // 4)
        self._network_limit = limit if classroom else max(2, limit * 3 // 4)
        self._places: list[QueuePlace] = []  # by arrival
        self._schedulers = FairScheduler(FORGOTTEN_SECONDS, clock), FairScheduler(FORGOTTEN_SECONDS, clock)
        self._expected = RunDurationEstimator()
        self._running = 0
        self._granted: set[WorkerRequest] = set()  # of those that run, the ones that have begun
        self._completed, self._average = 0, 1.0  # requests, and the moving average of their seconds

    @property
    def waiting_count(self) -> int:
        """How many requests wait for a worker."""
        return len(self._waiting_requests())

    @property
    def longest_wait_seconds(self) -> float:
        """Seconds for which the oldest waiting request has waited; 0 if none waits."""
        return max((self.clock() - request.entered_at for request in self._waiting_requests()), default=0.0)

    @property
    def is_full(self) -> bool:
        """Whether the next request would be refused, whoever sends it."""
        return self._running >= self._workers and self.waiting_count >= self._limit

    @property
    def running_count(self) -> int:
        """How many requests have a worker."""
        return self._running

    def create_request(
        self, askers: Askers | Client, on_position: Callable[[int], None] | None = None
    ) -> WorkerRequest:
        """Create a request for a worker, to be entered once. Entering it raises WorkerQueueFull at once if the queue is
        full.

        askers: who asks for it; others may join while it waits
        on_position: called with the number of requests ahead when it begins to wait and whenever that number changes
        """
        return WorkerRequest(self, askers if isinstance(askers, Askers) else Askers.of_client(askers), on_position)

    def enqueue(self, request: WorkerRequest) -> None:
        """Grant a request now or put it in the queue. Raises WorkerQueueFull if no asker gets a place."""
        error: WorkerQueueFull | None = None
        self._charge_running()
        for asker in request.askers:
            try:
                if self._running >= self._workers and not self._has_place(request):
                    self._make_room(asker.client)
                self._places.append(self._create_place(asker, request))
            except WorkerQueueFull as busy:
                error = busy
                request.askers.refuse(asker.id, busy)
        if not self._has_place(request):  # or all who asked have left by now
            raise error or WorkerQueueFull(1.0)
        self._grant_free_workers()

    def update_places(self, request: WorkerRequest) -> None:
        """Update a request's places after askers have joined or left. Without any askers it keeps its place until it is
        withdrawn."""
        if request.granted.done() or not len(request.askers):
            return
        known, asking = {place.asker for place in self._places if place.request is request}, set(request.askers)
        self._places += [self._create_place(asker, request) for asker in request.askers if asker not in known]
        self._places = [place for place in self._places if place.request is not request or place.asker in asking]
        self._grant_free_workers()

    def withdraw(self, request: WorkerRequest) -> None:
        """Remove a request that was not entered."""
        if self._has_place(request):
            self._remove_places(request)
        elif (
            not request.granted.cancelled() and request.granted.exception() is None
        ):  # it was granted in the same moment, and goes to the next
            self._running -= 1
            self._correct_charges(request, 0.0)
        self._grant_free_workers()

    def add_running(self, request: WorkerRequest) -> None:
        """Note that a request has a worker; from now on it is charged for the time."""
        self._granted.add(request)

    def release_worker(self, request: WorkerRequest, seconds: float) -> None:
        """Take back a worker that a request used for this many seconds."""
        self._completed += 1
        self._average += (seconds - self._average) / min(self._completed, AVERAGED_RUNS)
        self._running -= 1
        self._granted.discard(request)
        for charge in request.charges:
            if charge.level == NETWORKS:
                self._expected.count_run(charge.flow, seconds, request.was_cut_short)
        self._correct_charges(request, seconds)
        self._grant_free_workers()

    def _make_room(self, newcomer: Client) -> None:
        """In a full queue, take the last places of the network that waits for most until one is free. Raises
        WorkerQueueFull."""
        places = self._waiting_places()
        wanted = requests_by_network(places)
        of_client = len({place.request for place in places if place.asker.client.id == newcomer.id})
        waiting_of_network = len(wanted.get(newcomer.network, ()))
        if of_client >= self.client_limit or waiting_of_network >= self._network_limit:
            raise self._queue_full_error(newcomer, places)
        taken: list[QueuePlace] = []
        while len({place.request for place in places}) >= self._limit:
            largest = max(wanted, key=lambda network: len(wanted[network]), default=newcomer.network)
            if len(wanted.get(largest, ())) <= waiting_of_network + 1:
                raise self._queue_full_error(newcomer, places)
            request = self._choose_request_to_leave(largest, places)
            taken += [place for place in places if place.request is request and place.network == largest]
            places = [place for place in places if place.request is not request or place.network != largest]
            wanted = requests_by_network(places)
        for place in taken:
            self._take_place(place)

    def _choose_request_to_leave(self, network: str, places: list[QueuePlace]) -> WorkerRequest:
        """Choose the request that a network gives up: one that the fewest others want, and among these its last."""
        others = Counter(place.request for place in places if place.network != network)
        clients = Counter(place.request for place in places)
        mine = {place.request for place in places if place.network == network}
        in_order = [request for request in self._sort_by_turn(places).requests if request in mine]
        return min(reversed(in_order), key=lambda request: (others[request], clients[request]))

    def _take_place(self, place: QueuePlace) -> None:
        """Take an asker's place; withdraw the request if nobody else waits for it."""
        busy = self._queue_full_error(place.asker.client, self._waiting_places())
        self._places.remove(place)
        if not self._has_place(place.request):
            place.request.granted.set_exception(busy)
        place.request.askers.refuse(place.asker.id, busy)

    def _queue_full_error(self, client: Client, places: list[QueuePlace]) -> WorkerQueueFull:
        """The error for a client that can't wait now.

        places: those of all clients that do wait
        """
        request = WorkerRequest(self, Askers(), None)
        requests = self._sort_by_turn([*places, self._create_place(Asker(client), request)]).requests
        return WorkerQueueFull(max(1.0, self._average * requests.index(request) / self._workers))

    def _grant_free_workers(self) -> None:
        """Give free workers to the next requests, and report the positions of those that still wait."""
        self._places = self._waiting_places()
        self._charge_running()
        while self._places and self._running < self._workers:
            order = self._sort_by_turn(self._places)
            first, request = order.places[0], order.requests[0]
            self._remove_places(request)
            self._charge_in_advance(first, [place for place in order.places if place.request is request])
            self._running += 1
            request.granted.set_result(None)
        for position, request in enumerate(self._sort_by_turn(self._places).requests):
            request.report_position(position)

    def _charge_in_advance(self, first: QueuePlace, places: list[QueuePlace]) -> None:
        """FlowCharge a request's askers, in equal parts, for the time that it is expected to take.

        The virtual time advances, but passes nobody who still waits, so the order of the others stays the same.

        first: the best of the places
        """
        for level, scheduler in enumerate(self._schedulers):
            start = scheduler.start_tag(first.flow(level), first.entered[level])
            flows = {place.flow(level): place for place in reversed(places)}
            for flow, place in flows.items():
                cost = self._expected.estimate_for_network(place.network) / len(flows)
                first.request.charges.append(FlowCharge(level, flow, cost, 1 / len(flows)))
                scheduler.charge_flow(flow, cost, place.entered[level])
            waiting = (scheduler.start_tag(place.flow(level), place.entered[level]) for place in self._places)
            scheduler.advance_virtual_time(min([start, *waiting]))

    def _charge_running(self) -> None:
        """FlowCharge the askers of running requests for the time used so far, where it exceeds what was expected."""
        for request in self._granted:
            for charge in request.charges:
                cost = request.elapsed_seconds * charge.part
                if cost > charge.cost:
                    self._schedulers[charge.level].correct_charge(charge.flow, cost - charge.cost)
                    charge.cost = cost

    def _correct_charges(self, request: WorkerRequest, seconds: float) -> None:
        """Replace the charge for the expected time by a charge for the time that the request took."""
        for charge in request.charges:
            self._schedulers[charge.level].correct_charge(charge.flow, seconds * charge.part - charge.cost)
        request.charges = []

    def _create_place(self, asker: Asker, request: WorkerRequest) -> QueuePlace:
        networks, clients = self._schedulers
        return QueuePlace(asker, request, (networks.virtual_time, clients.virtual_time))

    def _waiting_places(self) -> list[QueuePlace]:
        """The places whose requests have not just been cancelled."""
        return [place for place in self._places if not place.request.granted.done()]

    def _waiting_requests(self) -> set[WorkerRequest]:
        return {place.request for place in self._waiting_places()}

    def _has_place(self, request: WorkerRequest) -> bool:
        return any(place.request is request for place in self._places)

    def _remove_places(self, request: WorkerRequest) -> None:
        self._places = [place for place in self._places if place.request is not request]

    def _sort_by_turn(self, places: list[QueuePlace]) -> QueueOrder:
        """Sort places by their network's tag, then by their client's tag, then by arrival.

        places: in order of arrival
        """
        clients = self._finish_tags(CLIENTS, places)
        networks = self._finish_tags(NETWORKS, sorted(places, key=clients.__getitem__))
        return QueueOrder(sorted(places, key=networks.__getitem__))

    def _finish_tags(self, level: int, places: list[QueuePlace]) -> dict[QueuePlace, float]:
        """The finish tag of each place: what its flow will have been charged once this request and all its earlier ones
        are served.

        places: in the order in which a flow's requests are served, each once
        """
        scheduler, tags = self._schedulers[level], {}
        last: dict[str, float] = {}
        counted: dict[tuple[str, WorkerRequest], float] = {}
        for place in places:
            flow = place.flow(level)
            if (flow, place.request) not in counted:
                start = max(scheduler.start_tag(flow, place.entered[level]), last.get(flow, -math.inf))
                last[flow] = counted[flow, place.request] = start + self._expected.estimate_for_network(place.network)
            tags[place] = counted[flow, place.request]
        return tags


def requests_by_network(places: list[QueuePlace]) -> dict[str, set[WorkerRequest]]:
    """The requests that each network waits for."""
    wanted: dict[str, set[WorkerRequest]] = {}
    for place in places:
        wanted.setdefault(place.network, set()).add(place.request)
    return wanted
