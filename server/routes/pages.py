"""The pages: the workbench with its first picture, the gallery, and the partial that a run answers with."""

import asyncio
import base64
import gzip
import json
import pathlib
from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates
from markupsafe import Markup

from server.clients import greeting
from server.errors import Refused
from server.language.shelf import LANGUAGES
from server.pool.runs import Result, Run
from server.routes.runs import awaited, begun, found
from server.wire.api import RunRequest

SOON = 0.4
"""Seconds after which the page is told that its run goes on."""

ROOT = pathlib.Path(__file__).parent.parent.parent
PICTURES = ROOT / "tests/pictures"
router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(directory=ROOT / "templates")
sentences = {
    language: json.loads((ROOT / "static/locales" / f"{language}.json").read_text("utf-8")) for language in LANGUAGES
}


def island(text: str) -> Markup:
    """JSON as the content of a script element: nothing in it can end the element or begin another."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


templates.env.filters["island"] = island


def language(request: Request) -> str:
    """The one asked for, else the first of the browser's that we have."""
    asked = request.query_params.get("lang")
    if asked in LANGUAGES:
        return asked
    for choice in request.headers.get("accept-language", "").split(","):
        known = choice.split(";")[0].strip()[:2].lower()
        if known in LANGUAGES:
            return known
    return LANGUAGES[0]


def show(request: Request, name: str, lang: str, **values: Any) -> Response:
    """A page that is the same for everybody."""
    given = {"lang": lang, "say": sentences[lang], "nonce": request.state.nonce, "root": request.scope["root_path"]}
    return templates.TemplateResponse(request, name, {**given, **values})


def render(request: Request, name: str, **values: Any) -> Response:
    """A page of one visitor, in a language that the browser knows."""
    answer = show(request, name, language(request), **values)
    answer.headers["Vary"] = "Accept-Language, HX-Request"
    state = request.app.state
    cookie = greeting(request.scope, state.secret, state.proxies)
    if cookie is not None:
        answer.headers["Set-Cookie"] = cookie
        answer.headers["Cache-Control"] = "private, no-store"  # of one visitor, and no proxy's to keep
    return answer


def rendered(name: str, lang: str) -> str:
    """A partial by itself."""
    return templates.get_template(name).render(lang=lang, say=sentences[lang])


@router.get("/", response_class=HTMLResponse)
async def page(request: Request) -> Response:
    """The workbench; `?s=name` opens a scenario, without it the first one is there."""
    shelf = request.app.state.shelf
    asked = request.query_params.get("s")
    scenario = next((one for one in shelf if one.name == asked), None)
    if asked is not None and scenario is None:
        raise Refused(404, "not_found", f"there is no scenario '{asked[:80]}'", field="s")
    scenario = scenario or (shelf[0] if shelf else None)
    trace = request.app.state.traces.get(scenario.name) if scenario else None
    source = json.dumps(scenario.source if scenario else "")
    words = scenario.text[language(request)] if scenario and asked else {}
    first = f'{{"source":{source},"trace":{trace or "null"}}}'
    devices = request.app.state.pool.devices
    named = {"title": words.get("title"), "question": words.get("look_at"), "scenario": scenario}
    return render(request, "page.html", first=first, devices=devices, **named)


@router.get("/gallery", response_class=HTMLResponse)
async def gallery(request: Request) -> Response:
    """Every scenario, by thread."""
    threads = [(thread, list(members)) for thread, members in groupby(request.app.state.shelf, lambda one: one.thread)]
    return render(request, "gallery.html", threads=threads)


@router.get("/-/gallery", response_class=HTMLResponse)
async def marks(request: Request) -> Response:
    """Every mark in every state, and the stored pictures where they lie beside the server."""
    stored = [(path.stem, base64.b64encode(path.read_bytes()).decode()) for path in sorted(PICTURES.glob("*.svg"))]
    return render(request, "marks.html", pictures=stored)


@router.post("/runs", response_class=HTMLResponse)
async def run(body: RunRequest, request: Request) -> Response:
    """The run as a fragment of the page: its trace, where that comes soon, or the way to hear of it."""
    return await face(request, await begun(request, body))


@router.get("/runs/{id}", response_class=HTMLResponse)
async def again(request: Request, id_: Annotated[str, Path(alias="id")]) -> Response:
    """The same for a run that has begun."""
    return await face(request, found(request, id_))


async def face(request: Request, run: Run | Result) -> Response:
    result = await awaited(request, run, SOON)
    if result is None:
        assert isinstance(run, Run)
        request.app.state.runs.idle(run)
        return render(request, "partials/_running.html", run=run.facts())
    trace = await asyncio.to_thread(gzip.decompress, result.body)
    return render(request, "partials/_run.html", trace=trace.decode())
