"""A saved program in another site's page: the frame that shows it, and the oEmbed answer that describes the frame, also
a series'."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from gradbox.wire.api import ProblemReply
from gradbox.wire.processes import Theme
from server.http.responses import MAX_AGE, not_modified_response, with_cache_headers
from server.http.security import content_security_policy
from server.routes.saved_programs import NOT_FOUND
from server.saved.headline import OEMBED_SECONDS, finding_headline
from server.saved.oembed import program_oembed, series_oembed
from server.services import ClientDep, Services, ServicesDep
from server.store.repository import SavedProgram
from server.templating import render_public_page, request_language
from server.urls import parse_permalink_id, parse_series_place, program_permalink, public_url, trace_url
from server.wire.problems import ProblemError
from server.wire.saved_programs import OEmbed

EMBED_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: answer for status, answer in NOT_FOUND.items() if status != 304},
    404: {"model": ProblemReply, "description": "The address is no permalink of this server."},
    501: {"model": ProblemReply, "description": "Only `json` is supported; and GRADBOX_PUBLIC_URL has to be set."},
}

router = APIRouter()
MaxSize = Annotated[int | None, Query(ge=1, description="Pixels that are available.")]


@router.get("/embed/{id}", response_class=HTMLResponse, include_in_schema=False)
async def embedded_program_page(
    request: Request, id_: Annotated[str, Path(alias="id")], services: ServicesDep, theme: Theme | None = None
) -> Response:
    """The stored trace to step through. Nothing is run, saved or remembered here."""
    program = await services.saved.programs.find_program(id_)
    cached = not_modified_response(request, program, services.renderer.version)
    if cached is not None:
        cached.headers.update(
            frame_headers(request, services.settings.frames)
        )  # a browser takes them in place of those it has
        return cached
    return with_cache_headers(frame_page(request, services, program, theme), program, services.renderer.version)


def frame_page(
    request: Request,
    services: Services,
    program: SavedProgram,
    theme: Theme | None,
    *,
    frames: str | None = None,
    first: dict[str, Any] | None = None,
    lang: str | None = None,
    away: str | None = None,
) -> Response:
    """The page that steps through a stored trace.

    frames: who may frame it, by default who the host lets first: what it is told besides lang, away: its language and
        where its heading leads, by default the program's
    """
    language = request_language(request) if "lang" in request.query_params else lang or program.content.language
    title = program.content.title
    page_data = {
        "trace_url": trace_url(request.scope["root_path"], program.id),
        "step": None,
        "title": title,
        **(first or {}),
    }
    away = away or program_permalink(services.settings, request.scope["root_path"], program.id)
    response = render_public_page(request, "embed.html", language, first=page_data, away=away, title=title, theme=theme)
    response.headers.update(frame_headers(request, frames or services.settings.frames))
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response


def frame_headers(request: Request, frames: str) -> dict[str, str]:
    """Of a page that other sites may frame.

    frames: which ones
    """
    return {
        "Content-Security-Policy": content_security_policy(request.state.nonce, frames),
        "Cross-Origin-Resource-Policy": "cross-origin",
    }


@router.get(
    "/oembed",
    response_model=OEmbed,
    responses=EMBED_RESPONSES,
    summary="How a saved program, or a series, is embedded in another page",
)
async def get_oembed(
    services: ServicesDep,
    client: ClientDep,
    url: Annotated[
        str, Query(max_length=2000, description="A permalink or a series of this server, with or without a step.")
    ],
    maxwidth: MaxSize = None,
    maxheight: MaxSize = None,
    format_: Annotated[Literal["json", "xml"], Query(alias="format")] = "json",
) -> Response:
    """oEmbed 1.0. The frame opens with the step and the view of the address's fragment."""
    if format_ != "json":
        raise ProblemError(501, "not_implemented", "this server supports the format json only", field="format")
    saved, limits = services.saved, services.visitors.limits.pictures
    base = public_url(services.settings)
    if not base:
        raise ProblemError(501, "no_address", "GRADBOX_PUBLIC_URL is not set on this server")
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": f"public, max-age={MAX_AGE}"}
    place = parse_series_place(url, base)
    if place is not None:
        series = await saved.series.find_series(place[0])
        body = series_oembed(series, place[1], base, maxwidth, maxheight)
        return JSONResponse(body.model_dump(), headers=headers)
    id_ = parse_permalink_id(url, base)
    if id_ is None:
        raise ProblemError(404, "not_ours", "this address is no permalink of this server", field="url")
    program = await saved.programs.find_program(id_)
    headline = ""
    if not program.content.title:
        headline = await finding_headline(
            services.renderer, program, lambda: limits.count_request(client), client.network, OEMBED_SECONDS
        )
    body = program_oembed(program, headline, base, url.partition("#")[2], maxwidth, maxheight)
    return JSONResponse(body.model_dump(), headers=headers)
