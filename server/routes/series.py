"""Series of saved programs: creating one, its pages, its frame in another site's page, and its offline file."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from gradbox.wire.api import ProblemReply
from gradbox.wire.processes import DrawRequest, Theme
from server.http.json_body import JsonRoute
from server.http.response_delivery import cancel_on_disconnect
from server.http.responses import MAX_AGE
from server.http.security import content_security_policy
from server.routes.embeds import frame_page
from server.routes.exports import OFFLINE_POLICY, PICTURE_RESPONSES, file_responses
from server.routes.saved_programs import NOT_FOUND, SAVE_RESPONSES, render_saved_program_page
from server.saved.series import SeriesWithTitles, create_offline_series, describe_series
from server.services import ClientDep, DisconnectedDep, SavedDep, ServicesDep, SettingsDep
from server.templating import render_partial, render_visitor_page, request_language
from server.urls import public_url, series_url
from server.wire.saved_programs import MAX_NOTE, MAX_PROGRAMS, Language, SeriesContent, SeriesReply

router = APIRouter(route_class=JsonRoute)
Id = Annotated[str, Path(alias="id")]
Place = Annotated[int, Path(alias="place", ge=1, le=MAX_PROGRAMS)]

SERIES_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: answer for status, answer in NOT_FOUND.items() if status != 304
}
SERIES_RESPONSES[404] = {"model": ProblemReply, "description": "There is no such series."}
SAVE_SERIES_RESPONSES: dict[int | str, dict[str, Any]] = {
    **SAVE_RESPONSES,
    200: {"model": SeriesReply, "description": "The same series was saved before, under this id."},
    201: {"model": SeriesReply, "description": "The series was saved."},
    422: {"model": ProblemReply, "description": "A field is wrong; `error.field` names it, like `items.2.program`."},
    429: {"model": ProblemReply, "description": "Too many saves; `Retry-After` says when to try again."},
}
FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    **file_responses("text/html", "The file."),
    404: SERIES_RESPONSES[404],
    413: {"model": ProblemReply, "description": "Its runs have more bytes than GRADBOX_SERIES_FILE."},
    429: PICTURE_RESPONSES[429],
}


@router.post(
    "/api/series", response_model=SeriesReply, status_code=201, responses=SAVE_SERIES_RESPONSES, summary="Save a series"
)
async def save_series(
    body: SeriesContent, request: Request, saved: SavedDep, settings: SettingsDep, client: ClientDep
) -> Response:
    """Saved programs in an order, each with a note that may be bound to a step. 201 with its id and address; 200 where
    the same series was saved before. The programs have to be saved already: the one of the example is that of `POST
    /api/scenarios`. Where an item does not fit, `error.field` names it."""
    series, new = await saved.series.save_series(body, client)
    reply = describe_series(series, series_url(settings, request.scope["root_path"], series.saved.id))
    return JSONResponse(reply.model_dump(mode="json"), 201 if new else 200, {"Location": reply.url})


@router.get(
    "/series/{id}.json", response_model=SeriesReply, responses=SERIES_RESPONSES, summary="A series without its traces"
)
async def get_series(request: Request, id_: Id, saved: SavedDep, settings: SettingsDep) -> Response:
    """Its texts, and its programs in their order; `available` is false for one that the host has removed since."""
    series = await saved.series.find_series(id_)
    reply = describe_series(series, series_url(settings, request.scope["root_path"], series.saved.id))
    headers = {"Cache-Control": f"public, max-age={MAX_AGE}"}
    if settings.frames != "'none'":  # a frame in a sandbox is of no origin, and fetches it as a stranger
        headers["Access-Control-Allow-Origin"] = "*"
    return JSONResponse(reply.model_dump(mode="json"), headers=headers)


@router.get("/series/{id}.html", response_class=Response, responses=FILE_RESPONSES, summary="A series as a file")
async def series_offline_file(
    id_: Id,
    services: ServicesDep,
    client: ClientDep,
    disconnected: DisconnectedDep,
    lang: Annotated[Language | None, Query(description="Of the page; the series' language by default.")] = None,
) -> Response:
    """One HTML file with all programs of the series, which needs no server. Removed programs are left out."""
    await services.visitors.limits.pictures.count_request(
        client
    )  # before the traces are read, whether the file is cached or not
    series = await services.saved.series.find_series(id_)
    language = lang or series.saved.content.language
    address = series_url(services.settings, "", series.saved.id)
    content = await create_offline_series(services.saved.series, series, services.settings.series_file, address)
    draw = DrawRequest(
        kind="series_file",
        language=language,
        title=series.saved.content.title,
        body=render_partial("partials/_offline.html", language),
    )
    drawing = services.renderer.get_drawing(content.name, draw, content.data, None, client.network)
    headers = {
        "Content-Security-Policy": OFFLINE_POLICY,
        "Content-Disposition": f'attachment; filename="gradbox-series-{series.saved.id}.html"',
        "Cache-Control": f"public, max-age={MAX_AGE}",
    }
    body = await cancel_on_disconnect(drawing, disconnected)
    return Response(body, media_type="text/html; charset=utf-8", headers=headers)


@router.get("/series/new", response_class=HTMLResponse, include_in_schema=False)
async def new_series_page(request: Request) -> Response:
    """The page for creating a series. A series that is not saved yet is only in the visitor's browser."""
    first = {"max_programs": MAX_PROGRAMS}
    response = render_visitor_page(request, "series_new.html", first=first, max_note=MAX_NOTE)
    policy = content_security_policy(request.state.nonce)
    response.headers["Content-Security-Policy"] = f"{policy}; frame-src 'self'"
    return response


