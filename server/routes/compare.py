"""Comparing two programs: the page, the frame in another site's page, the exports, and `POST /api/compare`."""

import asyncio
import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from server.comparer import ComparedRun, compare, draw_comparison
from server.dependencies import ClientDep, DisconnectedDep, ServicesDep
from server.disconnection import Disconnected, unless_gone
from server.http_cache import MAX_AGE
from server.pool.fair_queue import Client
from server.routes.api import ANSWERS
from server.routes.exports import ANSWERS as EXPORT_ANSWERS
from server.routes.exports import CROSS_ORIGIN, OFFLINE_POLICY, PICTURE_POLICY, answers
from server.security import content_security_policy
from server.services import Services
from server.store.repository import SavedProgram
from server.templating import render, render_partial, render_public, request_language
from server.urls import public_url, trace_url
from server.wire.api import ProblemReply, RunRequest
from server.wire.compare import ComparedProgram, CompareRequest, Comparison
from server.wire.pictures import DrawRequest, Theme
from server.wire.saved_programs import Language

router = APIRouter()
OptionalId = Annotated[str | None, Query(max_length=64)]
SavedId = Annotated[str, Query(max_length=64, description="The id of a saved program.")]
Row = Annotated[
    int | None,
    Query(ge=0, description="The place on the common timeline, from 0; without it, where the two part."),
]
Lang = Annotated[Language, Query(description="Of the sentences.")]

COMPARE: dict[int | str, dict[str, Any]] = {
    **{status: ANSWERS[status] for status in (403, 413, 415, 421, 422, 429, 503) if status in ANSWERS},
    404: {"model": ProblemReply, "description": "There is no such program."},
    410: {"model": ProblemReply, "description": "The host removed a program."},
}


@router.get("/compare", response_class=HTMLResponse, include_in_schema=False)
async def compare_page(
    request: Request, services: ServicesDep, left: OptionalId = None, right: OptionalId = None
) -> Response:
    """Two programs side by side. left, right: ids of saved programs; others come with the address's fragment."""
    programs = {"left": await find(services, left), "right": await find(services, right)}
    first = {side: program and described(request, program) for side, program in programs.items()}
    titles = {side: program.content.title if program else "" for side, program in programs.items()}
    return render(request, "compare.html", first=first, titles=titles, editable=True, away=all(programs.values()))


@router.get("/compare/embed", response_class=HTMLResponse, include_in_schema=False)
async def compare_frame(
    request: Request, services: ServicesDep, left: SavedId, right: SavedId, theme: Theme | None = None
) -> Response:
    """The comparison of two saved programs as a frame in another site's page."""
    programs = await find_both(services, left, right)
    first = {side: described(request, program) for side, program in programs.items()}
    response = render_public(
        request,
        "compare_embed.html",
        request_language(request),
        first={**first, "row": None},
        titles={side: program.content.title for side, program in programs.items()},
        away=compare_url(services, request, left, right),
        theme=theme,
    )
    response.headers["Content-Security-Policy"] = content_security_policy(request.state.nonce, services.settings.frames)
    response.headers.update(CROSS_ORIGIN)
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response


