"""Comparing two programs: the page, the frame in another site's page, the exports, and `POST /api/compare`."""

import asyncio
import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from gradbox.wire.api import ProblemReply, RunRequest
from gradbox.wire.processes import DrawRequest, Theme
from server.http.json_body import JsonRoute
from server.http.response_delivery import Disconnected, cancel_on_disconnect
from server.http.responses import MAX_AGE
from server.http.security import content_security_policy
from server.routes.api import TRACE_RESPONSES
from server.routes.exports import (
    CROSS_ORIGIN,
    OFFLINE_POLICY,
    PICTURE_POLICY,
    PICTURE_RESPONSES,
    file_responses,
    picture_seconds,
    plain_picture_response,
)
from server.runs.explainer import ComparedRun, RunPair, compare_runs, draw_comparison
from server.saved.content import SavedContent
from server.services import ClientDep, DisconnectedDep, SavedDep, Services, ServicesDep, SettingsDep
from server.settings import Settings
from server.store.repository import SavedProgram
from server.templating import render_partial, render_public_page, render_visitor_page, request_language
from server.urls import public_url, trace_url
from server.visitors.clients import Client
from server.wire.compare import ComparedProgram, CompareRequest, Comparison
from server.wire.saved_programs import Language

router = APIRouter(route_class=JsonRoute)
OptionalId = Annotated[str | None, Query(max_length=64)]
SavedId = Annotated[str, Query(max_length=64, description="The id of a saved program.")]
Row = Annotated[
    int | None,
    Query(ge=0, description="The place on the common timeline, from 0; without it, where the two part."),
]
Lang = Annotated[Language, Query(description="Of the sentences.")]

COMPARE_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (403, 413, 415, 421, 422, 429, 503) if status in TRACE_RESPONSES},
    404: {"model": ProblemReply, "description": "There is no such program."},
    410: {"model": ProblemReply, "description": "The host removed a program."},
}


@dataclass(frozen=True)
class ProgramPair:
    """Two saved programs to compare."""

    left: SavedProgram
    right: SavedProgram

    def entity_tag(self, assets: str) -> str:
        """A weak entity tag of the comparison.

        assets: the version of the code that draws it
        """
        left, right = self.left, self.right
        versions = f"{left.digest} {left.created} {right.digest} {right.created} {assets}"
        return f'W/"{hashlib.sha256(versions.encode()).hexdigest()[:24]}"'

    def saved_runs(self) -> RunPair:
        """The runs of both programs, as they were saved."""
        left, right = (ComparedRun(program.trace, program.content.title) for program in (self.left, self.right))
        return RunPair(left, right)


async def find_saved_pair(saved: SavedDep, left: SavedId, right: SavedId) -> ProgramPair:
    """Find both programs. Raises ProblemError if one of the ids is unknown."""
    return ProgramPair(*await asyncio.gather(saved.programs.find_program(left), saved.programs.find_program(right)))


PairDep = Annotated[ProgramPair, Depends(find_saved_pair)]


@router.get("/compare", response_class=HTMLResponse, include_in_schema=False)
async def compare_page(
    request: Request, saved: SavedDep, left: OptionalId = None, right: OptionalId = None
) -> Response:
    """The page with two programs side by side.

    left, right: ids of saved programs; other programs are in the address's fragment
    """
    programs = {"left": await find_program(saved, left), "right": await find_program(saved, right)}
    first = {side: program and program_page_values(request, program) for side, program in programs.items()}
    titles = {side: program.content.title if program else "" for side, program in programs.items()}
    return render_visitor_page(
        request, "compare.html", first=first, titles=titles, editable=True, away=all(programs.values())
    )


@router.get("/compare/embed", response_class=HTMLResponse, include_in_schema=False)
async def compare_frame(request: Request, settings: SettingsDep, pair: PairDep, theme: Theme | None = None) -> Response:
    """The comparison of two saved programs as a frame in another site's page."""
    programs = {"left": pair.left, "right": pair.right}
    first = {side: program_page_values(request, program) for side, program in programs.items()}
    response = render_public_page(
        request,
        "compare_embed.html",
        request_language(request),
        first={**first, "row": None},
        titles={side: program.content.title for side, program in programs.items()},
        away=compare_url(settings, request, pair),
        theme=theme,
    )
    response.headers["Content-Security-Policy"] = content_security_policy(request.state.nonce, settings.frames)
    response.headers.update(CROSS_ORIGIN)
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response


