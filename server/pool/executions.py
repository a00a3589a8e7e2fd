"""The executions of this server. Identical jobs share one, results are kept for a while, and an execution that nobody
waits for is ended."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from gradbox.wire.api import Job
from gradbox.wire.limits import Limit, ends_repeatably
from server.pool.askers import Asker, Askers
from server.pool.cache import ResultCache, result_cache_key
from server.pool.interface import PoolInterface, ReadTraceSoFar
from server.visitors.clients import Client

GRACE_SECONDS = 15.0
"""Seconds that an execution goes on without a reader."""

RETENTION_SECONDS = 300.0
"""Seconds for which a finished execution can be found by a subscription's id."""

SUBSCRIPTION_BYTES = 4096
"""Rough size in bytes of a subscription without its result."""


@dataclass(frozen=True)
class ExecutionResult:
    """The result of a run.

    body: the trace's JSON, gzipped
    status: the outcome's, or `cached`
    seconds: how long it took; 0 if it was cached
    limit: the one that ended it
    deterministic: whether the program gives the same result each time
    """

    status: str
    body: bytes
    seconds: float = 0.0
    limit: Limit | None = None
    deterministic: bool = True

    @property
    def may_have_ended_nondeterministically(self) -> bool:
        """Whether a clock, the machine or a person ended the run, so that the same program may end in another way next
        time."""
        return self.status != "cached" and not ends_repeatably(self.status, self.limit)


