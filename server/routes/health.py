"""Health, readiness and metrics: for load balancers, orchestrators and Prometheus."""

from typing import Any

from fastapi import APIRouter, Response

from server import __version__
from server.dependencies import ServicesDep

router = APIRouter()


@router.get("/healthz", summary="The server answers, and says how its workers are confined")
async def healthz(services: ServicesDep) -> dict[str, Any]:
    """`layers` gives each layer of confinement as `active` or the reason why it is not; empty before the workers are up.

    `store` says whether the database answered last, `null` before it was asked. Without it the server runs programs, but
    has no permalinks.
    """
    layers = services.pool.layers
    sandbox = services.settings.sandbox
    confinement = {name: why or "active" for name, why in layers.items()}
    health = services.store_health
    answer = await health.refresh()
    store = {"backend": health.backend, "reachable": answer.reachable, **({"why": answer.why} if answer.why else {})}
    return {"status": "ok", "version": __version__, "sandbox": sandbox, "layers": confinement, "store": store}


@router.get("/readyz", summary="Whether a program would be run now", responses={503: {"description": "Not now."}})
async def readyz(response: Response, services: ServicesDep) -> dict[str, bool]:
    """503 until the workers are up, and whenever a program would be refused: the queue is full, or no process is to be had."""
    ready = bool(services.pool.ready)
    response.status_code = 200 if ready else 503
    return {"ready": ready}


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
async def metrics(services: ServicesDep) -> Response:
    await services.store_health.refresh()
    return Response(services.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
