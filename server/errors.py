"""Every error leaves in one shape: a stable code, a sentence, and the field or line it is about."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from server.pool.local import Busy, Down
from server.wire.api import Problem, ProblemReply

CODES = {
    400: "bad_request",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "not_json",
}
SENTENCES = {404: "there is nothing at this address", 405: "this address does not take that method"}


class Refused(Exception):
    """A request that is not served."""

    def __init__(self, status: int, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.problem = status, Problem(code=code, message=message, field=field)


def reply(status: int, problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    body: dict[str, Any] = ProblemReply(error=problem).model_dump(mode="json", exclude_none=True)
    return JSONResponse(body, status, headers)


def install(app: FastAPI) -> None:
    """Make the application answer in that shape."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return reply(error.status, error.problem)

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> JSONResponse:
        problem = Problem(code="busy", message=str(error), retry_after=error.retry_after)
        return reply(429, problem, {"Retry-After": str(max(1, round(error.retry_after)))})

    @app.exception_handler(Down)
    async def down(_: Request, error: Down) -> JSONResponse:
        return reply(503, Problem(code="no_worker", message=str(error)), {"Retry-After": "5"})

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        message = SENTENCES.get(error.status_code, str(error.detail))
        headers = dict(error.headers) if error.headers else None
        return reply(error.status_code, Problem(code=CODES.get(error.status_code, "error"), message=message), headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = [str(part) for part in first["loc"] if part != "body"]
        field = ".".join(place) if place and first["type"] != "json_invalid" else None
        message = f"{field}: {first['msg']}" if field else str(first.get("ctx", {}).get("error", first["msg"]))
        return reply(422, Problem(code="invalid", message=message, field=field))
