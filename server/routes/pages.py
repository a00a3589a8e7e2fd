"""The pages: the workbench with a scenario, the gallery, and the sheet of marks."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from server import PROJECT_FOLDER
from server.dependencies import ServicesDep
from server.gallery.catalogue import FILTERS, neighbours, scenarios_by_thread, search_entries
from server.gallery.course import lesson_for_workbench
from server.gallery.scenarios import Scenario
from server.http.trace_response import trace_response
from server.services import Services
from server.templating import render, render_workbench, request_language
from server.wire.problems import ProblemError

IMMUTABLE = "public, max-age=31536000, immutable"
PICTURES = PROJECT_FOLDER / "tests/pictures"
router = APIRouter(include_in_schema=False)


@router.get("/", response_class=HTMLResponse)
async def workbench(
    request: Request,
    services: ServicesDep,
    scenario_name: Annotated[str | None, Query(alias="s")] = None,
    lesson_name: Annotated[str | None, Query(alias="lesson")] = None,
) -> Response:
    """The workbench; `?s=name` opens a scenario, without it the first one. lesson_name: of one that has the scenario."""
    scenario = next((member for member in services.scenarios if member.name == scenario_name), None)
    if scenario_name is not None and scenario is None:
        raise ProblemError(404, "not_found", f"there is no scenario '{scenario_name[:80]}'", field="s")
    scenario = scenario or next(iter(services.scenarios), None)
    trace = await services.scenario_traces.get(scenario) if scenario else None
    trace_url = f"{request.scope['root_path']}/gallery/{trace.name}.trace.json?v={trace.version}" if trace else None
    language = request_language(request)
    text = scenario.text[language] if scenario else {}
    place = (
        find_place(services, request.scope["root_path"], language, lesson_name, scenario)
        if lesson_name and scenario
        else None
    )
    values: dict[str, Any] = {
        "first": {"source": scenario.source if scenario else "", "trace_url": trace_url},
        "title": text.get("title"),
        "question": text.get("question"),
        "look_at": text.get("look_at"),
        "scenario": scenario,
        "neighbours": neighbours(services.scenarios, scenario) if scenario and scenario_name and not place else None,
        "lesson": place,
    }
    return render_workbench(request, **values)


def find_place(
    services: Services, root: str, language: str, lesson_name: str, scenario: Scenario
) -> dict[str, Any] | None:
    """What the page says of the lesson of this name, where that has the scenario: an old link shows the scenario alone."""
    for lesson in services.lessons:
        if lesson.name == lesson_name and any(program.scenario == scenario.name for program in lesson.programs):
            return lesson_for_workbench(
                root, services.lessons, lesson, services.scenarios_by_name, language, scenario.name
            )
    return None


@router.get("/open", response_class=HTMLResponse)
async def open_file(request: Request) -> Response:
    """The page that opens a file of its reader: the browser draws a trace, nothing is sent here."""
    return render(request, "open.html")


@router.get("/gallery", response_class=HTMLResponse)
async def gallery(request: Request, services: ServicesDep) -> Response:
    """All scenarios, by thread."""
    values = {
        "threads": scenarios_by_thread(services.scenarios),
        "filters": FILTERS,
        "count": str(len(services.scenarios)),
        "index": search_entries(services.scenarios),
    }
    return render(request, "gallery.html", **values)


@router.get("/gallery.json")
async def scenario_list(services: ServicesDep) -> JSONResponse:
    """What the scenarios are called, in each language, for the page's command palette."""
    scenarios = [{"name": member.name, "text": member.text} for member in services.scenarios]
    return JSONResponse({"scenarios": scenarios}, headers={"Cache-Control": "public, max-age=60"})


@router.get("/gallery/{name}.trace.json")
async def scenario_trace(request: Request, name: str, services: ServicesDep, v: str | None = None) -> Response:
    """The trace of a scenario, as this server recorded it first. v: its version, for caches."""
    scenario = next((member for member in services.scenarios if member.name == name), None)
    trace = await services.scenario_traces.get(scenario) if scenario else None
    if trace is None:
        raise ProblemError(404, "not_found", "there is no trace of that scenario", field="name")
    response = trace_response(request, trace.body)
    response.headers["Cache-Control"] = IMMUTABLE if v == trace.version else "no-cache"
    return response


@router.get("/-/gallery", response_class=HTMLResponse)
async def specimens(request: Request) -> Response:
    """Every mark in every state, and the stored pictures where the server has them."""
    pictures = [(path.stem, base64.b64encode(path.read_bytes()).decode()) for path in sorted(PICTURES.glob("*.svg"))]
    return render(request, "marks.html", pictures=pictures)
