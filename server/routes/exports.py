"""Pictures and offline files of saved programs, and thumbnails of operations and scenarios, made by the page's own
code."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from gradbox.wire.api import ProblemReply
from gradbox.wire.processes import DrawingKind, DrawRequest, MovingFormat, Theme
from server.gallery.thumbnails import MAX_WAIT, ThumbnailNotMade, Thumbnails
from server.http.response_delivery import Disconnected, cancel_on_disconnect
from server.http.responses import not_modified_response, with_cache_headers
from server.pictures.renderer_client import Renderer
from server.routes.api import TRACE_RESPONSES
from server.routes.saved_programs import NOT_FOUND
from server.services import ClientDep, DisconnectedDep, GalleryDep, Services, ServicesDep
from server.settings import Settings
from server.store.repository import SavedProgram
from server.templating import render_partial
from server.urls import program_permalink, public_url
from server.visitors.clients import Client
from server.wire.saved_programs import Language

PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
OFFLINE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; sandbox allow-scripts"
)
CROSS_ORIGIN = {"Cross-Origin-Resource-Policy": "cross-origin"}
"""Headers that allow pages of other sites to show a picture."""

RETRY_AFTER = 5
"""Seconds after which it is worth asking again for a picture that is being drawn."""

PICTURE_RESPONSES: dict[int | str, dict[str, Any]] = {
    **NOT_FOUND,
    202: {"description": "A picture is being drawn: a plain one; `Retry-After` says when to try again."},
    404: {"model": ProblemReply, "description": "There is no such program, or it has no such step."},
    429: {"model": ProblemReply, "description": "Too many pictures; `Retry-After` says when to try again."},
    503: {"model": ProblemReply, "description": "The database can't be reached, or nothing can be drawn now."},
}


def file_responses(media_type: str, description: str) -> dict[int | str, dict[str, Any]]:
    """The responses of an export, for the documentation."""
    content = {media_type: {"schema": {"type": "string"}}}
    return {**PICTURE_RESPONSES, 200: {"content": content, "description": description}}


router = APIRouter()
Id = Annotated[str, Path(alias="id")]
StepParameter = Annotated[
    int | None, Query(ge=0, description="Counted from 0, as `i` in the trace and in the page's address.", examples=[0])
]
ThemeParameter = Annotated[Theme, Query(description="The colours' theme.")]
LanguageParameter = Annotated[
    Language | None, Query(description="Of the picture's text; the program's language by default.")
]


@dataclass(frozen=True)
class DrawingResponder:
    """Makes the drawings for one request."""

    request: Request
    services: Services
    client: Client
    disconnected: Disconnected

    async def drawing_response(
        self, program: SavedProgram, draw: DrawRequest, media_type: str, headers: dict[str, str]
    ) -> Response:
        """The response with a drawing of a program, from the cache if possible.

        Raises RateLimited, StepNotFound, RenderingFailed and ClientDisconnected.
        """
        renderer = self.services.renderer
        cached = not_modified_response(self.request, program, renderer.version)
        if cached is not None:
            cached.headers.update(headers)
            return cached
        language = draw.language or program.content.language
        draw = draw.model_copy(update={"title": program.content.title, "language": language})
        limits, client = self.services.visitors.limits.pictures, self.client
        drawing = renderer.get_drawing_within(
            picture_seconds(self.services.settings, media_type),
            *(program.trace_name, draw, program.trace, lambda: limits.count_request(client), client.network),
        )
        body = await cancel_on_disconnect(drawing, self.disconnected)
        if body is None:
            return await plain_picture_response(renderer, language, media_type, headers)
        return with_cache_headers(Response(body, media_type=media_type, headers=headers), program, renderer.version)


def picture_seconds(settings: Settings, media_type: str) -> float | None:
    """How long a request waits for a drawing before it gets a plain picture. Nothing stands in for what is no
    picture."""
    return settings.picture_wait if media_type.startswith("image/") else None


async def plain_picture_response(
    renderer: Renderer, language: str, media_type: str, headers: dict[str, str]
) -> Response:
    """The response that stands in for a picture that is being drawn. Raises RenderingFailed."""
    is_svg = media_type.startswith("image/svg")
    body = await renderer.draw_plain_picture(language, png=not is_svg)
    headers = {**headers, "Cache-Control": "no-store", "Retry-After": str(RETRY_AFTER)}
    return Response(body, 202, media_type=media_type if is_svg else "image/png", headers=headers)


async def get_drawing_responder(
    request: Request, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> DrawingResponder:
    return DrawingResponder(request, services, client, disconnected)


ExporterDep = Annotated[DrawingResponder, Depends(get_drawing_responder)]


async def step_draw_request(
    step: StepParameter = None, theme: ThemeParameter = "light", lang: LanguageParameter = None
) -> DrawRequest:
    """The drawing of a step; without a step, of the complete run."""
    kind: DrawingKind = "loom" if step is None else "stage"
    return DrawRequest(kind=kind, step=step, theme=theme, language=lang or "")


PictureDep = Annotated[DrawRequest, Depends(step_draw_request)]


MovingEnding = Literal["svg", "webp", "gif"]
FILM_TYPES = {"svg": "image/svg+xml; charset=utf-8", "webp": "image/webp", "gif": "image/gif"}
FILM_RESPONSES: dict[int | str, dict[str, Any]] = {
    **PICTURE_RESPONSES,
    200: {
        "content": {kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in FILM_TYPES.values()},
        "description": "The film, at most 1 MB.",
    },
}


@router.get("/s/{id}.film.{ending}", response_class=Response, responses=FILM_RESPONSES, summary="As a film")
async def program_film(
    id_: Id,
    ending: Annotated[MovingEnding, Path(description="An SVG that plays by itself, or a WebP or a GIF for chats.")],
    exporter: ExporterDep,
    theme: ThemeParameter = "light",
    lang: LanguageParameter = None,
) -> Response:
    """The steps from the cause of the run's first finding to where it shows, and the finding at the end."""
    moving: MovingFormat | None = None if ending == "svg" else ending
    draw = DrawRequest(kind="film", moving=moving, theme=theme, language=lang or "")
    headers = {"Content-Security-Policy": PICTURE_POLICY, **CROSS_ORIGIN}
    program = await exporter.services.saved.programs.find_program(id_)
    return await exporter.drawing_response(program, draw, FILM_TYPES[ending], headers)


