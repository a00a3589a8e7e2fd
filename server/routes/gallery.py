"""The gallery: its page with search and filters, the programs for an error message, and the traces of its scenarios."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from server.gallery.gallery import Gallery
from server.gallery.scenarios import FILTERS, cards_by_section, gallery_cards
from server.http.fair_work_scheduler import work_in_thread
from server.http.responses import CachedResponseBody, trace_response
from server.services import GalleryDep
from server.templating import (
    is_fragment_request,
    render_constant_page,
    request_language,
    with_language_and_session_headers,
)
from server.wire.problems import ProblemError

IMMUTABLE = "public, max-age=31536000, immutable"
HTML = "text/html; charset=utf-8"
MAX_QUERY = 4000
"""Characters of a search, which may be a whole traceback."""

MAX_FILTERS = 10
MAX_PROGRAMS_ABOUT = 4
Search = Annotated[str, Query(max_length=MAX_QUERY)]
router = APIRouter(include_in_schema=False)


@router.get("/gallery", response_class=HTMLResponse)
async def gallery_page(
    request: Request,
    gallery: GalleryDep,
    q: Search = "",
    only: Annotated[tuple[str, ...], Query(max_length=MAX_FILTERS)] = (),
) -> Response:
    """The scenarios that a search finds, the best first, or all by thread.

    htmx gets the part of the page that changes.

    only: filters that they have to pass
    """
    language, query = request_language(request), q.strip()
    filters = [name for name in FILTERS if name in only]
    signed_in = bool(getattr(request.state, "signed_in", False))
    template = "partials/_gallery_found.html" if is_fragment_request(request) else "gallery.html"

    def render_gallery() -> bytes:
        return render_constant_page(request, template, language, **gallery_values(gallery, query, filters))

    if query:
        body = await work_in_thread(lambda: CachedResponseBody.from_bytes(render_gallery(), HTML))
    else:
        key = f"{template} {language} {request.scope['root_path']} {signed_in} {filters}"
        body = await gallery.pages.get(key, HTML, render_gallery)
    return with_language_and_session_headers(body.to_response(request), signed_in)


def gallery_values(gallery: Gallery, query: str, filters: list[str]) -> dict[str, Any]:
    """The values for the templates of the gallery."""
    kind, names = gallery.lookup.look_up(query)
    found = gallery_cards(gallery.scenarios_by_name[name] for name in names)
    cards = [card for card in found if set(filters) <= set(card.marks)]
    return {
        "query": query,
        "filters": FILTERS,
        "pressed": filters,
        "kind": kind,
        "cards": cards,
        "threads": cards_by_section(cards),
        "all": len(gallery.scenarios),
        "max_query": MAX_QUERY,
    }


@router.get("/gallery/about", response_class=HTMLResponse)
async def programs_about(request: Request, gallery: GalleryDep, message: Search = "") -> Response:
    """The programs that end with an error message, or are about it, as a part of the workbench."""
    language, signed_in = request_language(request), bool(getattr(request.state, "signed_in", False))
    body = await work_in_thread(partial(render_programs_about, request, gallery, language, message.strip()))
    return with_language_and_session_headers(body.to_response(request), signed_in)


def render_programs_about(request: Request, gallery: Gallery, language: str, message: str) -> CachedResponseBody:
    kind, names = gallery.lookup.look_up(message, is_message=True) if message else ("nothing_asked", [])
    found = [gallery.scenarios_by_name[name] for name in names[:MAX_PROGRAMS_ABOUT]]
    values = {"kind": kind, "scenarios": found}
    return CachedResponseBody.from_bytes(
        render_constant_page(request, "partials/_programs_about.html", language, **values), HTML
    )


@router.get("/gallery.json")
async def scenario_list_json(request: Request, gallery: GalleryDep) -> Response:
    """What the scenarios are called, in each language, for the page's command palette."""

    def make_json() -> bytes:
        scenarios = [{"name": member.name, "text": member.text} for member in gallery.scenarios]
        return bytes(JSONResponse({"scenarios": scenarios}).body)

    return (await gallery.pages.get("names", "application/json", make_json)).to_response(request)


@router.get("/gallery/{name}.trace.json")
async def scenario_trace(request: Request, name: str, gallery: GalleryDep, v: str | None = None) -> Response:
    """The trace of a scenario, as this server recorded it first.

    v: its version, for caches
    """
    scenario = next((member for member in gallery.scenarios if member.name == name), None)
    trace = await gallery.traces.get(scenario) if scenario else None
    if trace is None:
        raise ProblemError(404, "not_found", "there is no trace of that scenario", field="name")
    response = trace_response(request, trace.body)
    response.headers["Cache-Control"] = IMMUTABLE if v == trace.version else "no-cache"
    return response
