"""The course: its page, a page for each lesson, the workbench with a lesson's question, and what a run says of an answer."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from gradbox.wire.api import RunRequest
from server.dependencies import ClientDep, DisconnectedDep, ServicesDep
from server.gallery.course import lesson_address, lesson_for_workbench, lesson_items
from server.gallery.lessons import Lesson
from server.services import Services
from server.templating import render, render_workbench, request_language
from server.wire.problems import ProblemError

router = APIRouter(prefix="/course", include_in_schema=False)


def find_lesson(services: Services, name: str) -> Lesson:
    """Raises ProblemError (404)."""
    for lesson in services.lessons:
        if lesson.name == name:
            return lesson
    raise ProblemError(404, "not_found", f"there is no lesson '{name[:80]}'", field="lesson")


@router.get("", response_class=HTMLResponse)
async def course(request: Request, services: ServicesDep) -> Response:
    """All lessons, in their order."""
    root, language = request.scope["root_path"], request_language(request)
    lessons = [(lesson, lesson_address(root, lesson, language)) for lesson in services.lessons]
    return render(request, "course.html", lessons=lessons)


@router.get("/{name}", response_class=HTMLResponse)
async def lesson_page(request: Request, name: str, services: ServicesDep) -> Response:
    """A lesson: its introduction, its programs with what to watch, its question."""
    lesson = find_lesson(services, name)
    root, language = request.scope["root_path"], request_language(request)
    at = services.lessons.index(lesson)
    after = services.lessons[at + 1] if at + 1 < len(services.lessons) else None
    return render(
        request,
        "lesson.html",
        lesson=lesson,
        number=at + 1,
        items=lesson_items(root, lesson, services.scenarios_by_name, language),
        question_url=lesson_address(root, lesson, language, "/question"),
        after=after,
        after_url=lesson_address(root, after, language) if after else None,
    )


@router.get("/{name}/question", response_class=HTMLResponse)
async def question_page(request: Request, name: str, services: ServicesDep) -> Response:
    """The workbench with the program that a lesson's reader is to change."""
    lesson = find_lesson(services, name)
    root, language = request.scope["root_path"], request_language(request)
    return render_workbench(
        request,
        first={"source": lesson.question.start, "trace_url": None},
        title=lesson.text[language]["title"],
        lesson=lesson_for_workbench(root, services.lessons, lesson, services.scenarios_by_name, language, ""),
    )


@router.get("/{name}/answer.json")
async def right_answer(name: str, services: ServicesDep) -> JSONResponse:
    """One program that answers the question, for who wants to see it."""
    return JSONResponse({"source": find_lesson(services, name).question.answer})


@router.post("/{name}/answers")
async def answer(
    body: RunRequest, name: str, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> JSONResponse:
    """Runs a program together with the check of the question, which counts as one of the client's runs, and says whether
    it is an answer."""
    question = find_lesson(services, name).question
    checked = body.model_copy(update={"source": question.with_check(body.source)})
    result = await services.runs.wait(await services.runs.start(checked, client), disconnected)
    assert result is not None
    return JSONResponse(await services.programs.reader.read("judge", result.body))