@router.get(
    "/s/{id}.md",
    response_class=Response,
    responses=file_responses("text/markdown", "The text."),
    summary="As Markdown for a forum",
)
async def program_markdown(id_: Id, exporter: ExporterDep, lang: LanguageParameter = None) -> Response:
    """The run's first finding: its headline, its picture, its two lines, what to do, and the permalink."""
    program = await exporter.services.saved.programs.find_program(id_)
    settings = exporter.services.settings
    address = program_permalink(settings, "", program.id) if public_url(settings) else ""
    draw = DrawRequest(kind="markdown", language=lang or "", address=address)
    return await exporter.drawing_response(program, draw, "text/markdown; charset=utf-8", {})


@router.get(
    "/s/{id}.svg", response_class=Response, responses=file_responses("image/svg+xml", "The picture."), summary="As SVG"
)
async def step_svg(id_: Id, exporter: ExporterDep, draw: PictureDep) -> Response:
    """A step of the program's trace as the page draws it; without `step` the complete run."""
    headers = {"Content-Security-Policy": PICTURE_POLICY, **CROSS_ORIGIN}
    program = await exporter.services.saved.programs.find_program(id_)
    return await exporter.drawing_response(program, draw, "image/svg+xml; charset=utf-8", headers)


@router.get(
    "/s/{id}.card.png",
    response_class=Response,
    responses=file_responses("image/png", "1200 × 630 pixels."),
    summary="As a card",
)
async def link_preview_png(id_: Id, exporter: ExporterDep, draw: PictureDep) -> Response:
    """The preview of a link: the title and the step; without `step` the one that the page opens with."""
    draw = draw.model_copy(update={"kind": "card", "png": True})
    return await exporter.drawing_response(
        await exporter.services.saved.programs.find_program(id_), draw, "image/png", CROSS_ORIGIN
    )


