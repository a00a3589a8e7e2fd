"""Runs for clients: checks and limits each request, then runs the program or finds its result in the cache."""

import asyncio
from typing import Protocol

from gradbox.wire.api import Job, RunRequest
from gradbox.wire.gradient_check import GradientCheckOptions
from server.http.response_delivery import ClientDisconnected, Disconnected
from server.operating import log
from server.operating.metrics import Metrics
from server.pool.cache import ResultCache
from server.pool.executions import ExecutionResult, Executions, SharedResults, Subscription
from server.pool.fair_lock import FairLock
from server.pool.interface import PoolInterface
from server.settings import Settings
from server.visitors.clients import Client
from server.visitors.rate_limits import LimitCounts, SharedRateLimiter
from server.visitors.visitors import VisitorLimits
from server.wire.problems import ProblemError

MAX_PROPOSALS = 32
"""How many programs may wait at the same time for a process to propose fixes."""


class PeerRuns(Protocol):
    """The runs that other web processes accepted: see `server.runs.peer_runs.BrokerPeerRuns`."""

    @property
    def process_name(self) -> str: ...

    def start_answering(self, executions: Executions) -> None: ...

    async def find_run(self, run: str) -> Subscription | None: ...

    async def stop_run(self, run: str) -> bool: ...


class SharedState(Protocol):
    """What web processes share: see `server.cluster.factories.SharedState`.

    reachable: whether the broker answers now
    """

    @property
    def counts(self) -> LimitCounts: ...

    @property
    def results(self) -> SharedResults: ...

    @property
    def runs(self) -> PeerRuns: ...

    @property
    def reachable(self) -> bool: ...

    async def close(self) -> None: ...


class RunService:
    """Starts runs for visitors, and finds them again.

    The lock `proposals` decides whose fixes are proposed next.

    executions: those of this process
    limits: how many runs one visitor may ask for; a cached result does not count, unless something is made of it
    live_limits: the same for runs that start while somebody types
    peer_runs: the runs of other web processes; None if there are no others
    """

    def __init__(
        self,
        settings: Settings,
        pool: PoolInterface,
        executions: Executions,
        limits: SharedRateLimiter,
        live_limits: SharedRateLimiter,
        peer_runs: PeerRuns | None = None,
    ) -> None:
        self._settings, self._pool, self.executions = settings, pool, executions
        self.proposals = FairLock(MAX_PROPOSALS)
        self._limits, self._live_limits, self._peer_runs = limits, live_limits, peer_runs

    def create_job(self, body: RunRequest, check: GradientCheckOptions | None = None) -> Job:
        """Create the job that a request asks for. Raises ProblemError (413, 422).

        check: the job compares gradients instead of recording steps
        """
        size = len(body.source.encode("utf-8", "surrogatepass"))
        if size > self._settings.source:
            message = f"the program has {size} bytes; {self._settings.source} are allowed"
            raise ProblemError(413, "too_large", message, field="source")
        if body.device not in self._pool.devices:
            message = f"this server has no {body.device} worker: {self._pool.unavailable_reason(body.device)}"
            raise ProblemError(422, "no_device", message, field="device")
        source = body.source.encode("utf-8", "replace").decode()
        lines = body.input.encode("utf-8", "replace").decode()
        limits = self._settings.run_limits()
        return Job(
            source=source, device=body.device, seed=body.seed, limits=limits, focus=body.focus, input=lines, check=check
        )  # fmt: skip

    async def find_cached_result(self, body: RunRequest) -> ExecutionResult | None:
        """The result of an earlier run, where it is still cached. Raises ProblemError."""
        return await self.executions.find_cached_result(self.create_job(body))

    async def start_run(
        self,
        body: RunRequest,
        client: Client,
        count_cached: bool = False,
        check: GradientCheckOptions | None = None,
        live: bool = False,
    ) -> Subscription:
        """Return a subscription to the run; if its result is cached, the subscription is done. Raises ProblemError,
        RateLimited, WorkerQueueFull and WorkersUnavailable.

        count_cached: whether a cached result counts as a run
        check: the run compares gradients instead of recording steps
        live: the run was started by typing, not by a button
        """
        if live and self._settings.live_mode == "off":
            raise ProblemError(403, "live_off", "this host does not run programs while they are typed", field="live")
        job = self.create_job(body, check)
        result = await self.executions.find_cached_result(job)
        if result is None or count_cached:
            await (self._live_limits if live else self._limits).count_request(client)
        if result is not None:
            return self.executions.create_finished_subscription(result)
        return await self.executions.subscribe(job, client)

    async def find_subscription(self, id_: str) -> Subscription:
        """Find the subscription with this id, whichever web process accepted it. Raises ProblemError (404)."""
        subscription = self.executions.find_subscription(id_)
        if subscription is None and self._peer_runs is not None:
            subscription = await self._peer_runs.find_run(id_)
        if subscription is None:
            raise run_not_found_error()
        return subscription

    async def stop_run(self, id_: str) -> None:
        """End a run, whichever web process accepted it. Raises ProblemError (404)."""
        subscription = self.executions.find_subscription(id_)
        if subscription is not None:
            self.executions.stop_subscription(subscription)
        elif self._peer_runs is None or not await self._peer_runs.stop_run(id_):
            raise run_not_found_error()

    async def wait_for_result(
        self, subscription: Subscription, disconnected: Disconnected, timeout: float | None = None
    ) -> ExecutionResult | None:
        """Wait for the result of a run; None if `timeout` seconds are not enough.

        If the client disconnects, its subscription is removed and ClientDisconnected is raised.
        """
        if subscription.execution.result is not None:
            return subscription.execution.result
        waiting = asyncio.ensure_future(self.executions.wait_for_result(subscription))
        watching = asyncio.ensure_future(disconnected())
        try:
            await asyncio.wait((waiting, watching), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return await waiting
            if watching.done():
                self.executions.unsubscribe(subscription)
                raise ClientDisconnected
            return None
        finally:
            watching.cancel()
            waiting.cancel()


def run_not_found_error() -> ProblemError:
    """The 404 error for an unknown run id."""
    message = "there is no such run; a finished one is kept for some minutes"
    return ProblemError(404, "no_run", message, field="id")


def create_run_service(
    settings: Settings,
    pool: PoolInterface,
    cache: ResultCache,
    limits: VisitorLimits,
    metrics: Metrics,
    shared: SharedState | None,
) -> RunService:
    """Create the service for the runs of this process, whose results are counted and logged.

    shared: what is shared with other web processes
    """

    def on_result(job: Job, result: ExecutionResult) -> None:
        metrics.count_finished_run(job, result)
        log.log_finished_run(job, result, settings.log_programs)

    results, process = (shared.results, shared.runs.process_name) if shared is not None else (None, "")
    executions = Executions(pool, cache, settings.cache, on_result, results, process)
    peer_runs = shared.runs if shared is not None else None
    return RunService(settings, pool, executions, limits.runs, limits.live_runs, peer_runs)
