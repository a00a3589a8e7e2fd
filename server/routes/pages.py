"""The pages: the workbench with a scenario, the gallery, and the partial that a run answers with."""

import asyncio
import base64
import gzip
import json
import pathlib
from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse

from server.pool.executions import Result, Subscription
from server.routes.runs import find_subscription, start_run, wait_for_result
from server.services import get_services
from server.templating import render, request_language
from server.wire.api import RunRequest
from server.wire.problems import ProblemError

PATIENCE = 0.4
"""Seconds that the page waits for a run before it listens to its events."""

ROOT = pathlib.Path(__file__).parent.parent.parent
PICTURES = ROOT / "tests/pictures"
router = APIRouter(include_in_schema=False)


@router.get("/", response_class=HTMLResponse)
async def workbench(request: Request) -> Response:
    """The workbench; `?s=name` opens a scenario, without it the first one."""
    shelf = get_services(request.scope).scenarios
    name = request.query_params.get("s")
    scenario = next((member for member in shelf if member.name == name), None)
    if name is not None and scenario is None:
        raise ProblemError(404, "not_found", f"there is no scenario '{name[:80]}'", field="s")
    scenario = scenario or (shelf[0] if shelf else None)
    trace = get_services(request.scope).scenario_traces.get(scenario.name) if scenario else None
    source = json.dumps(scenario.source if scenario else "")
    text = scenario.text[request_language(request)] if scenario and name else {}
    first = f'{{"source":{source},"trace":{trace or "null"}}}'
    devices = get_services(request.scope).pool.devices
    values = {"title": text.get("title"), "question": text.get("look_at"), "scenario": scenario}
    return render(request, "page.html", first=first, devices=devices, **values)


@router.get("/gallery", response_class=HTMLResponse)
async def gallery(request: Request) -> Response:
    """All scenarios, by thread."""
    threads = [
        (thread, list(members))
        for thread, members in groupby(get_services(request.scope).scenarios, lambda member: member.thread)
    ]
    return render(request, "gallery.html", threads=threads)


@router.get("/-/gallery", response_class=HTMLResponse)
async def specimens(request: Request) -> Response:
    """Every mark in every state, and the stored pictures where the server has them."""
    pictures = [(path.stem, base64.b64encode(path.read_bytes()).decode()) for path in sorted(PICTURES.glob("*.svg"))]
    return render(request, "marks.html", pictures=pictures)


@router.post("/runs", response_class=HTMLResponse)
async def run(body: RunRequest, request: Request) -> Response:
    """A run as a fragment of the page: its trace where that is ready soon, else the id to listen to."""
    return await run_fragment(request, await start_run(request, body))


@router.get("/runs/{id}", response_class=HTMLResponse)
async def get_run(request: Request, id_: Annotated[str, Path(alias="id")]) -> Response:
    """The same for a run that was started before."""
    return await run_fragment(request, find_subscription(request, id_))


async def run_fragment(request: Request, run: Subscription | Result) -> Response:
    result = await wait_for_result(request, run, PATIENCE)
    if result is None:
        assert isinstance(run, Subscription)
        get_services(request.scope).executions.expect_reader(run)
        return render(request, "partials/_running.html", run=run.describe())
    trace = await asyncio.to_thread(gzip.decompress, result.body)
    return render(request, "partials/_run.html", trace=trace.decode())
