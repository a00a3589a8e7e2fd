"""Fixes of a program that raised or went wrong: proposed, run, and kept where they help."""

from functools import partial
from typing import Any

from fastapi import APIRouter

from gradbox.wire.api import ProblemReply, RunRequest
from gradbox.wire.findings import Fixes, FixRequest
from server.dependencies import ClientDep, DisconnectedDep, ServicesDep
from server.routes.api import TRACE_RESPONSES
from server.runs.explainer import find_findings
from server.runs.fixes import FixTrials
from server.wire.problems import ProblemError

router = APIRouter(prefix="/api")

RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (403, 413, 421, 422, 429, 503) if status in TRACE_RESPONSES},
    404: {"model": ProblemReply, "description": "The program's run has no such finding."},
}


@router.post("/fixes", response_model=Fixes, responses=RESPONSES, summary="Fixes of one finding, each of them run")
async def fixes(body: FixRequest, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep) -> Fixes:
    """Runs the program, proposes edits for the finding, and runs each of them, at most four.

    Every run counts as one of the client's; a program that ran before is not run again.
    """

    async def run(source: str) -> bytes:
        request = RunRequest(source=source, device=body.device, seed=body.seed, input=body.input)
        result = await services.runs.wait(await services.runs.start(request, client), disconnected)
        assert result is not None
        return result.body

    before = partial(services.picture_limits.hit, client)
    await before()
    trace = await run(body.source)
    findings = await find_findings(services.renderer, trace, body.language, before_drawing=before, owner=client.network)
    finding = next(
        (candidate for candidate in findings if (candidate.kind, candidate.line) == (body.kind, body.line)), None
    )
    if finding is None:
        raise ProblemError(404, "no_finding", f"there is no {body.kind} on line {body.line}", field="kind")
    trials = FixTrials(
        services.renderer, services.proposals, body.source, findings, run, body.language, before, client.network
    )
    return Fixes(fixes=await trials.fixes(finding))
