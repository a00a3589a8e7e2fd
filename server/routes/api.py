"""The HTTP interface for programs: running them, findings, fixes, gradient checks, and the schema of a trace."""

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import EventSourceResponse

from gradbox.wire.api import (
    GradientCheckReply,
    GradientCheckRequest,
    ProblemReply,
    RunOrPipelineRequest,
    RunRequest,
    RunState,
    StartedRun,
)
from gradbox.wire.findings import ExplainedTrace, Findings, Fixes, FixRequest
from gradbox.wire.gradient_check import GradientCheckOptions
from gradbox.wire.schema import encoded_schema_document
from gradbox.wire.trace import Trace
from server.http.fair_work_scheduler import work_in_thread
from server.http.json_body import JsonRoute
from server.http.responses import trace_response
from server.operations.pipeline import minimum_source_size, pipeline_source
from server.pool.zygote import WorkersUnavailable
from server.runs.explainer import add_findings_to_trace, explain_trace
from server.runs.fixes import FixFinder
from server.services import ClientDep, DisconnectedDep, RunsDep, Services, ServicesDep
from server.visitors.clients import Client
from server.wire.problems import ProblemError
from server.wire.saved_programs import Language

router = APIRouter(prefix="/api", route_class=JsonRoute)
Id = Annotated[str, Path(alias="id")]

EXAMPLE_TRACE: dict[str, Any] = {
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
"""A complete trace of a program with one statement."""

TRACE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/json": {"example": EXAMPLE_TRACE}}, "description": "The trace."},
    202: {"model": StartedRun, "description": "The run has started; `url` is where its trace will be."},
    204: {"description": "Only a cached trace was asked for, and there is none."},
    400: {"model": ProblemReply, "description": "The request can't be parsed."},
    403: {"model": ProblemReply, "description": "The request comes from another site's page, or live runs are off."},
    404: {"model": ProblemReply, "description": "There is no such run."},
    413: {"model": ProblemReply, "description": "The program is too long."},
    415: {"model": ProblemReply, "description": "The body is not JSON."},
    421: {"model": ProblemReply, "description": "The server does not serve this host."},
    422: {"model": ProblemReply, "description": "A field is missing or wrong; `error.field` names it."},
    429: {"model": ProblemReply, "description": "Too many programs are waiting; `Retry-After` says when to try again."},
    503: {"model": ProblemReply, "description": "No worker is available."},
}

NO_RUN: dict[int | str, dict[str, Any]] = {
    404: TRACE_RESPONSES[404],
    421: TRACE_RESPONSES[421],
    422: TRACE_RESPONSES[422],
}
RUN_RESPONSES: dict[int | str, dict[str, Any]] = {
    **NO_RUN,
    200: TRACE_RESPONSES[200],
    202: {"model": RunState, "description": "It is queued, or running."},
}
FINDINGS_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (421, 422)},
    404: {"model": ProblemReply, "description": "There is no such program."},
    410: {"model": ProblemReply, "description": "The host removed it."},
    429: {
        "model": ProblemReply,
        "description": "Too many pictures and findings; `Retry-After` says when to try again.",
    },
    503: {"model": ProblemReply, "description": "The database can't be reached, or nothing can be explained now."},
}
STREAM_RESPONSE = {"text/event-stream": {"example": 'event: running\ndata: {"id": "x", "state": "running"}\n\n'}}


@router.post(
    "/runs", response_model=ExplainedTrace, responses=TRACE_RESPONSES, summary="Run a program and get its trace"
)
async def post_run(
    run_request: RunOrPipelineRequest,
    request: Request,
    services: ServicesDep,
    client: ClientDep,
    disconnected: DisconnectedDep,
    cached_only: Annotated[
        bool, Query(alias="kept", description="Answer with a cached trace only; nothing is run.")
    ] = False,
    live: Annotated[
        bool,
        Query(description="The run is started by typing or for a preview; it counts to `GRADBOX_LIVE_LIMIT` instead."),
    ] = False,
) -> Response:
    """Waits for the trace. Every program gets one: refused, raised, stopped and crashed are outcomes, not errors.

    With `Prefer: respond-async` it answers at once with 202, the run's id and the address of its events; with `Prefer:
    respond-async, wait=2` it does so only if the run takes longer than two seconds (RFC 7240). With `explain` the trace
    has `findings`; without, or if it answers with 202, it has none.

    The program is a `source`, or a `pipeline` of operations (`GET /api/operations`); the trace has the source that was
    made of it, in `program.source`. Where an item does not fit, `error.field` names it, like `pipeline.2.operands.a`.
    """
    body = await expand_pipeline(run_request, services.settings.source)
    if cached_only:
        cached = await services.runs.find_cached_result(body)
        if cached is None:
            return Response(status_code=204)
        return trace_response(request, await add_requested_findings(cached.body, body, services, client))
    subscription = await services.runs.start_run(body, client, live=live)
    wait = seconds_before_async(request.headers.getlist("prefer"))
    result = await services.runs.wait_for_result(subscription, disconnected, wait)
    if result is None:
        url = f"{request.scope['root_path']}/api/runs/{subscription.id}"
        services.runs.executions.unsubscribe_unless_read(subscription)
        reply = StartedRun(id=subscription.id, url=url, events=f"{url}/events")
        applied = f"respond-async, wait={wait:g}" if wait else "respond-async"
        return JSONResponse(reply.model_dump(), 202, {"Location": url, "Preference-Applied": applied})
    return trace_response(request, await add_requested_findings(result.body, body, services, client))


