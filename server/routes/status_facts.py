"""The facts of the status page, collected when it is opened."""

import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from server import __version__
from server.operating import log
from server.operating.settings_checks import warnings
from server.pool import machine
from server.services import Services
from server.store.health import StoreHealth


async def collect(services: Services) -> dict[str, Any]:
    """Plain values by subject, without secrets. Sizes are in bytes, times in seconds."""
    settings, pool, metrics = services.settings, services.pool, services.metrics
    return {
        "server": {
            "version": __version__,
            "up_since": datetime.fromtimestamp(services.started, UTC).isoformat(timespec="seconds"),
            "uptime": round(time.time() - services.started, 1),
            "server_python": platform.python_version(),
            "sandbox": settings.sandbox,
            **pool.versions,
        },
        "workers": {
            "ready": pool.ready,
            "running": pool.queue.running,
            "at_once": pool.workers,
            "waiting": pool.queue.waiting,
            "queue": settings.queue,
            "spares": pool.spares,
            "boots": pool.boots,
            "devices": list(pool.devices),
            "problems": {device: why for device in ("cpu", "cuda") if (why := pool.problem(device))},
            "machines": pool.machines,
        },
        "runs": metrics.counts("runs"),
        "limits": metrics.counts("limits"),
        "refused": {**metrics.counts("refused"), "failed_sign_ins": metrics.counts("failed_sign_ins").get("", 0)},
        "confinement": {name: why or "active" for name, why in pool.layers.items()},
        "store": {
            **await store_status(services.store_health),
            "quota": settings.quota,
            "saves": metrics.counts("saves").get("", 0),
        },
        "saves_refused": metrics.counts("saves_refused"),
        "cache": cache_status(services),
        "pictures": {
            "ready": bool(services.renderer.version),
            "starts": services.renderer.starts,
            "failures": services.renderer.failures,
        },
        "machine": machine_status(services),
        "settings": settings.changed_settings(),
        "warnings": [{"setting": name, "why": why} for name, why in warnings(settings)],
        "words": [
            {"at": entry.at, "level": entry.level, "text": entry.text} for entry in reversed(log.recent_entries.entries)
        ],
    }


def cache_status(services: Services) -> dict[str, int]:
    """The cache of results."""
    metrics = services.metrics
    values = {name: int(metrics.value(f"cache_{name}")) for name in ("hits", "misses", "bytes")}
    return {**values, "room": services.settings.cache}


def machine_status(services: Services) -> dict[str, int | None]:
    """Bytes of memory and disk, of the machine and of the server's processes."""
    free, total = machine.disk_space(Path(services.settings.data))
    pid = services.pool.pid
    return {
        "memory": machine.total_memory(),
        "memory_left": machine.available_memory(),
        "memory_server": machine.resident_memory(),
        "memory_workers": machine.resident_memory(pid) if pid is not None else None,
        "disk": total,
        "disk_left": free,
    }


async def store_status(health: StoreHealth) -> dict[str, Any]:
    """The database and what it holds."""
    state = await health.refresh()
    fields: dict[str, Any] = {"backend": health.backend, "reachable": state.reachable}
    if state.detail:
        fields["why"] = state.detail
    if state.totals is not None:
        totals = state.totals
        fields |= {
            "scenarios": totals.programs,
            "removed": totals.removed,
            "bytes": totals.size,
            "revision": totals.revision,
        }
    return fields
