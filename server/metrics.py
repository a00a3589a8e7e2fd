"""What the server counts of itself, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from server.pool.cache import Cache
from server.pool.executions import Result
from server.pool.local import Pool
from server.store.health import StoreHealth
from server.store.repository import StoreTotals
from server.wire.api import Job

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """One server's figures."""

    def __init__(self, pool: Pool, cache: Cache, health: StoreHealth, quota: int) -> None:
        registry = self._registry = CollectorRegistry()

        def held() -> StoreTotals:
            return health.state.held or StoreTotals()

        self._runs = Counter("gradbox_runs", "Programs run, by outcome.", ("status", "device"), registry=registry)
        self._limits = Counter("gradbox_limits", "Runs that a limit ended.", ("limit",), registry=registry)
        self._seconds = Histogram("gradbox_run_seconds", "Seconds of a run.", buckets=SECONDS, registry=registry)
        self._refused = Counter("gradbox_refused", "Requests for a run sent away.", ("why",), registry=registry)
        self._saves = Counter("gradbox_saves", "Scenarios saved.", registry=registry)
        self._saves_refused = Counter(
            "gradbox_saves_refused", "Scenarios that were not saved.", ("why",), registry=registry
        )
        self._sign_ins_failed = Counter("gradbox_failed_sign_ins", "Wrong passwords.", registry=registry)
        for name, sentence, ask in (
            ("waiting", "Programs that wait for their turn.", lambda: pool.queue.waiting),
            ("running", "Programs that run.", lambda: pool.queue.running),
            ("spare_children", "Children that wait for a program.", lambda: pool.zygote.spares),
            ("ready", "Whether a program would be run now.", lambda: int(pool.ready)),
            ("boots", "How often the workers' first process was started.", lambda: pool.zygote.boots),
            ("cache_hits", "Results given from before.", lambda: cache.hits),
            ("cache_misses", "Programs asked for whose result was not there.", lambda: cache.misses),
            ("cache_bytes", "Bytes of results that are kept.", lambda: cache.size),
            ("store_reachable", "Whether the database answered last.", lambda: int(bool(health.state.reachable))),
            ("scenarios", "Scenarios that are kept.", lambda: held().scenarios),
            ("scenarios_removed", "Scenarios that the host removed.", lambda: held().removed),
            ("scenario_bytes", "Bytes of all scenarios.", lambda: held().size),
            ("scenario_bytes_allowed", "Bytes that they may have.", lambda: quota),
        ):
            Gauge(f"gradbox_{name}", sentence, registry=registry).set_function(ask)

    def run_finished(self, job: Job, result: Result) -> None:
        """Count a run by its outcome."""
        self._runs.labels(result.status, job.device).inc()
        self._seconds.observe(result.seconds)
        if result.limit is not None:
            self._limits.labels(result.limit).inc()

    def run_refused(self, why: str) -> None:
        """Count a request for a run that was refused: busy, limited or no_worker."""
        self._refused.labels(why).inc()

    def save_refused(self, why: str) -> None:
        """Count a program that was not saved: limited, too_large, full, removed or no_store."""
        self._saves_refused.labels(why).inc()

    def program_saved(self) -> None:
        self._saves.inc()

    def sign_in_failed(self) -> None:
        self._sign_ins_failed.inc()

    def counts(self, name: str) -> dict[str, int]:
        """What a counter has counted, by its labels' values; by "" where it has none."""
        found: dict[str, int] = {}
        for sample in next(one for one in self._registry.collect() if one.name == f"gradbox_{name}").samples:
            if sample.name.endswith("_total"):
                label = next(iter(sample.labels.values()), "")
                found[label] = found.get(label, 0) + int(sample.value)
        return found

    def value(self, name: str) -> float:
        """What a gauge says now."""
        return self._registry.get_sample_value(f"gradbox_{name}") or 0.0

    def text(self) -> bytes:
        return generate_latest(self._registry)
