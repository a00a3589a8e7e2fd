"""Whether the server lives, and whether it would run a program now."""

from fastapi import APIRouter, Request, Response

router = APIRouter()


@router.get("/healthz", summary="The server answers")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", summary="A program would be run now")
async def readyz(request: Request, response: Response) -> dict[str, bool]:
    """200 once the workers are up, 503 before."""
    ready = bool(request.app.state.pool.ready)
    response.status_code = 200 if ready else 503
    return {"ready": ready}
