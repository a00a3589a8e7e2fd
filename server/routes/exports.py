"""What a permalink is besides a page: its pictures and its offline file, made by the stage's own code."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from server.clients import identify
from server.pictures.renderer_client import Renderer
from server.routes.saved_programs import NONE, found, fresh, kept
from server.store.repository import SavedProgram
from server.templating import render_partial
from server.wire.api import ProblemReply
from server.wire.pictures import DrawRequest, Kind, Theme
from server.wire.saved_programs import Language

POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
OFFLINE = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; sandbox allow-scripts"
)
EVERYWHERE = {"Cross-Origin-Resource-Policy": "cross-origin"}
"""A picture may stand in anybody's page."""

MISSING: dict[int | str, dict[str, Any]] = {
    **NONE,
    404: {"model": ProblemReply, "description": "There is no such scenario, or it has no such step."},
    429: {"model": ProblemReply, "description": "Too many pictures; `Retry-After` says when to come back."},
    503: {"model": ProblemReply, "description": "The database can't be reached, or nothing can be drawn now."},
}


def describe_response(kind: str, sentence: str) -> dict[int | str, dict[str, Any]]:
    return {**MISSING, 200: {"content": {kind: {"schema": {"type": "string"}}}, "description": sentence}}


router = APIRouter()
Name = Annotated[str, Path(alias="id")]
Step = Annotated[
    int | None, Query(ge=0, description="Counted from 0, as `i` in the trace and in the page's address.", examples=[0])
]
Colours = Annotated[Theme, Query(description="Whose colours.")]
Lang = Annotated[Language | None, Query(description="The picture's own words; the scenario's language by itself.")]


@router.get(
    "/s/{id}.svg",
    response_class=Response,
    responses=describe_response("image/svg+xml", "The picture."),
    summary="As SVG",
)
async def svg(request: Request, id_: Name, step: Step = None, theme: Colours = "light", lang: Lang = None) -> Response:
    """A step of the scenario's trace as the stage draws it; without `step` the whole run, as the loom."""
    kind: Kind = "loom" if step is None else "stage"
    headers = {"Content-Security-Policy": POLICY, **EVERYWHERE}
    asked = DrawRequest(kind=kind, step=step, theme=theme, language=lang or "")
    return await render_export(request, id_, asked, "image/svg+xml; charset=utf-8", headers)


@router.get(
    "/s/{id}.card.png",
    response_class=Response,
    responses=describe_response("image/png", "1200 × 630 pixels."),
    summary="As a card",
)
async def card(request: Request, id_: Name, step: Step = None, theme: Colours = "light", lang: Lang = None) -> Response:
    """What a link is shown by elsewhere: the title, and the step; without `step` the one that a reader sees first."""
    asked = DrawRequest(kind="card", step=step, theme=theme, language=lang or "", png=True)
    return await render_export(request, id_, asked, "image/png", EVERYWHERE)


@router.get(
    "/s/{id}.png", response_class=Response, responses=describe_response("image/png", "The picture."), summary="As PNG"
)
async def png(request: Request, id_: Name, step: Step = None, theme: Colours = "light", lang: Lang = None) -> Response:
    """The same as `.svg`, at twice its size where that is not too large."""
    kind: Kind = "loom" if step is None else "stage"
    asked = DrawRequest(kind=kind, step=step, theme=theme, language=lang or "", png=True)
    return await render_export(request, id_, asked, "image/png", EVERYWHERE)


@router.get(
    "/s/{id}.html", response_class=Response, responses=describe_response("text/html", "The file."), summary="As a file"
)
async def file(request: Request, id_: Name, step: Step = None, lang: Lang = None) -> Response:
    """One HTML file that steps through the trace without a server."""
    there = await found(request, id_)
    language = lang or there.content.language
    body = render_partial("partials/_offline.html", language)
    headers = {"Content-Security-Policy": OFFLINE, "Content-Disposition": f'attachment; filename="gradbox-{id_}.html"'}
    asked = DrawRequest(kind="file", step=step, language=language, body=body)
    return await render_export(request, there, asked, "text/html; charset=utf-8", headers)


async def render_export(
    request: Request, of: str | SavedProgram, asked: DrawRequest, kind: str, headers: dict[str, str]
) -> Response:
    """Raises Refused, Removed, Unreachable, Limited, NoStep, Undrawable."""
    state = request.app.state
    drawings: Renderer = state.drawings
    there = await found(request, of) if isinstance(of, str) else of
    known = kept(request, there, drawings.version)
    if known is not None:
        known.headers.update(headers)
        return known
    wanted = asked.model_copy(
        update={"title": there.content.title, "language": asked.language or there.content.language}
    )
    asker = identify(request.scope, state.secret, state.proxies)
    body = await drawings.get(there.digest, wanted, there.trace, lambda: state.drawn.hit(asker))
    return fresh(Response(body, media_type=kind, headers=headers), there, drawings.version)
