"""Pages: the workbench with a scenario, `/settled` with its claims, the course with its lessons, the sheet of marks."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from gradbox.wire.api import RunRequest
from server import PROJECT_FOLDER
from server.gallery.claims import claims_as_json
from server.gallery.course import Lesson, lesson_address, lesson_for_workbench, lesson_program_items
from server.gallery.gallery import Gallery
from server.gallery.scenarios import Scenario, neighbouring_scenarios
from server.http.json_body import JsonRoute
from server.services import ClientDep, DisconnectedDep, GalleryDep, ServicesDep
from server.templating import render_visitor_page, render_workbench_page, request_language
from server.wire.problems import ProblemError

PICTURES = PROJECT_FOLDER / "tests/pictures"
router = APIRouter(include_in_schema=False, route_class=JsonRoute)


@router.get("/", response_class=HTMLResponse)
async def workbench_page(
    request: Request,
    gallery: GalleryDep,
    scenario_name: Annotated[str | None, Query(alias="s")] = None,
    lesson_name: Annotated[str | None, Query(alias="lesson")] = None,
) -> Response:
    """The workbench. `?s=name` opens a scenario; without it, the first one is open.

    lesson_name: a lesson that contains the scenario
    """
    scenario = next((member for member in gallery.scenarios if member.name == scenario_name), None)
    if scenario_name is not None and scenario is None:
        raise ProblemError(404, "not_found", f"there is no scenario '{scenario_name[:80]}'", field="s")
    scenario = scenario or next(iter(gallery.scenarios), None)
    trace = await gallery.traces.get(scenario) if scenario else None
    trace_url = f"{request.scope['root_path']}/gallery/{trace.name}.trace.json?v={trace.version}" if trace else None
    language = request_language(request)
    text = scenario.text[language] if scenario else {}
    place = (
        find_lesson_of_scenario(gallery, request.scope["root_path"], language, lesson_name, scenario)
        if lesson_name and scenario
        else None
    )
    values: dict[str, Any] = {
        "first": {"source": scenario.source if scenario else "", "trace_url": trace_url},
        "title": text.get("title"),
        "question": text.get("question"),
        "look_at": text.get("look_at"),
        "scenario": scenario,
        "front": scenario_name is None and not lesson_name,
        "neighbours": neighbouring_scenarios(gallery.scenarios, scenario)
        if scenario and scenario_name and not place
        else None,
        "lesson": place,
    }
    return render_workbench_page(request, **values)


def find_lesson_of_scenario(
    gallery: Gallery, root: str, language: str, lesson_name: str, scenario: Scenario
) -> dict[str, Any] | None:
    """What the page says of the named lesson, if it contains the scenario. An old link shows the scenario alone."""
    for lesson in gallery.lessons:
        if lesson.name == lesson_name and any(program.scenario == scenario.name for program in lesson.programs):
            return lesson_for_workbench(
                root, gallery.lessons, lesson, gallery.scenarios_by_name, language, scenario.name
            )
    return None


@router.get("/open", response_class=HTMLResponse)
async def open_file_page(request: Request) -> Response:
    """The page that opens a file of its reader. The browser draws the trace; nothing is uploaded."""
    return render_visitor_page(request, "open.html")


@router.get("/-/gallery", response_class=HTMLResponse)
async def mark_specimens_page(request: Request) -> Response:
    """Every mark in every state, and the stored pictures where the server has them."""
    pictures = [(path.stem, base64.b64encode(path.read_bytes()).decode()) for path in sorted(PICTURES.glob("*.svg"))]
    return render_visitor_page(request, "marks.html", pictures=pictures)


MAX_CLAIMS_WAIT = 3.0
"""Seconds that a response waits for the claims' programs, which run once, on the first request."""

REFRESH_SECONDS = 3
"""Seconds after which a page without all verdicts reloads."""