def seconds_before_async(prefer: list[str]) -> float | None:
    """Seconds that a run may take before its request is answered with 202; None if the client wants to wait for the
    end.

    prefer: the request's `Prefer` headers, as in RFC 7240; if a preference is given twice, the first counts
    """
    preferences: dict[str, str] = {}
    for preference in ",".join(prefer).split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        preferences.setdefault(name.strip().lower(), value.strip().strip('"'))
    if "respond-async" not in preferences:
        return None
    wait = preferences.get("wait", "")
    return float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 6 else 0.0


async def expand_pipeline(request: RunOrPipelineRequest, max_size: int) -> RunRequest:
    """Return the request with its source; a pipeline is converted into one. Raises ProblemError (413, 422).

    max_size: the most bytes of the source
    """
    fields = {name: getattr(request, name) for name in RunRequest.model_fields}
    if request.pipeline:
        size = minimum_source_size(request.pipeline)
        if size > max_size:  # most of it is never looked at then
            message = f"the program has at least {size} bytes; {max_size} are allowed"
            raise ProblemError(413, "too_large", message, field="pipeline")
        fields["source"] = await work_in_thread(pipeline_source, request.pipeline)
    return RunRequest.model_construct(**fields)


async def add_requested_findings(trace: bytes, body: RunRequest, services: Services, client: Client) -> bytes:
    """Add findings to a gzipped trace if the request asks for them. Raises RateLimited and RenderingFailed."""
    if not body.explain:
        return trace
    before = partial(services.visitors.limits.pictures.count_request, client)
    findings = await explain_trace(services.renderer, trace, body.language, before_drawing=before, owner=client.network)
    return await work_in_thread(add_findings_to_trace, trace, findings)


@router.get(
    "/findings",
    response_model=Findings,
    responses=FINDINGS_RESPONSES,
    summary="What there is to say of a saved program's run",
)
async def get_findings(
    services: ServicesDep,
    client: ClientDep,
    id_: Annotated[str, Query(alias="id", description="The id of a saved program.")],
    lang: Annotated[Language | None, Query(description="Of the sentences; the program's language by default.")] = None,
) -> Findings:
    """Made from the trace that was stored; nothing is run."""
    program = await services.saved.programs.find_program(id_)
    language = lang or program.content.language
    before = partial(services.visitors.limits.pictures.count_request, client)
    found = await explain_trace(services.renderer, program.trace, language, program.trace_name, before, client.network)
    return Findings(findings=found)


@router.get("/runs/{id}", response_model=Trace, responses=RUN_RESPONSES, summary="The trace of a run, or how far it is")
async def get_run(request: Request, id_: Id, runs: RunsDep, disconnected: DisconnectedDep) -> Response:
    """200 with the trace once the run is over; 202 before, with its position in the queue."""
    subscription = await runs.find_subscription(id_)
    if not subscription.execution.is_done:
        runs.executions.unsubscribe_unless_read(subscription)
        return JSONResponse(subscription.state_fields(), 202)
    result = await runs.wait_for_result(subscription, disconnected)
    assert result is not None
    return trace_response(request, result.body)


@router.get(
    "/runs/{id}/steps",
    response_model=Trace,
    responses={**NO_RUN, 200: TRACE_RESPONSES[200], 204: {"description": "There are none, or the run is over."}},
    summary="The steps of a run until now",
)
async def get_steps_so_far(request: Request, id_: Id, runs: RunsDep) -> Response:
    """A trace with the outcome `running`, at most a second old; of a long trace its first 500 kB."""
    subscription = await runs.find_subscription(id_)
    body = await runs.executions.read_trace_so_far(subscription)
    return Response(status_code=204) if body is None else trace_response(request, body)


@router.delete("/runs/{id}", status_code=204, responses={**NO_RUN, 403: TRACE_RESPONSES[403]}, summary="Stop a run")
async def stop_run(id_: Id, runs: RunsDep) -> None:
    """Its trace then holds what was recorded until now, with the outcome `cancelled`."""
    await runs.stop_run(id_)


