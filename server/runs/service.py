"""Runs for clients: what they ask for is checked and limited, then run or found in the cache."""

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
"""Programs that may wait at the same time for a process to propose fixes of them."""


class RunsOfOtherProcesses(Protocol):
    """The runs that other web processes accepted: see `server.runs.relay.RunRelay`."""

    @property
    def process_name(self) -> str: ...

    def start(self, executions: Executions) -> None: ...

    async def find_run(self, run: str) -> Subscription | None: ...

    async def stop_run(self, run: str) -> bool: ...


class SharedState(Protocol):
    """What web processes share: see `server.cluster.parts.SharedState`. reachable: whether they do now."""

    @property
    def counts(self) -> LimitCounts: ...

    @property
    def results(self) -> SharedResults: ...

    @property
    def runs(self) -> RunsOfOtherProcesses: ...

    @property
    def reachable(self) -> bool: ...

    async def close(self) -> None: ...


class RunService:
    """Starts runs for visitors, and finds those that go on.

    executions: those of this process
    limits: of the runs that one visitor may ask for; a cached result counts as none, unless something is made of it
    live_limits: the same for runs that start while somebody types
    other_processes: the runs of other web processes; None if there are no others

    The lock `proposals` decides whose fixes are proposed next.
    """

    def __init__(
        self,
        settings: Settings,
        pool: PoolInterface,
        executions: Executions,
        limits: SharedRateLimiter,
        live_limits: SharedRateLimiter,
        other_processes: RunsOfOtherProcesses | None = None,
    ) -> None:
        self._settings, self._pool, self.executions = settings, pool, executions
        self.proposals = FairLock(MAX_PROPOSALS)
        self._limits, self._live_limits, self._other_processes = limits, live_limits, other_processes

    def create_job(self, body: RunRequest, check: GradientCheckOptions | None = None) -> Job:
        """The job that a request asks for. Raises ProblemError (413, 422).

        check: it compares gradients instead
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
        """A subscription to the run; where its result is cached, it is done. Raises ProblemError, RateLimited, Busy,
        WorkersUnavailable.

        count_cached: whether it then counts as a run
        check: the run compares gradients instead
        live: nobody pressed a button for it
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
        """The subscription of this id, whichever web process accepted it. Raises ProblemError (404)."""
        subscription = self.executions.find_subscription(id_)
        if subscription is None and self._other_processes is not None:
            subscription = await self._other_processes.find_run(id_)
        if subscription is None:
            raise run_not_found_error()
        return subscription

    async def stop_run(self, id_: str) -> None:
        """End a run, whichever web process accepted it. Raises ProblemError (404)."""
        subscription = self.executions.find_subscription(id_)
        if subscription is not None:
            self.executions.stop_subscription(subscription)
        elif self._other_processes is None or not await self._other_processes.stop_run(id_):
            raise run_not_found_error()

    async def wait_for_result(
        self, subscription: Subscription, disconnected: Disconnected, timeout: float | None = None
    ) -> ExecutionResult | None:
        """The result of a run; None where `timeout` seconds were not enough.

        A client that has gone loses its subscription; this then raises ClientDisconnected.
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
    """404 for an id that no run has."""
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
    """The runs of this process, whose results are counted and logged.

    shared: with other web processes
    """

    def on_result(job: Job, result: ExecutionResult) -> None:
        metrics.count_finished_run(job, result)
        log.log_finished_run(job, result, settings.log_programs)

    results, process = (shared.results, shared.runs.process_name) if shared is not None else (None, "")
    executions = Executions(pool, cache, settings.cache, on_result, results, process)
    other_processes = shared.runs if shared is not None else None
    return RunService(settings, pool, executions, limits.runs, limits.live_runs, other_processes)
