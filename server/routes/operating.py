"""For operators: health, readiness, metrics, and the status page."""

import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from server import __version__
from server.operating import log
from server.operating.settings_checks import setting_warnings
from server.pool import machine_resources
from server.pool.interface import WORKERS_STARTING_MESSAGE
from server.quantity_formats import format_bytes, format_duration
from server.services import Services, ServicesDep, SettingsDep, VisitorsDep
from server.store.health import StoreHealth
from server.templating import render_visitor_page, templates
from server.visitors.clients import is_certainly_from, parse_networks
from server.wire.problems import ProblemError

router = APIRouter()


@router.get("/healthz", summary="The server answers, and says how its workers are confined")
async def healthz(services: ServicesDep) -> dict[str, Any]:
    """`status` is `ok`, or `no workers` where none could be started; `workers` says why, for the CPU and the GPU.

    `layers` gives each layer of confinement as `active` or the reason why it is not; empty before the workers are up.

    `store` says whether the database answered last, `null` before it was asked. Without it the server runs programs,
    but has no permalinks.
    """
    layers = services.pool.confinement_layers
    sandbox = services.settings.sandbox
    confinement = {name: why or "active" for name, why in layers.items()}
    health = services.saved.health
    answer = await health.get_recent_state()
    store = {"backend": health.backend, "reachable": answer.reachable, **({"why": answer.why} if answer.why else {})}
    workers = {device: services.pool.unavailable_reason(device) or "ready" for device in ("cpu", "cuda")}
    return {
        "status": "ok" if workers["cpu"] in ("ready", WORKERS_STARTING_MESSAGE) else "no workers",
        "version": __version__,
        "workers": workers,
        "sandbox": sandbox,
        "layers": confinement,
        "store": store,
    }


@router.get("/readyz", summary="Whether a program would be run now", responses={503: {"description": "Not now."}})
async def readyz(response: Response, services: ServicesDep) -> dict[str, bool | str]:
    """503 until the workers are up, and whenever a program would be refused: the queue is full, or no process is to be
    had.

    `why` says which, where the workers are not up.
    """
    ready = bool(services.pool.is_ready)
    response.status_code = 200 if ready else 503
    problem = services.pool.unavailable_reason("cpu")
    return {"ready": ready, **({"why": problem} if problem and not ready else {})}


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
async def metrics(services: ServicesDep) -> Response:
    await services.saved.health.get_recent_state()
    return Response(await services.metrics.prometheus_text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def collect_status(services: Services) -> dict[str, Any]:
    """The server's status as plain values by subject, without secrets. Sizes are in bytes, times in seconds."""
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
            "ready": pool.is_ready,
            "running": pool.queue.running_count,
            "at_once": pool.worker_count,
            "waiting": pool.queue.waiting_count,
            "queue": settings.queue,
            "spares": pool.spare_count,
            "boots": pool.boot_count,
            "devices": list(pool.devices),
            "problems": {device: why for device in ("cpu", "cuda") if (why := pool.unavailable_reason(device))},
            "machines": pool.machine_status,
        },
        "runs": metrics.counts_by_label("runs"),
        "limits": metrics.counts_by_label("limits"),
        "refused": {
            **metrics.counts_by_label("refused"),
            "failed_sign_ins": metrics.counts_by_label("failed_sign_ins").get("", 0),
        },
        "confinement": {name: why or "active" for name, why in pool.confinement_layers.items()},
        "store": {
            **await store_status(services.saved.health),
            "quota": settings.quota,
            "saves": metrics.counts_by_label("saves").get("", 0),
        },
        "saves_refused": metrics.counts_by_label("saves_refused"),
        "cache": cache_status(services),
        "pictures": {
            "ready": bool(services.renderer.version),
            "starts": services.renderer.starts,
            "failures": services.renderer.failures,
        },
        "machine": machine_status(services),
        "settings": settings.changed_settings(),
        "warnings": [{"setting": name, "why": why} for name, why in setting_warnings(settings)],
        "words": [
            {"at": entry.at, "level": entry.level, "text": entry.text}
            for entry in reversed(log.recent_log_entries.entries)
        ],
    }


def cache_status(services: Services) -> dict[str, int]:
    """The status of the result cache."""
    metrics = services.metrics
    values = {name: int(metrics.gauge_value(f"cache_{name}")) for name in ("hits", "misses", "bytes")}
    return {**values, "room": services.settings.cache}


def machine_status(services: Services) -> dict[str, int | None]:
    """Memory and disk in bytes, of the machine and of the server's processes."""
    free, total = machine_resources.disk_space(Path(services.settings.data))
    pid = services.pool.zygote_pid
    return {
        "memory": machine_resources.total_memory(),
        "memory_left": machine_resources.available_memory(),
        "memory_server": machine_resources.resident_memory(),
        "memory_workers": machine_resources.resident_memory(pid) if pid is not None else None,
        "disk": total,
        "disk_left": free,
    }


async def store_status(health: StoreHealth) -> dict[str, Any]:
    """The status of the database and what it holds."""
    state = await health.get_recent_state()
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


REFRESH_SECONDS = 15
"""Seconds after which the status page reloads if asked to."""

templates.env.filters |= {"format_bytes": format_bytes, "format_duration": format_duration}


async def require_operator(request: Request, settings: SettingsDep, visitors: VisitorsDep) -> None:
    """Raise ProblemError unless the request comes from GRADBOX_OPERATORS."""
    operators = parse_networks(settings.operators, "OPERATORS")
    if not is_certainly_from(request.scope, visitors.proxies, operators):
        raise ProblemError(403, "no_operator", "this page is for the server's operators; see GRADBOX_OPERATORS")


FOR_OPERATORS: dict[str, Any] = {"include_in_schema": False, "dependencies": [Depends(require_operator)]}


@router.get("/-/status.json", **FOR_OPERATORS)
async def status_json(response: Response, services: ServicesDep) -> dict[str, Any]:
    """The server's status as JSON."""
    response.headers["Cache-Control"] = "no-store"
    return await collect_status(services)


@router.get("/-/status", response_class=HTMLResponse, **FOR_OPERATORS)
async def status_page(request: Request, services: ServicesDep, renew: bool = False) -> Response:
    """The server's status as a page; with `?renew=1` it reloads itself."""
    response = render_visitor_page(
        request, "status.html", facts=await collect_status(services), renew=renew, pace=REFRESH_SECONDS
    )
    response.headers["Cache-Control"] = "no-store"
    if renew:
        response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response
