"""Whether the server lives, whether it would run a program now, how safely, and what it counts of itself."""

from typing import Any

from fastapi import APIRouter, Request, Response

from server import __version__

router = APIRouter()


@router.get("/healthz", summary="The server answers, and says how its workers are confined")
async def healthz(request: Request) -> dict[str, Any]:
    """`layers` names each layer of confinement: active, or why it is not. Empty before the workers are up.

    `store` says whether the database answered last, `null` before it was asked. The server is well without it: what it
    has not is permalinks.
    """
    layers = request.app.state.pool.zygote.layers
    sandbox = request.app.state.settings.sandbox
    told = {name: why or "active" for name, why in layers.items()}
    watch = request.app.state.watch
    answer = await watch.look()
    store = {"backend": watch.backend, "reachable": answer.reachable, **({"why": answer.why} if answer.why else {})}
    return {"status": "ok", "version": __version__, "sandbox": sandbox, "layers": told, "store": store}


@router.get("/readyz", summary="A program would be run now", responses={503: {"description": "Not yet."}})
async def readyz(request: Request, response: Response) -> dict[str, bool]:
    """200 once the workers are up, 503 before."""
    ready = bool(request.app.state.pool.ready)
    response.status_code = 200 if ready else 503
    return {"ready": ready}


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(request: Request) -> Response:
    await request.app.state.watch.look()
    return Response(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