@router.get(
    "/runs/{id}/events",
    response_class=EventSourceResponse,
    responses={**NO_RUN, 200: {"content": STREAM_RESPONSE, "description": "One event for each change."}},
    summary="The events of a run, as they happen",
)
async def stream_run_events(request: Request, id_: Id, runs: RunsDep) -> Response:
    """Server-sent events, each with a JSON object: `queued` with `ahead`, `running`, `done` with `status`.

    When the last listener has disconnected, the run is ended some seconds later.
    """
    subscription = await runs.find_subscription(id_)
    if request.state.is_head:
        return Response(media_type="text/event-stream")

    async def event_messages() -> AsyncIterator[dict[str, str]]:
        async for state in runs.executions.iterate_states(subscription):
            yield {"event": state["state"], "data": json.dumps(state)}

    return EventSourceResponse(event_messages(), ping=15)


@router.get("/schema", response_model=dict[str, Any], summary="JSON Schema of a trace")
async def get_trace_schema() -> Response:
    return Response(encoded_schema_document(), media_type="application/json")


FIXES_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (403, 413, 421, 422, 429, 503) if status in TRACE_RESPONSES},
    404: {"model": ProblemReply, "description": "The program's run has no such finding."},
}


@router.post(
    "/fixes", response_model=Fixes, responses=FIXES_RESPONSES, summary="Fixes of one finding, each of them run"
)
async def post_fixes(
    body: FixRequest, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> Fixes:
    """Runs the program, proposes edits for the finding, and runs each of them, at most four.

    Every run counts as one of the client's; a program that ran before is not run again.
    """

    async def run_fixed_program(source: str) -> bytes:
        request = RunRequest(source=source, device=body.device, seed=body.seed, input=body.input)
        result = await services.runs.wait_for_result(await services.runs.start_run(request, client), disconnected)
        assert result is not None
        if result.status in ("lost", "cancelled"):  # which says nothing of the fix
            raise WorkersUnavailable("the run was lost; try again")
        return result.body

    before = partial(services.visitors.limits.pictures.count_request, client)
    await before()
    trace = await run_fixed_program(body.source)
    findings = await explain_trace(services.renderer, trace, body.language, before_drawing=before, owner=client.network)
    finding = next(
        (candidate for candidate in findings if (candidate.kind, candidate.line) == (body.kind, body.line)), None
    )
    if finding is None:
        raise ProblemError(404, "no_finding", f"there is no {body.kind} on line {body.line}", field="kind")
    trials = FixFinder(
        services.renderer,
        body.source,
        findings,
        run_fixed_program,
        body.language,
        before,
        client.network,
        trace,
        services.runs.proposals,
    )
    return Fixes(fixes=await trials.find_working_fixes(finding))


EXAMPLE_GRADIENTS: dict[str, Any] = {
    "status": "finished",
    "message": "",
    "check": {
        "problem": None,
        "message": "",
        "backward": 0,
        "line": 2,
        "loss": 5.0,
        "double": 5.0,
        "runs": 11,
        "complete": True,
        "corners": [],
        "leaves": [
            {
                "name": "x",
                "line": 1,
                "shape": [1],
                "dtype": "float32",
                "elements": 1,
                "verdict": "agrees",
                "worst": 0,
                "hooked": False,
                "problem": None,
                "problem_line": None,
                "rows": [
                    {
                        "index": [0],
                        "torch": 4.0,
                        "double": 4.0,
                        "numeric": 4.0,
                        "left": None,
                        "right": None,
                        "difference": 0.0,
                        "verdict": "agrees",
                    }
                ],
            }
        ],
        "samples": None,
    },
}
"""A complete answer, for a leaf with one element."""

GRADIENT_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (400, 403, 413, 415, 421, 422, 429, 503)},
    200: {
        "content": {"application/json": {"example": EXAMPLE_GRADIENTS}},
        "description": "The gradients and the quotients.",
    },
}


@router.post(
    "/gradient-checks",
    response_model=GradientCheckReply,
    responses=GRADIENT_RESPONSES,
    summary="Gradients of a program beside finite differences",
)
async def post_gradient_check(
    request: Request, body: GradientCheckRequest, runs: RunsDep, client: ClientDep, disconnected: DisconnectedDep
) -> Response:
    """Runs the program in float64 again and again, each time with one element of a leaf changed; it counts as one run.

    The gradients are those of one call of `backward`, before they were added to `.grad`, or of `torch.autograd.grad`.
    `check.problem` says why nothing can be compared, the `problem` of a leaf why it can't be varied. With `samples`,
    the program runs up to four times with one sample of its batch changed, and `check.samples` says where that changed
    another one's results.
    """
    run_request = RunRequest(source=body.source, seed=body.seed, input=body.input)
    options = GradientCheckOptions(backward=body.backward, elements=body.elements, samples=body.samples)
    result = await runs.wait_for_result(await runs.start_run(run_request, client, check=options), disconnected)
    assert result is not None
    return trace_response(request, result.body)