@router.post("/api/compare", response_model=Comparison, responses=COMPARE, summary="Compare two programs")
async def post_compare(
    body: CompareRequest, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> Comparison:
    """Runs both, unless they are saved ones or ran before, and says what they do differently: by name and by line."""

    async def run(program: ComparedProgram) -> ComparedRun:
        if program.saved is not None:
            return ComparedRun((await services.programs.find(program.saved)).trace)
        assert program.source is not None
        request = RunRequest(source=program.source, device=program.device, seed=program.seed)
        result = await services.runs.wait(await services.runs.start(request, client), disconnected)
        assert result is not None
        return ComparedRun(result.body)

    left = await run(body.left)
    right = await run(body.right)
    before = partial(services.picture_limits.hit, client)
    return await compare(services.renderer, left, right, body.language, before, client.network)


@dataclass(frozen=True)
class PairExporter:
    """Draws a comparison of two saved programs for one request."""

    request: Request
    services: Services
    client: Client
    disconnected: Disconnected

    async def respond(
        self, programs: dict[str, SavedProgram], draw: DrawRequest, media_type: str, headers: dict[str, str]
    ) -> Response:
        """From the cache where it is there. Raises RateLimited, RenderingFailed, ClientGone."""
        renderer, limits, client = self.services.renderer, self.services.picture_limits, self.client
        left, right = programs["left"], programs["right"]
        versions = f"{left.digest} {left.created} {right.digest} {right.created} {renderer.version}"
        tag = f'W/"{hashlib.sha256(versions.encode()).hexdigest()[:24]}"'
        headers = {**headers, "ETag": tag, "Cache-Control": f"public, max-age={MAX_AGE}"}
        if tag in [known.strip() for known in self.request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        runs = [ComparedRun(program.trace, program.content.title) for program in (left, right)]
        drawing = draw_comparison(renderer, runs[0], runs[1], draw, partial(limits.hit, client), client.network)
        return Response(await unless_gone(drawing, self.disconnected), media_type=media_type, headers=headers)


async def pair_exporter(
    request: Request, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> PairExporter:
    return PairExporter(request, services, client, disconnected)


ExporterDep = Annotated[PairExporter, Depends(pair_exporter)]
JSON_ANSWERS = {**EXPORT_ANSWERS, 200: {"model": Comparison, "description": "The differences."}}


@router.get("/compare.json", response_model=Comparison, responses=JSON_ANSWERS, summary="A comparison as JSON")
async def as_json(left: SavedId, right: SavedId, exporter: ExporterDep, lang: Lang = "en") -> Response:
    """What two saved programs do differently, from the traces that were stored; nothing is run."""
    programs = await find_both(exporter.services, left, right)
    return await exporter.respond(programs, DrawRequest(kind="comparison", language=lang), "application/json", {})


@router.get(
    "/compare.svg",
    response_class=Response,
    responses=answers("image/svg+xml", "The picture."),
    summary="A comparison as SVG",
)
async def svg(
    left: SavedId, right: SavedId, exporter: ExporterDep, row: Row = None, theme: Theme = "light", lang: Lang = "en"
) -> Response:
    """A place of the comparison of two saved programs: both stages, and the differences there."""
    draw = DrawRequest(kind="comparison_picture", step=row, theme=theme, language=lang)
    headers = {"Content-Security-Policy": PICTURE_POLICY, **CROSS_ORIGIN}
    programs = await find_both(exporter.services, left, right)
    return await exporter.respond(programs, draw, "image/svg+xml; charset=utf-8", headers)


@router.get(
    "/compare.png",
    response_class=Response,
    responses=answers("image/png", "The picture."),
    summary="A comparison as PNG",
)
async def png(
    left: SavedId, right: SavedId, exporter: ExporterDep, row: Row = None, theme: Theme = "light", lang: Lang = "en"
) -> Response:
    """The same as `/compare.svg`, at twice its size where that is not too large."""
    draw = DrawRequest(kind="comparison_picture", step=row, theme=theme, language=lang, png=True)
    programs = await find_both(exporter.services, left, right)
    return await exporter.respond(programs, draw, "image/png", CROSS_ORIGIN)


@router.get(
    "/compare.html",
    response_class=Response,
    responses=answers("text/html", "The file."),
    summary="A comparison as a file",
)
async def offline_file(
    left: SavedId, right: SavedId, exporter: ExporterDep, row: Row = None, lang: Lang = "en"
) -> Response:
    """One HTML file that steps through both traces without a server."""
    body = render_partial("partials/_comparison_viewer.html", lang)
    draw = DrawRequest(kind="comparison_file", step=row, language=lang, body=body)
    headers = {
        "Content-Security-Policy": OFFLINE_POLICY,
        "Content-Disposition": 'attachment; filename="gradbox-comparison.html"',
    }
    programs = await find_both(exporter.services, left, right)
    return await exporter.respond(programs, draw, "text/html; charset=utf-8", headers)


async def find(services: Services, id_: str | None) -> SavedProgram | None:
    """Raises ProblemError where there is no program of that id."""
    return None if id_ is None else await services.programs.find(id_)


async def find_both(services: Services, left: str, right: str) -> dict[str, SavedProgram]:
    """Raises ProblemError where there is no program of one of the ids."""
    programs = await asyncio.gather(services.programs.find(left), services.programs.find(right))
    return {"left": programs[0], "right": programs[1]}


def described(request: Request, program: SavedProgram) -> dict[str, str]:
    """What the page is sent of a saved program."""
    content = program.content
    return {
        "source": content.source,
        "trace_url": trace_url(request.scope["root_path"], program.id),
        "title": content.title,
    }


def compare_url(services: Services, request: Request, left: str, right: str) -> str:
    """The permalink of the comparison of two saved programs."""
    base = public_url(services.settings) or request.scope["root_path"]
    return f"{base}/compare?left={left}&right={right}"