@router.get(
    "/s/{id}.png", response_class=Response, responses=file_responses("image/png", "The picture."), summary="As PNG"
)
async def step_png(id_: Id, exporter: ExporterDep, draw: PictureDep) -> Response:
    """The same as `.svg`, at twice its size where that is not too large."""
    draw = draw.model_copy(update={"png": True})
    return await exporter.drawing_response(
        await exporter.services.saved.programs.find_program(id_), draw, "image/png", CROSS_ORIGIN
    )


@router.get(
    "/s/{id}.html", response_class=Response, responses=file_responses("text/html", "The file."), summary="As a file"
)
async def program_offline_file(
    id_: Id, exporter: ExporterDep, step: StepParameter = None, lang: LanguageParameter = None
) -> Response:
    """One HTML file that steps through the trace without a server."""
    program = await exporter.services.saved.programs.find_program(id_)
    language = lang or program.content.language
    draw = DrawRequest(
        kind="file",
        step=step,
        language=language,
        note=program.content.note or program.content.description,
        address=program_permalink(exporter.services.settings, "", program.id),
        body=render_partial("partials/_offline.html", language),
    )
    headers = {
        "Content-Security-Policy": OFFLINE_POLICY,
        "Content-Disposition": f'attachment; filename="gradbox-{program.id}.html"',
    }
    return await exporter.drawing_response(program, draw, "text/html; charset=utf-8", headers)


MAX_AGE = 3600
"""Seconds for which a cache need not ask again."""

EMPTY_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="128"/>'
"""What stands in for a thumbnail until it is drawn."""

STILL_MAX_WAIT = 8.0
"""Seconds that the gallery waits for a still. Its readers look at many at once, and they are made one at a time."""

RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (421, 422)},
    200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}, "description": "The thumbnail."},
    202: {"description": "It is not made yet: an empty picture; `Retry-After` says when to try again."},
    304: {"description": "The client has this version already."},
    404: {"model": ProblemReply, "description": "There is no such operation."},
}


@router.get("/operations/{name}.svg", response_class=Response, responses=RESPONSES, summary="Thumbnail of an operation")
async def operation_thumbnail(
    name: Annotated[str, Path(max_length=60, description="Of `GET /api/operations`.", examples=["clone"])],
    request: Request,
    gallery: GalleryDep,
    theme: Annotated[Theme, Query(description="The colours' theme.")] = "light",
) -> Response:
    """What the operation does to memory: the rows that the last step of its example touched."""
    return await thumbnail_response(request, gallery.thumbnails, name, theme, MAX_WAIT)


@router.get("/gallery/{name}.svg", response_class=Response, include_in_schema=False)
async def scenario_thumbnail(
    name: Annotated[str, Path(max_length=60)],
    request: Request,
    gallery: GalleryDep,
    theme: Annotated[Theme, Query()] = "light",
) -> Response:
    """The scenario's telling step: the rows of memory that it touched, and others beside them."""
    return await thumbnail_response(request, gallery.stills, name, theme, STILL_MAX_WAIT)


async def thumbnail_response(
    request: Request, pictures: Thumbnails, name: str, theme: Theme, max_wait: float
) -> Response:
    """The response with a thumbnail, or with an empty picture if it is not made in time. Raises ProblemError (404)."""
    picture_headers = {"Content-Security-Policy": PICTURE_POLICY, **CROSS_ORIGIN}
    try:
        tag = await pictures.entity_tag(name)
        headers = {"ETag": tag, "Cache-Control": f"public, max-age={MAX_AGE}"}
        if tag in [given.strip() for given in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        body = await pictures.get(name, theme, max_wait)
    except ThumbnailNotMade as error:
        headers = {**error.headers, "Cache-Control": "no-store", **picture_headers}
        return Response(EMPTY_PICTURE, 202, media_type="image/svg+xml; charset=utf-8", headers=headers)
    return Response(body, media_type="image/svg+xml; charset=utf-8", headers=headers | picture_headers)
