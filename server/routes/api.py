"""The interface for programs: `POST /api/runs` and the schema of what it answers."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from server.routes.runs import traced
from server.wire.api import ProblemReply, RunRequest
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
    413: {"model": ProblemReply, "description": "The program is too long."},
    415: {"model": ProblemReply, "description": "The body is no JSON."},
    422: {"model": ProblemReply, "description": "A field is missing or wrong; `error.field` names it."},
    429: {"model": ProblemReply, "description": "Too many programs wait; `Retry-After` says when to come back."},
    503: {"model": ProblemReply, "description": "No worker can be had."},
}


@router.post("/runs", response_model=Trace, responses=ANSWERS, summary="Run a program and get its trace")
async def run(body: RunRequest, request: Request) -> Response:
    """Waits for the trace. Every program gets one: refused, raised, stopped and crashed are outcomes, not errors."""
    trace = await traced(request, body)
    return Response(await asyncio.to_thread(trace_json, trace), media_type="application/json")


@router.get("/schema", summary="JSON Schema of a trace")
async def schema() -> dict[str, Any]:
    return document()


def trace_json(trace: Trace) -> str:
    return trace.model_dump_json(by_alias=True, exclude_unset=True)
