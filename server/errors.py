"""Every error leaves in one shape: a stable code, a sentence, and the field or line it is about."""

import math
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from server.pictures.renderer_client import RenderingFailed, StepNotFound
from server.pool.fair_queue import Busy
from server.pool.zygote import WorkersUnavailable
from server.rate_limits import RateLimited
from server.security import content_security_policy
from server.store.database import StoreUnavailable
from server.store.repository import ProgramRemoved, ProgramTooLarge, QuotaExceeded
from server.templating import render
from server.wire.api import Problem, ProblemReply

CODES = {
    400: "bad_request",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "not_json",
}
NAMED = 100
"""Characters of a field's name that are said back."""

SENTENCES = {404: "there is nothing at this address", 405: "this address does not take that method"}


class Refused(Exception):
    """A request that is not served."""

    def __init__(self, status: int, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.problem = status, Problem(code=code, message=message, field=field)


def reply(status: int, problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    body: dict[str, Any] = ProblemReply(error=problem).model_dump(mode="json", exclude_none=True)
    return JSONResponse(body, status, headers)


def told(request: Request, status: int, problem: Problem, headers: dict[str, str] | None = None) -> Response:
    """The same, as a page for a person who opened an address."""
    path = request.url.path.removeprefix(request.scope["root_path"])
    person = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if not person or path.startswith("/api/") or "hx-request" in request.headers:
        return reply(status, problem, headers)
    answer = render(request, "problem.html", status=status, problem=problem)
    answer.status_code = status
    answer.headers.update(headers or {})
    answer.headers["Cache-Control"] = "no-store"
    if path.startswith("/embed/"):
        del answer.headers["Set-Cookie"]  # in another site's page nobody is a visitor of ours
        answer.headers["Content-Security-Policy"] = content_security_policy(
            request.state.nonce, request.app.state.settings.frames
        )
    return answer


def later(request: Request, code: str, error: Busy | RateLimited) -> Response:
    """429, and when to come back."""
    metrics = request.app.state.metrics
    if isinstance(error, Busy) or error.what == "run":
        metrics.refused(code)
    elif error.what == "save":
        metrics.unsaved(code)
    problem = Problem(code=code, message=str(error), retry_after=error.retry_after)
    return told(request, 429, problem, {"Retry-After": str(max(1, math.ceil(error.retry_after)))})


def unsaved(request: Request, why: str) -> None:
    """Count it, where somebody wanted to save."""
    if request.method == "POST" and request.url.path.endswith("/api/scenarios"):
        request.app.state.metrics.unsaved(why)


def methods(request: Request) -> list[str]:
    """All that an address takes; each route knows but its own."""
    found: set[str] = set()
    for route in request.app.state.addresses:
        if route.matches(request.scope)[0] != Match.NONE:
            found |= route.methods
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def install(app: FastAPI) -> None:
    """Make the application answer in that shape."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        return told(request, error.status, error.problem)

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        return later(request, "busy", error)

    @app.exception_handler(RateLimited)
    async def limited(request: Request, error: RateLimited) -> Response:
        return later(request, "limited", error)

    @app.exception_handler(WorkersUnavailable)
    async def down(request: Request, error: WorkersUnavailable) -> Response:
        request.app.state.metrics.refused("no_worker")
        return told(request, 503, Problem(code="no_worker", message=str(error)), {"Retry-After": "5"})

    @app.exception_handler(StepNotFound)
    async def no_step(request: Request, error: StepNotFound) -> Response:
        return told(request, 404, Problem(code="no_step", message=str(error), field="step"))

    @app.exception_handler(RenderingFailed)
    async def undrawable(request: Request, error: RenderingFailed) -> Response:
        return told(
            request, 503, Problem(code="no_picture", message=str(error)), {"Retry-After": "5"} if error.again else None
        )

    @app.exception_handler(StoreUnavailable)
    async def unreachable(request: Request, error: StoreUnavailable) -> Response:
        unsaved(request, "no_store")
        return told(request, 503, Problem(code="no_store", message=str(error)), {"Retry-After": "5"})

    @app.exception_handler(ProgramRemoved)
    async def removed(request: Request, error: ProgramRemoved) -> Response:
        unsaved(request, "removed")
        return told(request, 410, Problem(code="removed", message=str(error)))

    @app.exception_handler(ProgramTooLarge)
    async def too_big(request: Request, error: ProgramTooLarge) -> Response:
        unsaved(request, "too_large")
        return told(request, 413, Problem(code="too_large", message=str(error)))

    @app.exception_handler(QuotaExceeded)
    async def full(request: Request, error: QuotaExceeded) -> Response:
        unsaved(request, "full")
        return told(request, 507, Problem(code="full", message=str(error)))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        message = SENTENCES.get(error.status_code, str(error.detail))
        headers = dict(error.headers) if error.headers else None
        if error.status_code == 405:
            headers = {"Allow": ", ".join(methods(request))}
        return told(
            request, error.status_code, Problem(code=CODES.get(error.status_code, "error"), message=message), headers
        )

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"] if part != "body"]
        field = ".".join(place)[:NAMED] if place and first["type"] != "json_invalid" else None
        message = f"{field}: {first['msg']}" if field else str(first.get("ctx", {}).get("error", first["msg"]))
        return told(request, 422, Problem(code="invalid", message=message, field=field))
