"""Health, readiness and metrics: for load balancers, orchestrators and Prometheus."""

from typing import Any

from fastapi import APIRouter, Response

from server import __version__
from server.dependencies import ServicesDep
from server.pool.interface import STARTING

router = APIRouter()


@router.get("/healthz", summary="The server answers, and says how its workers are confined")
async def healthz(services: ServicesDep) -> dict[str, Any]:
    """`status` is `ok`, or `no workers` where none could be started; `workers` says why, for the CPU and the GPU.

    `layers` gives each layer of confinement as `active` or the reason why it is not; empty before the workers are up.

    `store` says whether the database answered last, `null` before it was asked. Without it the server runs programs, but
    has no permalinks.
    """
    layers = services.pool.layers
    sandbox = services.settings.sandbox
    confinement = {name: why or "active" for name, why in layers.items()}
    health = services.store_health
    answer = await health.refresh()
    store = {"backend": health.backend, "reachable": answer.reachable, **({"why": answer.why} if answer.why else {})}
    workers = {device: services.pool.problem(device) or "ready" for device in ("cpu", "cuda")}
    return {
        "status": "ok" if workers["cpu"] in ("ready", STARTING) else "no workers",
        "version": __version__,
        "workers": workers,
        "sandbox": sandbox,
        "layers": confinement,
        "store": store,
    }


@router.get("/readyz", summary="Whether a program would be run now", responses={503: {"description": "Not now."}})
async def readyz(response: Response, services: ServicesDep) -> dict[str, bool | str]:
    """503 until the workers are up, and whenever a program would be refused: the queue is full, or no process is to be had.

    `why` says which, where the workers are not up.
    """
    ready = bool(services.pool.ready)
    response.status_code = 200 if ready else 503
    problem = services.pool.problem("cpu")
    return {"ready": ready, **({"why": problem} if problem and not ready else {})}


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
async def metrics(services: ServicesDep) -> Response:
    await services.store_health.refresh()
    return Response(services.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
