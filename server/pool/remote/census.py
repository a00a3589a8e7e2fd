"""Which workers are alive and which runs wait, according to the broker. Polled once a second, and more often while a
run is awaited."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.pool.remote.broker import QUEUE_OF_DEVICE, Broker, BrokerError, CeleryWakeUpMessages, celery_list_key
from server.pool.remote.messages import WorkerRecord, parse_worker_records, queue_key_prefix, run_submission_time
from server.pool.remote.remote_run import RemoteRun, RunStreamReader
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.throttled_log import ThrottledLog

INTERVAL, IDLE_INTERVAL = 0.25, 1.0
"""Seconds between two polls: while a run is awaited, and otherwise."""

LOST_RUN_TIMEOUT = 5.0
"""Seconds without a heartbeat after which a run counts as lost. Workers send one each second."""

NO_WORKER_TIMEOUT = 30.0
"""Seconds without any worker after which a waiting run is refused."""

WORKERS_KEY = "gradbox:workers"
"""The set of the workers' names. `gradbox:worker:NAME` holds a worker's record for as long as it lives."""


throttled_log = ThrottledLog(logging.getLogger("gradbox.pool"))


@dataclass
class QueueState:
    """The state of one queue across all web processes.

    capacity: how many programs run at once
    longest_wait_seconds: how long the oldest waiting program has waited
    """

    limit: int
    network_limit: int
    running_count: int = 0
    waiting_count: int = 0
    capacity: int = 0
    longest_wait_seconds: float = 0.0
    unread_wake_ups: int = 0
    average_seconds: float = field(default=1.0)

    @property
    def client_limit(self) -> int:
        return max(2, self.limit // 4)

    @property
    def is_full(self) -> bool:
        """Whether the next run would be refused, whoever asks for it."""
        return self.running_count >= self.capacity and self.waiting_count >= self.limit

    def estimate_wait_seconds(self, waiting: int) -> float:
        """Estimate after how many seconds another try makes sense."""
        return max(1.0, self.average_seconds * waiting / max(1, self.capacity))


class QueueMonitor:
    """Counts workers, and tells each run its place in the queue or that it is lost.

    runs: the runs that this process waits for, by name
    """

    def __init__(
        self, broker: Broker, inbox: RunStreamReader, tokens: CeleryWakeUpMessages, settings: Settings
    ) -> None:
        self._broker, self._inbox, self._tokens = broker, inbox, tokens
        limit = settings.queue
        network_limit = limit if settings.classroom else max(2, limit * 3 // 4)
        self.queues = {name: QueueState(limit, network_limit) for name in QUEUE_OF_DEVICE.values()}
        self.runs: dict[str, RemoteRun] = {}
        self._queue_of: dict[str, str] = {}
        self.workers: list[WorkerRecord] = []
        self.versions: Mapping[str, str] = {}
        self.layers: Mapping[str, str] = {}
        self._counted_at = self._last_capacity_at = -1e9
        self._added = asyncio.Event()
        self.closed = False  # as of an inbox

    def watch_run(self, run: RemoteRun, queue: str) -> None:
        """Watch a run that was just submitted."""
        self.runs[run.id], self._queue_of[run.id] = run, queue
        self._added.set()

    async def poll_forever(self) -> None:
        """Poll until the census is closed. While the broker does not answer, nothing is known and no run counts as
        lost."""
        while not self.closed:
            try:
                if time.monotonic() - self._counted_at >= IDLE_INTERVAL:
                    await self._count_workers()
                    await self._poll_queues()
                    self._counted_at = time.monotonic()
                await self._poll_runs()
            except BrokerError:
                await asyncio.sleep(INTERVAL)
            except Exception as error:  # it goes on with the others
                throttled_log.error("the queue could not be polled", f"{type(error).__name__}: {error}")
                await asyncio.sleep(INTERVAL)
            self._added.clear()
            if not self.runs:
                try:
                    async with asyncio.timeout(max(0.0, self._counted_at + IDLE_INTERVAL - time.monotonic())):
                        await self._added.wait()
                except TimeoutError:
                    continue
            await asyncio.sleep(INTERVAL)

    async def _count_workers(self) -> None:
        self.workers, gone = await read_worker_records(self._broker)
        if gone:
            await self._broker.srem(WORKERS_KEY, *gone)
        at_work = [worker for worker in self.workers if not worker.draining]
        for name, queue in self.queues.items():
            queue.capacity = sum(worker.capacity for worker in at_work if worker.queue == name)
        counts: Counter[tuple[tuple[str, str], ...]] = Counter()
        for worker in at_work:
            counts[tuple(sorted(worker.versions.items()))] += worker.capacity
        if counts:
            self.versions = dict(max(counts.items(), key=lambda item: (item[1], item[0]))[0])
            self.layers = at_work[0].layers

    async def _poll_queues(self) -> None:
        for name, queue in self.queues.items():
            pipe = self._broker.pipeline(transaction=False)
            pipe.zcard(queue_key_prefix(name) + "waiting")
            pipe.zcard(queue_key_prefix(name) + "running")
            pipe.hkeys(queue_key_prefix(name) + "askers")
            pipe.llen(celery_list_key(name))
            queue.waiting_count, queue.running_count, runs, queue.unread_wake_ups = await pipe.execute()
            submitted = [at for run in runs if (at := run_submission_time(run)) is not None]
            queue.longest_wait_seconds = max(0.0, time.time() - min(submitted)) if submitted else 0.0
            if queue.waiting_count and not queue.unread_wake_ups and queue.running_count < queue.capacity:
                count = min(queue.waiting_count, queue.capacity - queue.running_count)
                await self._broker.lpush(
                    celery_list_key(name), *(self._tokens.create_message(name) for _ in range(count))
                )

    async def _poll_runs(self) -> None:
        runs = [run for run in self.runs.values() if not run.ended.is_set()]
        if not runs:
            return
        pipe = self._broker.pipeline(transaction=False)
        for run in runs:
            key = queue_key_prefix(self._queue_of.get(run.id, "cpu"))
            pipe.zrank(key + "waiting", run.id)
            pipe.zscore(key + "running", run.id)
        answers: list[Any] = await pipe.execute()
        for run, rank, score in zip(runs, answers[::2], answers[1::2], strict=True):
            await self._update_run_position(run, rank, score)
        self._queue_of = {name: queue for name, queue in self._queue_of.items() if name in self.runs}

    async def _update_run_position(self, run: RemoteRun, rank: int | None, score: float | None) -> None:
        now = time.monotonic()
        if rank is not None:
            run.last_seen = now
            if not run.started:
                run.on_position(rank)
            if self.queues[self._queue_of.get(run.id, "cpu")].capacity:
                self._last_capacity_at = now
            elif now - max(self._last_capacity_at, self._inbox.connected_since or now) > NO_WORKER_TIMEOUT:
                run.error = WorkersUnavailable("there is no worker now")
                run.ended.set()
        elif score is not None and score != run.heartbeat_score:
            run.last_seen, run.heartbeat_score = now, score
        connected = self._inbox.connected_since
        if connected is not None and now - max(run.last_seen, connected) > LOST_RUN_TIMEOUT:
            await self._inbox.read_rest_of_run(run.id)  # what it said may not be read yet
            if not run.ended.is_set() and now - run.last_seen > LOST_RUN_TIMEOUT:
                run.mark_lost()


async def read_worker_records(broker: Broker) -> tuple[list[WorkerRecord], list[bytes]]:
    """Read the workers that are alive, and the names of those that no longer are. Raises BrokerError."""
    names = list(await broker.smembers(WORKERS_KEY))
    records = await broker.mget([b"gradbox:worker:" + name for name in names]) if names else []
    gone = [name for name, record in zip(names, records, strict=True) if record is None]
    return parse_worker_records([record for record in records if record is not None]), gone
