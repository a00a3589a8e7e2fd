"""`GET /operations/{name}.svg` and `/gallery/{name}.svg`: small pictures of an operation and of a scenario."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from gradbox.wire.api import ProblemReply
from gradbox.wire.pictures import Theme
from server.dependencies import ServicesDep
from server.gallery.thumbnails import MAX_WAIT, Thumbnails
from server.routes.api import TRACE_RESPONSES
from server.routes.exports import CROSS_ORIGIN, PICTURE_POLICY

MAX_AGE = 3600
"""Seconds for which a cache need not ask again."""

STILL_MAX_WAIT = 8.0
"""Seconds that the gallery waits for a still: its readers look at many at once, and they are made one at a time."""

RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (421, 422)},
    200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}, "description": "The thumbnail."},
    304: {"description": "The client has this version already."},
    404: {"model": ProblemReply, "description": "There is no such operation."},
    503: {"model": ProblemReply, "description": "It is not made yet; `Retry-After` says when to try again."},
}

router = APIRouter()


@router.get("/operations/{name}.svg", response_class=Response, responses=RESPONSES, summary="Thumbnail of an operation")
async def thumbnail(
    name: Annotated[str, Path(max_length=60, description="Of `GET /api/operations`.", examples=["clone"])],
    request: Request,
    services: ServicesDep,
    theme: Annotated[Theme, Query(description="The colours' theme.")] = "light",
) -> Response:
    """What the operation does to memory: the rows that the last step of its example touched."""
    return await picture_response(request, services.thumbnails, name, theme, MAX_WAIT)


@router.get("/gallery/{name}.svg", response_class=Response, include_in_schema=False)
async def still(
    name: Annotated[str, Path(max_length=60)],
    request: Request,
    services: ServicesDep,
    theme: Annotated[Theme, Query()] = "light",
) -> Response:
    """The scenario's telling step: the rows of memory that it touched, and others beside them."""
    return await picture_response(request, services.stills, name, theme, STILL_MAX_WAIT)


async def picture_response(
    request: Request, pictures: Thumbnails, name: str, theme: Theme, max_wait: float
) -> Response:
    """Raises ProblemError: 404 for an unknown name, 503 where it is not made in so many seconds."""
    tag = await pictures.entity_tag(name)
    headers = {"ETag": tag, "Cache-Control": f"public, max-age={MAX_AGE}"}
    if tag in [given.strip() for given in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    body = await pictures.get(name, theme, max_wait)
    headers |= {"Content-Security-Policy": PICTURE_POLICY, **CROSS_ORIGIN}
    return Response(body, media_type="image/svg+xml; charset=utf-8", headers=headers)
