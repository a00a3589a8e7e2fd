"""The pages: the workbench with its first picture, the gallery, and the partial that a run answers with."""

import asyncio
import base64
import gzip
import json
import pathlib
from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse

from server.errors import Refused
from server.pool.runs import Result, Run
from server.routes.runs import awaited, begun, found
from server.templating import language, render
from server.wire.api import RunRequest

SOON = 0.4
"""Seconds after which the page is told that its run goes on."""

ROOT = pathlib.Path(__file__).parent.parent.parent
PICTURES = ROOT / "tests/pictures"
router = APIRouter(include_in_schema=False)


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