@dataclass
class Execution:
    """One job being run, shared by every client that asked for exactly this job. Subscriptions outlive the job, so it
    keeps no reference to it.

    ahead: jobs before it in the queue, -1 once it runs, None before that is known
    active: ids of the subscriptions that their clients have not stopped
    askers: the clients; the execution waits in the best place of any of them
    changed: set at each change, and replaced by a new event
    read_trace: of a program that runs, as far as it has run
    """

    key: str
    subscriptions: set[str] = field(default_factory=set)
    active: set[str] = field(default_factory=set)
    askers: Askers = field(default_factory=Askers)
    ahead: int | None = None
    result: ExecutionResult | None = None
    error: Exception | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    read_trace: ReadTraceSoFar | None = None

    @property
    def is_done(self) -> bool:
        return self.result is not None or self.error is not None

    def notify_waiters(self) -> None:
        """Wake everybody who waits for a change."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class Subscription:
    """One client's share in an execution.

    id: with it anybody may read and stop the execution
    asker: its place in the queue
    readers: requests that wait for it or listen to its events now
    """

    def __init__(self, execution: Execution, id_: str, asker: Asker | None = None) -> None:
        self.id = id_
        self.execution = execution
        self.asker = asker
        self.readers = 0
        self.last_read = 0.0  # in the event loop's time

    @property
    def state(self) -> str:
        """The state of the execution: queued, running or done."""
        if self.execution.is_done:
            return "done"
        return "running" if self.execution.ahead == -1 else "queued"

    def state_fields(self) -> dict[str, Any]:
        """The fields of `wire.api.RunState` that have a value now."""
        fields: dict[str, Any] = {"id": self.id, "state": self.state}
        if fields["state"] == "queued":
            fields["ahead"] = self.execution.ahead or 0
        if self.execution.result is not None:
            fields["status"] = self.execution.result.status
        return fields


class SharedResults(Protocol):
    """Results that several web processes keep for each other. Neither method raises, nor waits long."""

    async def get(self, key: str) -> bytes | None: ...

    async def put(self, key: str, body: bytes) -> None: ...


class Executions:
    """The runs of this process.

    capacity: bytes of finished results that can be asked for by id
    on_result: called with every result that was not cached
    shared_results: asked if the cache has nothing; it gets whatever the cache gets
    process_name: the name of this web process, with which the ids of its subscriptions begin; "" if there is no other
    """

    def __init__(
        self,
        pool: PoolInterface,
        cache: ResultCache,
        capacity: int,
        on_result: Callable[[Job, ExecutionResult], None],
        shared_results: SharedResults | None = None,
        process_name: str = "",
    ) -> None:
        self._pool, self._cache, self._capacity, self._on_result = pool, cache, capacity, on_result
        self._shared_results, self._process_name = shared_results, process_name
        self._sharing_tasks: set[asyncio.Task[None]] = set()
        self._executions: dict[str, Execution] = {}  # unfinished ones, by cache key
        self._subscriptions: dict[str, Subscription] = {}
        self._finished: OrderedDict[str, tuple[int, float]] = (
            OrderedDict()
        )  # subscription id -> (bytes, when it expires)
        self._finished_size = 0  # the sum of their bytes
        self._expiring: asyncio.TimerHandle | None = None

    async def find_cached_result(self, job: Job) -> ExecutionResult | None:
        """Find the result of an identical job that ran before, here or in another web process."""
        versions = self._pool.versions
        key = result_cache_key(job, versions) if versions else ""
        body = self._cache.get(key) if versions else None
        if body is None and versions and self._shared_results is not None:
            body = await self._shared_results.get(key)
            if body is not None:
                self._cache.put(key, body)
        return ExecutionResult("cached", body) if body is not None else None

    async def subscribe(self, job: Job, client: Client) -> Subscription:
        """Start the job, or join the execution of the same one. Raises WorkerQueueFull, and WorkersUnavailable."""
        key = result_cache_key(job, self._pool.versions)
        execution = self._executions.get(key)
        if execution is None or execution.stop.is_set():
            execution = self._executions[key] = Execution(key)
            execution.task = asyncio.create_task(self._run_execution(execution, job))
        asker = Asker(client)
        subscription = Subscription(execution, self._new_subscription_id(), asker)
        asker.on_refused = partial(self._refuse_subscription, subscription)
        self._subscriptions[subscription.id] = subscription
        execution.subscriptions.add(subscription.id)
        execution.active.add(subscription.id)
        execution.askers.join(asker)
        while (
            subscription.execution.ahead is None and not subscription.execution.is_done
        ):  # until the queue has answered
            await subscription.execution.changed.wait()
        if subscription.execution.error is not None:
            self._remove_subscription(subscription)
            raise subscription.execution.error
        return subscription

    def create_finished_subscription(self, result: ExecutionResult) -> Subscription:
        """Create a subscription for a result that exists already. It can be found by its id once it is retained."""
        return Subscription(Execution("", result=result), self._new_subscription_id())

    def find_subscription(self, id_: str) -> Subscription | None:
        return self._subscriptions.get(id_)

    def retain_subscription(self, subscription: Subscription, result: ExecutionResult) -> None:
        """Keep a finished subscription findable by its id for some minutes."""
        if subscription.id not in self._subscriptions:
            self._subscriptions[subscription.id] = subscription
            self._retain_finished_subscription(subscription.id, len(result.body))

    async def wait_for_result(self, subscription: Subscription) -> ExecutionResult:
        """Wait for the result as one of the subscription's readers. Raises the error that kept the job from running."""
        with self._counting_as_reader(subscription):
            while not subscription.execution.is_done:
                await subscription.execution.changed.wait()
        if subscription.execution.error is not None:
            raise subscription.execution.error
        assert subscription.execution.result is not None
        return subscription.execution.result

    async def read_trace_so_far(self, subscription: Subscription) -> bytes | None:
        """The gzipped trace of a program that still runs; None before its first step, and once it has ended."""
        read_trace = subscription.execution.read_trace
        return await read_trace() if read_trace is not None else None

    async def iterate_states(self, subscription: Subscription) -> AsyncIterator[dict[str, Any]]:
        """Yield the state now and after each change, until it is `done`."""
        with self._counting_as_reader(subscription):
            sent: dict[str, Any] | None = None
            while True:
                changed, current = subscription.execution.changed, subscription.state_fields()
                if current != sent:
                    sent = current
                    yield current
                if current["state"] == "done":  # it may have ended since
                    return
                await changed.wait()

    def stop_subscription(self, subscription: Subscription) -> None:
        """Stop a subscription for its client. If no other client wants the job, it ends and keeps what was recorded."""
        execution = subscription.execution
        execution.active.discard(subscription.id)
        if subscription.asker is not None:
            execution.askers.leave(subscription.asker)
        if not execution.active and not execution.is_done and not execution.stop.is_set():
            execution.stop.set()
            if execution.ahead != -1 and execution.task is not None:  # it still waits
                execution.task.cancel()

    def unsubscribe(self, subscription: Subscription) -> None:
        """Remove a subscription whose client has disconnected."""
        self.stop_subscription(subscription)
        self._remove_subscription(subscription)

    def unsubscribe_unless_read(self, subscription: Subscription) -> None:
        """Remove a subscription that nobody reads within `GRACE_SECONDS`."""
        loop = asyncio.get_running_loop()
        subscription.last_read = loop.time()

        def unsubscribe_if_unread() -> None:
            unread = loop.time() - subscription.last_read >= GRACE_SECONDS - 0.1
            if not subscription.readers and not subscription.execution.is_done and unread:
                self.unsubscribe(subscription)

        loop.call_later(GRACE_SECONDS, unsubscribe_if_unread)

    async def close(self) -> None:
        """End all executions."""
        tasks = [execution.task for execution in self._executions.values() if execution.task is not None]
        tasks += self._sharing_tasks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _counting_as_reader(self, subscription: Subscription) -> Iterator[None]:
        subscription.readers += 1
        try:
            yield
        finally:
            subscription.readers -= 1
            if not subscription.readers:
                if not subscription.execution.is_done:
                    self.unsubscribe_unless_read(subscription)
                elif subscription.id not in self._finished:  # it expired while it was read
                    self._subscriptions.pop(subscription.id, None)

    async def _run_execution(self, execution: Execution, job: Job) -> None:
        def on_position(ahead: int) -> None:
            execution.ahead = ahead
            execution.notify_waiters()

        def on_growing(read_trace: ReadTraceSoFar) -> None:
            execution.read_trace = read_trace

        try:
            try:
                trace = await self._pool.run_job(
                    job,
                    on_position=on_position,
                    stop=execution.stop,
                    askers=execution.askers,
                    on_growing=on_growing,
                )
            except asyncio.CancelledError:
                if not execution.stop.is_set():
                    raise
                trace = self._pool.cancelled_trace(job)
            execution.result = ExecutionResult(
                trace.status, trace.body, trace.seconds, trace.limit, trace.deterministic
            )
            if trace.cacheable:
                self._cache_result(result_cache_key(job, trace.versions), trace.body)
        except Exception as error:
            execution.error = error
        except asyncio.CancelledError:
            execution.error = ConnectionError("the server is going down")
            raise
        finally:
            self._finish_execution(execution, job)

    def _refuse_subscription(self, subscription: Subscription, error: Exception) -> None:
        """End a subscription whose place in the queue was given away. The execution goes on for the others."""
        execution = subscription.execution
        execution.subscriptions.discard(subscription.id)
        execution.active.discard(subscription.id)
        subscription.execution = Execution(execution.key, error=error)
        execution.notify_waiters()
        self._retain_finished_subscription(subscription.id, 0)

    def _new_subscription_id(self) -> str:
        token = secrets.token_urlsafe(16)
        return f"{self._process_name}.{token}" if self._process_name else token

    def _cache_result(self, key: str, body: bytes) -> None:
        self._cache.put(key, body)
        if self._shared_results is not None:
            sharing = asyncio.create_task(self._shared_results.put(key, body))
            self._sharing_tasks.add(sharing)
            sharing.add_done_callback(self._sharing_tasks.discard)

    def _finish_execution(self, execution: Execution, job: Job) -> None:
        if self._executions.get(execution.key) is execution:
            del self._executions[execution.key]
        execution.task = execution.read_trace = None
        execution.notify_waiters()
        for id_ in execution.subscriptions:
            self._retain_finished_subscription(id_, len(execution.result.body) if execution.result else 0)
        if execution.result is not None:
            self._on_result(job, execution.result)

    def _retain_finished_subscription(self, id_: str, size: int) -> None:
        loop = asyncio.get_running_loop()
        self._forget_finished_subscription(id_)
        self._finished[id_] = size + SUBSCRIPTION_BYTES, loop.time() + RETENTION_SECONDS
        self._finished_size += size + SUBSCRIPTION_BYTES
        while self._finished_size > self._capacity and len(self._finished) > 1:
            self._expire_subscription(next(iter(self._finished)))
        if self._expiring is None:
            self._expiring = loop.call_later(RETENTION_SECONDS, self._expire_old_subscriptions)

    def _expire_old_subscriptions(self) -> None:
        """Forget the subscriptions that have expired, and schedule the next check."""
        loop = asyncio.get_running_loop()
        self._expiring = None
        while self._finished:
            id_, (_, expires) = next(iter(self._finished.items()))
            if expires > loop.time():
                self._expiring = loop.call_at(expires, self._expire_old_subscriptions)
                return
            self._expire_subscription(id_)

    def _expire_subscription(self, id_: str) -> None:
        self._forget_finished_subscription(id_)
        subscription = self._subscriptions.get(id_)
        if subscription is not None and not subscription.readers:
            del self._subscriptions[id_]

    def _forget_finished_subscription(self, id_: str) -> None:
        size, _ = self._finished.pop(id_, (0, 0.0))
        self._finished_size -= size

    def _remove_subscription(self, subscription: Subscription) -> None:
        subscription.execution.subscriptions.discard(subscription.id)
        subscription.execution.active.discard(subscription.id)
        self._subscriptions.pop(subscription.id, None)
        self._forget_finished_subscription(subscription.id)
