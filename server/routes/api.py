"""The interface for programs: `POST /api/runs` and the schema of what it answers."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from server.routes.runs import traced
from server.wire.api import ProblemReply, RunRequest
from server.wire.schema import document
from server.wire.trace import Trace

router = APIRouter(prefix="/api")

PROBLEMS: dict[int | str, dict[str, Any]] = {
    413: {"model": ProblemReply, "description": "The program is too long."},
    415: {"model": ProblemReply, "description": "The body is no JSON."},
    422: {"model": ProblemReply, "description": "A field is missing or wrong; `error.field` names it."},
    429: {"model": ProblemReply, "description": "Too many programs wait; `Retry-After` says when to come back."},
    503: {"model": ProblemReply, "description": "No worker can be had."},
}


@router.post("/runs", response_model=Trace, responses=PROBLEMS, summary="Run a program and get its trace")
async def run(body: RunRequest, request: Request) -> Response:
    """Waits for the trace. Every program gets one: refused, raised, stopped and crashed are outcomes, not errors."""
    trace = await traced(request, body)
    return Response(await asyncio.to_thread(trace_json, trace), media_type="application/json")


@router.get("/schema", summary="JSON Schema of a trace")
async def schema() -> dict[str, Any]:
    return document()


def trace_json(trace: Trace) -> str:
    return trace.model_dump_json(by_alias=True, exclude_unset=True)
