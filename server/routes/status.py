"""The operator's page."""

from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from server.clients import is_within, parse_networks
from server.errors import Refused
from server.settings_docs import format_bytes, format_duration
from server.status import collect
from server.templating import render, templates

PACE = 15
"""Seconds, where the page is to renew itself."""

templates.env.filters |= {"format_bytes": format_bytes, "format_duration": format_duration}


async def operator(request: Request) -> None:
    """Let nobody else pass. Raises Refused."""
    state = request.app.state
    if not is_within(request.scope, state.proxies, parse_networks(state.settings.operators, "OPERATORS")):
        raise Refused(403, "no_operator", "only who runs the server sees this; GRADBOX_OPERATORS says from where")


router = APIRouter(include_in_schema=False, dependencies=[Depends(operator)])


@router.get("/-/status.json")
async def told(request: Request, response: Response) -> dict[str, Any]:
    """The same for programs."""
    response.headers["Cache-Control"] = "no-store"
    return await collect(request.app)


@router.get("/-/status", response_class=HTMLResponse)
async def page(request: Request, renew: bool = False) -> Response:
    """All at a glance; with `?renew=1` again and again."""
    answer = render(request, "status.html", facts=await collect(request.app), renew=renew, pace=PACE)
    answer.headers["Cache-Control"] = "no-store"
    if renew:
        answer.headers["Refresh"] = str(PACE)
    return answer