@router.get("/series/stage/{id}", response_class=HTMLResponse, include_in_schema=False)
async def program_stage_frame(request: Request, id_: Id, services: ServicesDep, theme: Theme | None = None) -> Response:
    """A saved program's stage, framed by the page above whatever sites the host allows."""
    program = await services.saved.programs.find_program(id_)
    return frame_page(request, services, program, theme, frames="'self'")


@router.get("/series/{id}", response_class=HTMLResponse, include_in_schema=False)
@router.get("/series/{id}/{place}", response_class=HTMLResponse, include_in_schema=False)
async def series_page(request: Request, id_: Id, services: ServicesDep, place: Place | None = None) -> Response:
    """The workbench with a program of a series; without a place, with the first program that still exists."""
    series = await services.saved.series.find_series(id_)
    place = place or series.first_available_place()
    program = await services.saved.series.find_program(series, place)
    url = series_url(services.settings, request.scope["root_path"], series.saved.id)
    shown: dict[str, Any] = {"series": series.saved}
    base = public_url(services.settings)
    if base:
        shown |= {"url": url, "oembed": f"{base}/oembed?{urlencode({'url': url})}"}
    return render_saved_program_page(
        request, services, program, {"series": series_page_values(request, series, place)}, **shown
    )


@router.get("/embed/series/{id}", response_class=HTMLResponse, include_in_schema=False)
@router.get("/embed/series/{id}/{place}", response_class=HTMLResponse, include_in_schema=False)
async def series_frame(
    request: Request, id_: Id, services: ServicesDep, place: Place | None = None, theme: Theme | None = None
) -> Response:
    """A series in another site's page. Nothing is run, saved or remembered here."""
    series = await services.saved.series.find_series(id_)
    place = place or series.first_available_place()
    program = await services.saved.series.find_program(series, place)
    language = request_language(request) if "lang" in request.query_params else series.saved.content.language
    away = series_url(services.settings, request.scope["root_path"], series.saved.id, place)
    series_values = series_page_values(request, series, place, in_frame=True)
    first = {"series": series_values, "step": series_values["step"]}
    return frame_page(request, services, program, theme, first=first, lang=language, away=away)


def series_page_values(
    request: Request, series: SeriesWithTitles, place: int, in_frame: bool = False
) -> dict[str, Any]:
    """What the page of a program is told of the series: the addresses of its programs, and of its notes.

    The notes are fetched later, so that a page in predict mode holds no note of a step that its reader has not seen.
    """
    root, id_ = request.scope["root_path"], series.saved.id
    folder = f"{root}/embed/series/{id_}" if in_frame else f"{root}/series/{id_}"
    kept = {name: request.query_params[name] for name in ("lang", "theme", "predict") if name in request.query_params}
    query = f"?{urlencode(kept)}" if kept else ""
    predicts = kept.get("predict") == "1"
    return {
        "title": series.saved.content.title,
        "url": None if in_frame else folder + query,
        "notes": f"{root}/series/{id_}.json",
        "place": place,
        "step": None if predicts else series.items[place - 1].step,
        "items": [
            {"place": k, "title": title, "url": f"{folder}/{k}{query}"}
            for k, title in enumerate(series.titles, 1)
            if title is not None
        ],
        "removed": series.titles.count(None),
    }
