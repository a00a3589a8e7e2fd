"""A scenario in another site's page: the frame that shows it, and what tells that site of the frame."""

import asyncio
import gzip
import json
import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from markupsafe import Markup

from server.errors import Refused
from server.routes.saved_programs import AGE, NONE, address, found, fresh, kept, public
from server.security import content_security_policy
from server.templating import render_public, request_language
from server.wire.api import ProblemReply
from server.wire.embeds import OEmbed
from server.wire.pictures import Theme

WIDTH, HEIGHT = 960, 560
NARROWEST, LOWEST = 320, 300
CARD = (1200, 630)

PLACE = re.compile(r"/(?:s|embed)/([0-9a-z]{10,64})/?")
PART = re.compile(r"i=[0-9]{1,9}|at=[A-Za-z0-9%:._~-]{1,200}|v=loom")
"""Of a fragment, what a frame takes."""

ANSWERS: dict[int | str, dict[str, Any]] = {
    **{status: told for status, told in NONE.items() if status != 304},
    404: {"model": ProblemReply, "description": "The address is of no scenario of this server."},
    501: {"model": ProblemReply, "description": "Only `json`; and only where the server knows its own address."},
}

router = APIRouter()
Most = Annotated[int | None, Query(ge=1, description="Pixels that there are.")]


@router.get("/embed/{id}", response_class=HTMLResponse, include_in_schema=False)
async def embed(request: Request, id_: Annotated[str, Path(alias="id")], theme: Theme | None = None) -> Response:
    """The stored trace to step through, and nothing to run, to save or to remember."""
    there = await found(request, id_)
    frames = request.app.state.settings.frames
    headers = {
        "Content-Security-Policy": content_security_policy(request.state.nonce, frames),
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    known = kept(request, there, request.app.state.drawings.version)
    if known is not None:
        known.headers.update(headers)  # a browser takes them in place of those it has
        return known
    lang = request_language(request) if "lang" in request.query_params else there.content.language
    title = there.content.title
    trace = (await asyncio.to_thread(gzip.decompress, there.trace)).decode()
    first = f'{{"trace":{trace},"step":null,"title":{json.dumps(title)}}}'
    away = address(request, there.id)
    answer = render_public(request, "embed.html", lang, first=first, away=away, title=title, theme=theme)
    answer.headers.update(headers)
    return fresh(answer, there, request.app.state.drawings.version)


@router.get("/oembed", response_model=OEmbed, responses=ANSWERS, summary="How a scenario stands in another page")
async def oembed(
    request: Request,
    url: Annotated[str, Query(max_length=2000, description="A permalink of this server, with or without a step.")],
    maxwidth: Most = None,
    maxheight: Most = None,
    format_: Annotated[Literal["json", "xml"], Query(alias="format")] = "json",
) -> Response:
    """oEmbed 1.0. A step or view in the address's fragment is that of the frame."""
    if format_ != "json":
        raise Refused(501, "not_implemented", "this server answers as JSON alone", field="format")
    base = public(request)
    if not base:
        raise Refused(501, "no_address", "this server does not know its own address: GRADBOX_PUBLIC_URL is not set")
    asked, _, fragment = url.partition("#")
    place = asked.partition("?")[0]
    at = PLACE.fullmatch(place[len(base) :]) if starts_with_base(place, base) else None
    if at is None:
        raise Refused(404, "not_ours", "there is no scenario of this server at that address", field="url")
    there = await found(request, at[1])
    width = max(NARROWEST, min(WIDTH, maxwidth or WIDTH))
    height = max(LOWEST, min(HEIGHT, maxheight or HEIGHT))
    shown = "&".join(part for part in fragment.split("&") if PART.fullmatch(part))
    source = f"{base}/embed/{there.id}" + (f"#{shown}" if shown else "")
    title = there.content.title or "Gradbox"
    frame = Markup(
        '<iframe src="{}" width="{}" height="{}" title="{}" loading="lazy" style="border:0" '
        'sandbox="allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"></iframe>'
    ).format(source, width, height, title)
    told = OEmbed(
        title=title,
        provider_url=base,
        cache_age=AGE,
        html=str(frame),
        width=width,
        height=height,
        thumbnail_url=f"{base}/s/{there.id}.card.png",
        thumbnail_width=CARD[0],
        thumbnail_height=CARD[1],
    )
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": f"public, max-age={AGE}"}
    return JSONResponse(told.model_dump(), headers=headers)


def starts_with_base(place: str, public: str) -> bool:
    """Whether an address begins as ours do; the case of a host's name is nobody's business."""
    end = public.find("/", len("https://"))
    host = len(public) if end < 0 else end
    return place[:host].lower() == public[:host].lower() and place[host:].startswith(f"{public[host:]}/")
