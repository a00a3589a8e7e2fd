"""The only error handler: every error becomes the same JSON object, or a page for a person who opened an address."""

from collections.abc import Sequence

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from gradbox.wire.api import ProblemReply
from server.http.security import content_security_policy
from server.pool.zygote import WorkersUnavailable
from server.services import get_services
from server.templating import render_visitor_page
from server.visitors.rate_limits import RateLimited
from server.wire.problems import ProblemError, WorkerQueueFull

CODE_OF_STATUS = {
    400: "bad_request",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "not_json",
}
MESSAGE_OF_STATUS = {404: "there is nothing at this address", 405: "this address does not take that method"}
MAX_FIELD_LENGTH = 100
"""The most characters of a field's name that a reply repeats."""


def problem_response(error: ProblemError) -> JSONResponse:
    """Return the error as JSON, `{"error": {code, message, …}}`."""
    body = ProblemReply(error=error.problem).model_dump(mode="json", exclude_none=True)
    return JSONResponse(body, error.status, error.headers)


def error_response(request: Request, error: ProblemError) -> Response:
    """Return the error as a page if a browser opened the address, otherwise as JSON."""
    path = request.url.path.removeprefix(request.scope["root_path"])
    navigated = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if not navigated or path.startswith("/api/") or "hx-request" in request.headers:
        return problem_response(error)
    response = render_visitor_page(request, "problem.html", status=error.status, problem=error.problem)
    response.status_code = error.status
    response.headers.update(error.headers)
    response.headers["Cache-Control"] = "no-store"
    if path.startswith("/embed/"):
        del response.headers["Set-Cookie"]  # a frame in another site's page gets no visitor's cookie
        frames = get_services(request.scope).settings.frames
        response.headers["Content-Security-Policy"] = content_security_policy(request.state.nonce, frames)
    return response


def to_problem_error(error: Exception, request: Request, routes: Sequence[BaseRoute]) -> ProblemError:
    """Turn any handled error into a ProblemError."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, RequestValidationError):
        return invalid_request_error(error)
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers = {"Allow": ", ".join(allowed_methods(request, routes))}
    message = MESSAGE_OF_STATUS.get(error.status_code, str(error.detail))
    return ProblemError(error.status_code, CODE_OF_STATUS.get(error.status_code, "error"), message, headers=headers)


def invalid_request_error(error: RequestValidationError) -> ProblemError:
    """Return a 422 error for the first invalid field."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"] if part != "body"]
    field = ".".join(path)[:MAX_FIELD_LENGTH] if path and first["type"] != "json_invalid" else None
    message = f"{field}: {first['msg']}" if field else str(first.get("ctx", {}).get("error", first["msg"]))
    return ProblemError(422, "invalid", message, field=field)


def is_run_refusal(error: ProblemError) -> bool:
    """Return whether the error is a refusal to run a program."""
    return isinstance(error, WorkerQueueFull | WorkersUnavailable) or (
        isinstance(error, RateLimited) and error.action == "run"
    )


def allowed_methods(request: Request, routes: Sequence[BaseRoute]) -> list[str]:
    """Return all methods that the address accepts; each route knows only its own."""
    methods: set[str] = set()
    for route in routes:
        if isinstance(route, APIRoute) and route.matches(request.scope)[0] != Match.NONE:
            methods |= route.methods or set()
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


def install_error_handlers(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Install the handlers in the application.

    routes: all routes of the application
    """

    async def handle_error(request: Request, error: Exception) -> Response:
        problem = to_problem_error(error, request, routes)
        if is_run_refusal(problem):
            get_services(request.scope).metrics.count_refused_run(problem.problem.code)
        return error_response(request, problem)

    for kind in (ProblemError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, handle_error)
