"""Gradients of a program beside finite differences, on request."""

import asyncio
from typing import Any

from fastapi import APIRouter

from gradbox.wire.api import GradientCheckReply, GradientCheckRequest, RunRequest
from gradbox.wire.gradient_check import GradientCheckOptions
from server.dependencies import ClientDep, DisconnectedDep, ServicesDep
from server.routes.api import TRACE_RESPONSES
from server.runs.gradient_checks import gradient_check_reply

router = APIRouter(prefix="/api")

EXAMPLE: dict[str, Any] = {
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
    },
}
"""A complete answer, for a leaf with one element."""

RESPONSES: dict[int | str, dict[str, Any]] = {
    **{status: TRACE_RESPONSES[status] for status in (400, 403, 413, 415, 421, 422, 429, 503)},
    200: {"content": {"application/json": {"example": EXAMPLE}}, "description": "The gradients and the quotients."},
}


@router.post(
    "/gradient-checks",
    response_model=GradientCheckReply,
    responses=RESPONSES,
    summary="Gradients of a program beside finite differences",
)
async def gradient_checks(
    body: GradientCheckRequest, services: ServicesDep, client: ClientDep, disconnected: DisconnectedDep
) -> GradientCheckReply:
    """Runs the program in float64 again and again, each time with one element of a leaf changed; it counts as one run.

    The gradients are those of one call of `backward`, before they were added to `.grad`, or of `torch.autograd.grad`. `check.problem` says why nothing can
    be compared, the `problem` of a leaf why it can't be varied.
    """
    request = RunRequest(source=body.source, seed=body.seed, input=body.input)
    options = GradientCheckOptions(backward=body.backward, elements=body.elements)
    result = await services.runs.wait(await services.runs.start(request, client, check=options), disconnected)
    assert result is not None
    return await asyncio.to_thread(gradient_check_reply, result.body)
