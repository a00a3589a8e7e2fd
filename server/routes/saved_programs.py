"""Permalinks: saving a program, its page, its trace, its script, and running it again."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from gradbox.wire.api import ProblemReply, RunRequest
from gradbox.wire.trace import Trace
from server.http.fair_work_scheduler import work_in_thread
from server.http.json_body import JsonRoute
from server.http.response_delivery import Disconnected
from server.http.responses import not_modified_response, trace_response, with_cache_headers
from server.pictures.renderer_client import BeforeDrawing
from server.pool.executions import ExecutionResult
from server.routes.api import TRACE_RESPONSES
from server.runs.service import RunService
from server.saved.headline import PAGE_SECONDS, finding_headline
from server.saved.programs import RunProgram, describe_program, python_script
from server.services import ClientDep, DisconnectedDep, RunsDep, SavedDep, Services, ServicesDep, SettingsDep
from server.store.repository import SavedProgram
from server.templating import render_workbench_page
from server.urls import program_permalink, public_url, trace_url
from server.visitors.clients import Client
from server.wire.saved_programs import Content, Rerun, SavedProgramReply

router = APIRouter(route_class=JsonRoute)
Id = Annotated[str, Path(alias="id")]

NOT_FOUND: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has this version."},
    404: {"model": ProblemReply, "description": "There is no such program."},
    410: {"model": ProblemReply, "description": "The host removed it."},
    421: TRACE_RESPONSES[421],
    422: TRACE_RESPONSES[422],
    503: {"model": ProblemReply, "description": "The database can't be reached, or no worker is available."},
}
SAVE_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (400, 403, 413, 415, 421, 422)},
    200: {"model": SavedProgramReply, "description": "The same content was saved before, under this id."},
    201: {"model": SavedProgramReply, "description": "The program was saved."},
    410: NOT_FOUND[410],
    429: {"model": ProblemReply, "description": "Too many runs or saves; `Retry-After` says when to try again."},
    503: NOT_FOUND[503],
    507: {"model": ProblemReply, "description": "The quota of saved programs is used up."},
}
RERUN_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: answer for status, answer in NOT_FOUND.items() if status != 304
}
RERUN_RESPONSES |= {status: TRACE_RESPONSES[status] for status in (403, 413, 415, 429)}
SCRIPT_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"example": "x = 1\n"}}, "description": "A program that runs."}
}


def program_runner(
    runs: RunService, client: Client, disconnected: Disconnected, count_cached: bool = False
) -> RunProgram:
    """A function that runs a program for this client and returns its result.

    count_cached: see `RunService.start_run`
    """

    async def run_program(body: RunRequest) -> ExecutionResult:
        subscription = await runs.start_run(body, client, count_cached)
        result = await runs.wait_for_result(subscription, disconnected)
        assert result is not None
        return result

    return run_program


@router.post(
    "/api/scenarios",
    response_model=SavedProgramReply,
    status_code=201,
    responses=SAVE_RESPONSES,
    summary="Save a program",
)
async def save_program(
    body: Content, request: Request, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> Response:
    """201 with its id and address; 200 where the same content was saved before. The trace is made by the server."""
    program, new = await services.saved.programs.save_program(
        body, client, program_runner(services.runs, client, disconnected)
    )
    if new:  # drawn for its page, at the cost of saving it
        await fetch_headline(program, services, client, None, 0)
    reply = describe_program(program, program_permalink(services.settings, request.scope["root_path"], program.id))
    return JSONResponse(reply.model_dump(mode="json", by_alias=True), 201 if new else 200, {"Location": reply.url})


@router.post(
    "/api/scenarios/{id}/rerun", response_model=Rerun, responses=RERUN_RESPONSES, summary="Run a saved program again"
)
async def rerun_program(
    id_: Id, runs: RunsDep, saved: SavedDep, client: ClientDep, disconnected: DisconnectedDep
) -> Rerun:
    """Runs it with the server's present versions and says whether the result changed. What was saved stays as it is,
    unless its run was ended by a clock, the machine's memory or a signal, and the new one was not.

    The request has no body, but needs the content type `application/json`, like every POST here.
    """
    return await saved.programs.rerun_program(
        id_, client, program_runner(runs, client, disconnected, count_cached=True)
    )


@router.get("/s/{id}.trace.json", response_model=Trace, responses=NOT_FOUND, summary="The trace of a saved program")
async def get_trace(request: Request, id_: Id, saved: SavedDep, settings: SettingsDep) -> Response:
    """As it was recorded when the program was saved."""
    program = await saved.programs.find_program(id_)
    response = not_modified_response(request, program) or with_cache_headers(
        trace_response(request, program.trace), program
    )
    if settings.frames != "'none'":  # a frame in a sandbox is of no origin, and fetches it as a stranger
        response.headers["Access-Control-Allow-Origin"] = "*"
    return response


@router.get(
    "/s/{id}.json", response_model=SavedProgramReply, responses=NOT_FOUND, summary="A saved program without its trace"
)
async def get_program(request: Request, id_: Id, saved: SavedDep, settings: SettingsDep) -> Response:
    program = await saved.programs.find_program(id_)
    reply = describe_program(program, program_permalink(settings, request.scope["root_path"], program.id))
    response = JSONResponse(reply.model_dump(mode="json", by_alias=True))
    return not_modified_response(request, program) or with_cache_headers(response, program)


@router.get(
    "/s/{id}.py",
    response_class=PlainTextResponse,
    responses={**NOT_FOUND, **SCRIPT_RESPONSES},
    summary="A saved program as a Python script",
)
async def get_script(request: Request, id_: Id, saved: SavedDep, settings: SettingsDep) -> Response:
    """Without prompts and printed output; title, description and address as comments."""
    program = await saved.programs.find_program(id_)
    cached = not_modified_response(request, program)
    if cached is not None:
        return cached
    url = program_permalink(settings, request.scope["root_path"], program.id)
    text = await work_in_thread(python_script, program, url)
    headers = {"Content-Disposition": f'inline; filename="{program.id}.py"'}
    return with_cache_headers(Response(text, media_type="text/plain; charset=utf-8", headers=headers), program)


@router.get("/s/{id}", response_class=HTMLResponse, include_in_schema=False)
async def saved_program_page(request: Request, id_: Id, services: ServicesDep, client: ClientDep) -> Response:
    """The workbench with a saved program and its stored trace; needs no worker."""
    program = await services.saved.programs.find_program(id_)
    values: dict[str, Any] = {}
    base = public_url(services.settings)
    if base:
        url = program_permalink(services.settings, request.scope["root_path"], program.id)
        values = {"url": url, "oembed": f"{base}/oembed?{urlencode({'url': url})}"}
        limits = services.visitors.limits.pictures
        values["headline"] = await fetch_headline(
            program, services, client, lambda: limits.count_request(client), PAGE_SECONDS
        )
    return render_saved_program_page(request, services, program, {}, **values)


async def fetch_headline(
    program: SavedProgram, services: Services, client: Client, before_drawing: BeforeDrawing | None, seconds: float
) -> str:
    """What other sites show of the program's link; "" where a description does instead, or no site knows the link."""
    if program.content.description or not public_url(services.settings):
        return ""
    return await finding_headline(services.renderer, program, before_drawing, client.network, seconds)


def render_saved_program_page(
    request: Request, services: Services, program: SavedProgram, page_data: dict[str, Any], **values: Any
) -> Response:
    """The workbench with a saved program.

    page_data: further data for the page's script
    values: for the template
    """
    reply = describe_program(program, program_permalink(services.settings, request.scope["root_path"], program.id))
    first: dict[str, Any] = {
        **page_data,
        "source": reply.source,
        "trace_url": trace_url(request.scope["root_path"], program.id),
        "saved": reply.model_dump(mode="json", by_alias=True, exclude={"source"}),
    }
    if request.query_params.get("predict") == "1":  # what is said of the run may tell what is to be predicted
        first["saved"] |= {"description": "", "note": ""}
    values |= {"title": reply.title, "look_at": reply.description, "saved": reply}
    values["now"] = services.pool.versions.get("torch")
    response = render_workbench_page(request, first=first, **values)
    response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
