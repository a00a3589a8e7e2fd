"""The operator's page."""

from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from server.dependencies import ServicesDep
from server.quantities import format_bytes, format_duration
from server.routes.status_facts import collect
from server.templating import render, templates
from server.visitors.clients import is_within, parse_networks
from server.wire.problems import ProblemError

REFRESH_SECONDS = 15
"""Seconds, where the page is to renew itself."""

templates.env.filters |= {"format_bytes": format_bytes, "format_duration": format_duration}


async def require_operator(request: Request, services: ServicesDep) -> None:
    """Raises ProblemError where the request does not come from GRADBOX_OPERATORS."""
    operators = parse_networks(services.settings.operators, "OPERATORS")
    if not is_within(request.scope, services.proxies, operators):
        raise ProblemError(403, "no_operator", "this page is for the server's operators; see GRADBOX_OPERATORS")


router = APIRouter(include_in_schema=False, dependencies=[Depends(require_operator)])


@router.get("/-/status.json")
async def status(response: Response, services: ServicesDep) -> dict[str, Any]:
    """The server's status as JSON."""
    response.headers["Cache-Control"] = "no-store"
    return await collect(services)


@router.get("/-/status", response_class=HTMLResponse)
async def status_page(request: Request, services: ServicesDep, renew: bool = False) -> Response:
    """The server's status as a page; with `?renew=1` it reloads itself."""
    response = render(request, "status.html", facts=await collect(services), renew=renew, pace=REFRESH_SECONDS)
    response.headers["Cache-Control"] = "no-store"
    if renew:
        response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response
