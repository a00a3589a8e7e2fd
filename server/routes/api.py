"""The interface for programs: `POST /api/runs` and the schema of what it answers."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import EventSourceResponse

from server.pool.runs import Run
from server.routes.runs import awaited, begun, found, known, sent
from server.wire.api import ProblemReply, RunRequest, Started, State
from server.wire.schema import document
from server.wire.trace import Trace

router = APIRouter(prefix="/api")

EXAMPLE: dict[str, Any] = {
    "schema": 1,
    "program": {
        "source": "x = 1",
        "lines": [1],
        "statements": [
            {"line": 1, "col": 0, "end_line": 1, "end_col": 5, "kind": "Assign", "parent": None, "loop": None}
        ],
        "notices": [],
    },
    "runtime": {
        "torch": "2.13.0+cpu",
        "numpy": "2.4.6",
        "python": "3.11.7",
        "tracer": "0.1.0",
        "device": "cpu",
        "seed": 0,
        "hash_seed": 0,
        "threads": 1,
        "limits": {"steps": 2000, "wall": 10.0, "output": 1000000, "trace": 8000000},
    },
    "steps": [
        {
            "i": 0,
            "kind": "statement",
            "stmt": 0,
            "line": 1,
            "frame": "f1",
            "depth": 0,
            "set": {"f1": {"kind": "frame", "name": "<module>", "line": 1, "state": "running", "vars": {"x": 1}}},
            "gone": [],
            "log": [],
        }
    ],
    "outcome": {"status": "finished"},
    "cost": {"wall_ms": 4.1, "cpu_ms": 3.9, "peak_bytes": 266657792},
}
"""A whole trace, of the shortest program that leaves anything behind."""

ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/json": {"example": EXAMPLE}}, "description": "The trace."},
    202: {"model": Started, "description": "It has begun, for those who prefer not to wait."},
    204: {"description": "Only what is there was asked for, and it is not."},
    400: {"model": ProblemReply, "description": "The request can't be read."},
    403: {"model": ProblemReply, "description": "Another site's page asks."},
    404: {"model": ProblemReply, "description": "There is no such run."},
    413: {"model": ProblemReply, "description": "The program is too long."},
    415: {"model": ProblemReply, "description": "The body is no JSON."},
    421: {"model": ProblemReply, "description": "The server does not answer to that name."},
    422: {"model": ProblemReply, "description": "A field is missing or wrong; `error.field` names it."},
    429: {"model": ProblemReply, "description": "Too many programs wait; `Retry-After` says when to come back."},
    503: {"model": ProblemReply, "description": "No worker can be had."},
}

NOBODY: dict[int | str, dict[str, Any]] = {
    404: ANSWERS[404],
    421: ANSWERS[421],
    422: ANSWERS[422],
}
FOUND: dict[int | str, dict[str, Any]] = {
    **NOBODY,
    200: ANSWERS[200],
    202: {"model": State, "description": "It waits, or runs."},
}
STREAM = {"text/event-stream": {"example": 'event: running\ndata: {"id": "x", "state": "running"}\n\n'}}


@router.post("/runs", response_model=Trace, responses=ANSWERS, summary="Run a program and get its trace")
async def run(
    body: RunRequest,
    request: Request,
    kept: Annotated[bool, Query(description="Only a trace that is there already; nothing is run.")] = False,
) -> Response:
    """Waits for the trace. Every program gets one: refused, raised, stopped and crashed are outcomes, not errors.

    With `Prefer: respond-async` it answers at once with 202, the run's id and the address of its events.
    """
    if kept:
        there = known(request, body)
        return await sent(request, there) if there else Response(status_code=204)
    started = await begun(request, body)
    if isinstance(started, Run) and "respond-async" in request.headers.get("prefer", "").lower():
        place = f"{request.scope['root_path']}/api/runs/{started.id}"
        request.app.state.runs.idle(started)
        told = Started(id=started.id, url=place, events=f"{place}/events")
        return JSONResponse(told.model_dump(), 202, {"Location": place, "Preference-Applied": "respond-async"})
    result = await awaited(request, started)
    assert result is not None
    return await sent(request, result)


@router.get("/runs/{id}", response_model=Trace, responses=FOUND, summary="The trace of a run, or how far it is")
async def one(request: Request, id_: Annotated[str, Path(alias="id")]) -> Response:
    """200 with the trace once the run is over; 202 before, with its place in the queue."""
    run = found(request, id_)
    if not run.work.over:
        request.app.state.runs.idle(run)
        return JSONResponse(run.facts(), 202)
    result = await awaited(request, run)
    assert result is not None
    return await sent(request, result)


@router.delete("/runs/{id}", status_code=204, responses={**NOBODY, 403: ANSWERS[403]}, summary="Stop a run")
async def stop(request: Request, id_: Annotated[str, Path(alias="id")]) -> None:
    """Its trace then holds what was recorded until now, with the outcome `cancelled`."""
    request.app.state.runs.stop(found(request, id_))


@router.get(
    "/runs/{id}/events",
    response_class=EventSourceResponse,
    responses={**NOBODY, 200: {"content": STREAM, "description": "One event for each change."}},
    summary="What becomes of a run, as it happens",
)
async def events(request: Request, id_: Annotated[str, Path(alias="id")]) -> Response:
    """Server-sent events, each with a JSON object: `queued` with `ahead`, `running`, `done` with `status`.

    When the last one who listens has gone, the run is ended some seconds later.
    """
    run = found(request, id_)
    if request.state.bare:
        return Response(media_type="text/event-stream")

    async def told() -> AsyncIterator[dict[str, str]]:
        async for facts in request.app.state.runs.events(run):
            yield {"event": facts["state"], "data": json.dumps(facts)}

    return EventSourceResponse(told(), ping=15)


@router.get("/schema", summary="JSON Schema of a trace")
async def schema() -> dict[str, Any]:
    return document()
