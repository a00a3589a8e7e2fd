"""`/settled`: what is said of PyTorch, each claim with the verdict of its run on this host's torch."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from server.dependencies import ServicesDep
from server.gallery.claims import claims_document
from server.templating import render

MAX_WAIT = 3.0
"""Seconds that a response waits for the programs of the claims, which are run once, by whoever asks first."""

REFRESH_SECONDS = 3
"""Seconds after which a page without all verdicts looks again."""

router = APIRouter(include_in_schema=False)


@router.get("/settled", response_class=HTMLResponse)
async def settled(request: Request, services: ServicesDep) -> Response:
    """All claims with what has been found; the page looks again where some programs have not been run yet."""
    verdicts = await services.claims.verdicts(services.scenarios, MAX_WAIT)
    count = {holds: sum(verdict.holds is holds for verdict in verdicts) for holds in (True, False, None)}
    return render(
        request,
        "settled.html",
        verdicts=verdicts,
        holding=str(count[True]),
        refuted=str(count[False]),
        waiting=count[None],
        renewal=REFRESH_SECONDS,
        versions=services.pool.versions,
    )


@router.get("/settled.json")
async def settled_json(services: ServicesDep) -> JSONResponse:
    """What `python -m server settled --json` prints."""
    verdicts = await services.claims.verdicts(services.scenarios, MAX_WAIT)
    return JSONResponse(claims_document(verdicts, services.pool.versions), headers={"Cache-Control": "no-cache"})