@router.get("/settled", response_class=HTMLResponse)
async def settled_page(request: Request, services: ServicesDep) -> Response:
    """All claims with their verdicts. The page reloads while some programs have not been run yet."""
    verdicts = await services.gallery.claims.get_verdicts(services.gallery.scenarios, MAX_CLAIMS_WAIT)
    count = {holds: sum(verdict.holds is holds for verdict in verdicts) for holds in (True, False, None)}
    return render_visitor_page(
        request,
        "settled.html",
        verdicts=verdicts,
        holding=str(count[True]),
        refuted=str(count[False]),
        waiting=count[None],
        renewal=REFRESH_SECONDS,
        versions=services.pool.versions,
    )


@router.get("/settled.json")
async def settled_json(services: ServicesDep) -> JSONResponse:
    """What `python -m server settled --json` prints."""
    verdicts = await services.gallery.claims.get_verdicts(services.gallery.scenarios, MAX_CLAIMS_WAIT)
    return JSONResponse(claims_as_json(verdicts, services.pool.versions), headers={"Cache-Control": "no-cache"})


def find_lesson(gallery: Gallery, name: str) -> Lesson:
    """Find a lesson. Raises ProblemError (404)."""
    for lesson in gallery.lessons:
        if lesson.name == name:
            return lesson
    raise ProblemError(404, "not_found", f"there is no lesson '{name[:80]}'", field="lesson")


@router.get("/course", response_class=HTMLResponse)
async def course_page(request: Request, gallery: GalleryDep) -> Response:
    """All lessons, in their order."""
    root, language = request.scope["root_path"], request_language(request)
    lessons = [(lesson, lesson_address(root, lesson, language)) for lesson in gallery.lessons]
    return render_visitor_page(request, "course.html", lessons=lessons)


@router.get("/course/{name}", response_class=HTMLResponse)
async def lesson_page(request: Request, name: str, gallery: GalleryDep) -> Response:
    """A lesson: its introduction, its programs with what to watch, its question."""
    lesson = find_lesson(gallery, name)
    root, language = request.scope["root_path"], request_language(request)
    at = gallery.lessons.index(lesson)
    after = gallery.lessons[at + 1] if at + 1 < len(gallery.lessons) else None
    return render_visitor_page(
        request,
        "lesson.html",
        lesson=lesson,
        number=at + 1,
        items=lesson_program_items(root, lesson, gallery.scenarios_by_name, language),
        question_url=lesson_address(root, lesson, language, "/question"),
        after=after,
        after_url=lesson_address(root, after, language) if after else None,
    )


@router.get("/course/{name}/question", response_class=HTMLResponse)
async def question_page(request: Request, name: str, gallery: GalleryDep) -> Response:
    """The workbench with the program that the reader of a lesson has to change."""
    lesson = find_lesson(gallery, name)
    root, language = request.scope["root_path"], request_language(request)
    return render_workbench_page(
        request,
        first={"source": lesson.question.start, "trace_url": None},
        title=lesson.text[language]["title"],
        lesson=lesson_for_workbench(root, gallery.lessons, lesson, gallery.scenarios_by_name, language, ""),
    )


@router.get("/course/{name}/answer.json")
async def right_answer_json(name: str, gallery: GalleryDep) -> JSONResponse:
    """A program that answers the question, for readers who want to see it."""
    return JSONResponse({"source": find_lesson(gallery, name).question.answer})


@router.post("/course/{name}/answers")
async def post_answer(
    body: RunRequest, name: str, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> JSONResponse:
    """Runs a program together with the check of the question, which counts as one of the client's runs, and says
    whether it is an answer."""
    question = find_lesson(services.gallery, name).question
    checked = body.model_copy(update={"source": question.program_with_answer_check(body.source)})
    result = await services.runs.wait_for_result(await services.runs.start_run(checked, client), disconnected)
    assert result is not None
    return JSONResponse(await services.saved.programs.reader.run_function("judge", result.body))