@router.post("/api/compare", response_model=Comparison, responses=COMPARE_RESPONSES, summary="Compare two programs")
async def post_compare(
    body: CompareRequest, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> Comparison:
    """Runs both, unless they are saved ones or ran before, and says what they do differently: by name and by line."""

    async def run_or_load_program(program: ComparedProgram) -> ComparedRun:
        if program.saved is not None:
            return ComparedRun((await services.saved.programs.find_program(program.saved)).trace)
        assert program.source is not None
        request = RunRequest(source=program.source, device=program.device, seed=program.seed)
        result = await services.runs.wait_for_result(await services.runs.start_run(request, client), disconnected)
        assert result is not None
        return ComparedRun(result.body)

    pair = RunPair(await run_or_load_program(body.left), await run_or_load_program(body.right))
    hit_limit = partial(services.visitors.limits.pictures.count_request, client)
    return await compare_runs(services.renderer, pair, body.language, hit_limit, client.network)


async def comparison_draw_request(row: Row = None, theme: Theme = "light", lang: Lang = "en") -> DrawRequest:
    """The drawing of a place in the comparison."""
    return DrawRequest(kind="comparison_picture", step=row, theme=theme, language=lang)


PictureDep = Annotated[DrawRequest, Depends(comparison_draw_request)]


@dataclass(frozen=True)
class PairDrawingResponder:
    """Draws the comparison of two saved programs for one request."""

    request: Request
    services: Services
    client: Client
    disconnected: Disconnected
    pair: ProgramPair

    async def drawing_response(self, draw: DrawRequest, media_type: str, headers: dict[str, str]) -> Response:
        """The response with a drawing, from the cache if possible. Raises RateLimited, RenderingFailed and
        ClientDisconnected."""
        renderer, client = self.services.renderer, self.client
        tag = self.pair.entity_tag(renderer.version)
        fresh = {"ETag": tag, "Cache-Control": f"public, max-age={MAX_AGE}"}
        if tag in [known.strip() for known in self.request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers={**headers, **fresh})
        hit_limit = partial(self.services.visitors.limits.pictures.count_request, client)
        seconds = picture_seconds(self.services.settings, media_type)
        drawing = draw_comparison(renderer, self.pair.saved_runs(), draw, hit_limit, client.network, seconds)
        body = await cancel_on_disconnect(drawing, self.disconnected)
        if body is None:
            return await plain_picture_response(renderer, draw.language, media_type, headers)
        return Response(body, media_type=media_type, headers={**headers, **fresh})


async def get_pair_drawing_responder(
    request: Request, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep, pair: PairDep
) -> PairDrawingResponder:
    return PairDrawingResponder(request, services, client, disconnected, pair)


ExporterDep = Annotated[PairDrawingResponder, Depends(get_pair_drawing_responder)]
JSON_ANSWERS = {**PICTURE_RESPONSES, 200: {"model": Comparison, "description": "The differences."}}
SVG_ANSWERS = file_responses("image/svg+xml", "The picture.")
PNG_ANSWERS = file_responses("image/png", "The picture.")
FILE_ANSWERS = file_responses("text/html", "The file.")


@router.get("/compare.json", response_model=Comparison, responses=JSON_ANSWERS, summary="A comparison as JSON")
async def comparison_json(exporter: ExporterDep, lang: Lang = "en") -> Response:
    """What two saved programs do differently, from the traces that were stored; nothing is run."""
    return await exporter.drawing_response(DrawRequest(kind="comparison", language=lang), "application/json", {})


@router.get("/compare.svg", response_class=Response, responses=SVG_ANSWERS, summary="A comparison as SVG")
async def comparison_svg(exporter: ExporterDep, draw: PictureDep) -> Response:
    """A place of the comparison of two saved programs: both stages, and the differences there."""
    headers = {"Content-Security-Policy": PICTURE_POLICY, **CROSS_ORIGIN}
    return await exporter.drawing_response(draw, "image/svg+xml; charset=utf-8", headers)


@router.get("/compare.png", response_class=Response, responses=PNG_ANSWERS, summary="A comparison as PNG")
async def comparison_png(exporter: ExporterDep, draw: PictureDep) -> Response:
    """The same as `/compare.svg`, at twice its size where that is not too large."""
    return await exporter.drawing_response(draw.model_copy(update={"png": True}), "image/png", CROSS_ORIGIN)


@router.get("/compare.html", response_class=Response, responses=FILE_ANSWERS, summary="A comparison as a file")
async def comparison_offline_file(exporter: ExporterDep, row: Row = None, lang: Lang = "en") -> Response:
    """One HTML file that steps through both traces without a server."""
    body = render_partial("partials/_comparison_viewer.html", lang)
    draw = DrawRequest(kind="comparison_file", step=row, language=lang, body=body)
    headers = {
        "Content-Security-Policy": OFFLINE_POLICY,
        "Content-Disposition": 'attachment; filename="gradbox-comparison.html"',
    }
    return await exporter.drawing_response(draw, "text/html; charset=utf-8", headers)


async def find_program(saved: SavedContent, id_: str | None) -> SavedProgram | None:
    """Find a saved program. Raises ProblemError if the id is unknown."""
    return None if id_ is None else await saved.programs.find_program(id_)


def program_page_values(request: Request, program: SavedProgram) -> dict[str, str]:
    """What the page's script is told of a saved program."""
    content = program.content
    return {
        "source": content.source,
        "trace_url": trace_url(request.scope["root_path"], program.id),
        "title": content.title,
    }


def compare_url(settings: Settings, request: Request, pair: ProgramPair) -> str:
    """The permalink of the comparison of two saved programs."""
    base = public_url(settings) or request.scope["root_path"]
    return f"{base}/compare?left={pair.left.id}&right={pair.right.id}"
