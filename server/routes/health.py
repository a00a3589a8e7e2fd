"""Health, readiness and metrics: for load balancers, orchestrators and Prometheus."""

from typing import Any

from fastapi import APIRouter, Request, Response

from server import __version__

router = APIRouter()


@router.get("/healthz", summary="The server answers, and says how its workers are confined")
async def healthz(request: Request) -> dict[str, Any]:
    """`layers` gives each layer of confinement as `active` or the reason why it is not; empty before the workers are up.

    `store` says whether the database answered last, `null` before it was asked. Without it the server runs programs, but
    has no permalinks.
    """
    layers = request.app.state.pool.zygote.layers
    sandbox = request.app.state.settings.sandbox
    confinement = {name: why or "active" for name, why in layers.items()}
    watch = request.app.state.watch
    answer = await watch.refresh()
    store = {"backend": watch.backend, "reachable": answer.reachable, **({"why": answer.why} if answer.why else {})}
    return {"status": "ok", "version": __version__, "sandbox": sandbox, "layers": confinement, "store": store}


@router.get("/readyz", summary="Whether a program would be run now", responses={503: {"description": "Not yet."}})
async def readyz(request: Request, response: Response) -> dict[str, bool]:
    """200 once the workers are up, 503 before."""
    ready = bool(request.app.state.pool.ready)
    response.status_code = 200 if ready else 503
    return {"ready": ready}


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
async def metrics(request: Request) -> Response:
    await request.app.state.watch.refresh()
    return Response(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
