"""The server's metrics, for Prometheus."""

import asyncio
from functools import partial
from operator import attrgetter
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.samples import Sample

from gradbox.wire.api import Job
from server.http.fair_work_scheduler import work_in_thread
from server.pool.cache import ResultCache
from server.pool.executions import ExecutionResult
from server.pool.interface import PoolInterface
from server.store.health import StoreHealth
from server.store.repository import StoreTotals

DURATION_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
REQUEST_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class SharedStateHealth(Protocol):
    """The state of what web processes share.

    reachable: whether the broker answers now
    """

    @property
    def reachable(self) -> bool: ...


class Metrics:
    """The metrics of one server.

    quota: the store's quota in bytes
    shared: the state of what web processes share; None if there is only one
    """

    def __init__(
        self,
        pool: PoolInterface,
        cache: ResultCache,
        health: StoreHealth,
        quota: int,
        shared: SharedStateHealth | None = None,
    ) -> None:
        registry = self._registry = CollectorRegistry()
        self._gauges = CollectorRegistry()  # these belong to the event loop, so no other thread may read them
        ProcessCollector(registry=registry)
        self._runs = Counter("gradbox_runs", "Runs, by outcome.", ("status", "device"), registry=registry)
        self._limits = Counter("gradbox_limits", "Runs that were stopped by a limit.", ("limit",), registry=registry)
        self._seconds = Histogram(
            "gradbox_run_seconds", "Duration of runs.", buckets=DURATION_BUCKETS, registry=registry
        )
        self._refused = Counter("gradbox_refused", "Requests for a run that were refused.", ("why",), registry=registry)
        self._saves = Counter("gradbox_saves", "Programs saved.", registry=registry)
        self._saves_refused = Counter(
            "gradbox_saves_refused", "Requests to save a program that were refused.", ("why",), registry=registry
        )
        self._sign_ins_failed = Counter("gradbox_failed_sign_ins", "Sign-ins with a wrong password.", registry=registry)
        self._requests = Histogram(
            "gradbox_http_request_seconds",
            "Time until the answer to a request begins; status none: its client left before.",
            ("method", "route", "status"),
            buckets=REQUEST_BUCKETS,
            registry=registry,
        )
        self._turn = asyncio.Lock()
        self._add_gauges(pool, cache, health, quota)
        self._add_queue_gauges(pool)
        if shared is not None:
            sentence = "Whether rate limits and results are shared with the other web processes now (1) or not (0)."
            Gauge("gradbox_shared_reachable", sentence, registry=self._gauges).set_function(
                lambda: int(shared.reachable)
            )

    def _add_gauges(self, pool: PoolInterface, cache: ResultCache, health: StoreHealth, quota: int) -> None:
        """Add the gauges whose values are read from the services at each collection."""

        def known_store_totals() -> StoreTotals:
            return health.state.totals or StoreTotals()

        for name, sentence, ask in (
            ("spare_children", "Idle worker processes.", lambda: pool.spare_count),
            ("ready", "Whether a program would be run now (1) or not (0).", lambda: int(pool.is_ready)),
            ("boots", "Starts of the workers' first process.", lambda: pool.boot_count),
            ("cache_hits", "Runs answered from the cache.", lambda: cache.hits),
            ("cache_misses", "Runs whose result was not in the cache.", lambda: cache.misses),
            ("cache_bytes", "Size of the cached results in bytes.", lambda: cache.size),
            (
                "store_reachable",
                "Whether the database answered the last query (1) or not (0).",
                lambda: int(bool(health.state.reachable)),
            ),
            ("scenarios", "Saved programs.", lambda: known_store_totals().programs),
            (
                "scenarios_removed",
                "Saved programs that were removed by the host.",
                lambda: known_store_totals().removed,
            ),
            ("scenario_bytes", "Size of all saved programs and series in bytes.", lambda: known_store_totals().size),
            ("scenario_bytes_allowed", "GRADBOX_QUOTA, in bytes.", lambda: quota),
        ):
            Gauge(f"gradbox_{name}", sentence, registry=self._gauges).set_function(ask)

    def _add_queue_gauges(self, pool: PoolInterface) -> None:
        for name, sentence, of in (
            ("waiting", "Programs in the queue.", attrgetter("waiting_count")),
            (
                "queue_age_seconds",
                "Time that the oldest program in the queue has waited.",
                attrgetter("longest_wait_seconds"),
            ),
            ("running", "Programs that are running.", attrgetter("running_count")),
        ):
            by_queue = Gauge(f"gradbox_{name}", sentence, ("queue",), registry=self._gauges)
            for label, queue in pool.queues.items():
                by_queue.labels(label).set_function(partial(of, queue))

    def count_finished_run(self, job: Job, result: ExecutionResult) -> None:
        """Count a run by its outcome."""
        self._runs.labels(result.status, job.device).inc()
        self._seconds.observe(result.seconds)
        if result.limit is not None:
            self._limits.labels(result.limit).inc()

    def count_refused_run(self, why: str) -> None:
        """Count a refused request for a run: busy, limited or no_worker."""
        self._refused.labels(why).inc()

    def count_refused_save(self, why: str) -> None:
        """Count a refusal to save a program: limited, too_large, full, removed or no_store."""
        self._saves_refused.labels(why).inc()

    def count_saved_program(self) -> None:
        self._saves.inc()

    def count_answered_request(self, method: str, route: str, status: str, seconds: float) -> None:
        """Count a request.

        route: the route's template
        status: the class of the status, like 2xx; `none` if there was no response
        """
        self._requests.labels(method, route, status).observe(seconds)

    def count_failed_sign_in(self) -> None:
        self._sign_ins_failed.inc()

    def counts_by_label(self, name: str) -> dict[str, int]:
        """Return a counter's values by its first label; by "" if it has no label."""
        counts: dict[str, int] = {}
        for sample in self._collect_samples(self._registry, f"gradbox_{name}_total"):
            label = next(iter(sample.labels.values()), "")
            counts[label] = counts.get(label, 0) + int(sample.value)
        return counts

    def gauge_value(self, name: str) -> float:
        """Return the present value of a gauge."""
        return next((sample.value for sample in self._collect_samples(self._gauges, f"gradbox_{name}")), 0.0)

    async def prometheus_text(self) -> bytes:
        """Return all metrics as text. A thread makes one text at a time, because the histograms of all routes take
        milliseconds."""
        async with self._turn:
            return generate_latest(self._gauges) + await work_in_thread(generate_latest, self._registry)

    @staticmethod
    def _collect_samples(registry: CollectorRegistry, name: str) -> list[Sample]:
        """Return the samples with this name, without collecting other metrics."""
        families = registry.restricted_registry([name]).collect()
        return [sample for family in families for sample in family.samples if sample.name == name]
