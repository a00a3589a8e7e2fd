"""What the routes that run a program share: the job that a request asks for, its execution, its response."""

import asyncio
import gzip
import re
from typing import Any

from fastapi import Request, Response

from server.clients import identify
from server.pool.executions import Result, Subscription
from server.services import get_services
from server.wire.api import Job, RunRequest
from server.wire.problems import ProblemError


def job_for(request: Request, body: RunRequest) -> Job:
    """The job that a request asks for. Raises ProblemError."""
    settings = get_services(request.scope).settings
    size = len(body.source.encode("utf-8", "surrogatepass"))
    if size > settings.source:
        message = f"the program has {size} bytes; {settings.source} are allowed"
        raise ProblemError(413, "too_large", message, field="source")
    if body.device not in get_services(request.scope).pool.devices:
        raise ProblemError(422, "no_device", f"this server has no {body.device} worker", field="device")
    source = body.source.encode("utf-8", "replace").decode()
    return Job(source=source, device=body.device, seed=body.seed, limits=settings.limits(), focus=body.focus)


def cached_result(request: Request, body: RunRequest) -> Result | None:
    """The result of an earlier run, where it is still cached. Raises ProblemError."""
    result: Result | None = get_services(request.scope).executions.cached(job_for(request, body))
    return result


async def start_run(request: Request, body: RunRequest) -> Subscription | Result:
    """A subscription to the run that a request asks for, or its cached result.

    Raises ProblemError, RateLimited, Busy, WorkersUnavailable.
    """
    services = get_services(request.scope)
    executions = services.executions
    job = job_for(request, body)
    cached = executions.cached(job)
    if cached is not None:
        return cached
    client = identify(request.scope, services.cookie_key, services.proxies)
    services.run_limits.hit(client)
    return await executions.subscribe(job, client)


async def wait_for_result(request: Request, run: Subscription | Result, timeout: float | None = None) -> Result | None:
    """The result of a run; None where `timeout` seconds were not enough.

    Raises ProblemError where the client disconnects, which ends its subscription.
    """
    if isinstance(run, Result):
        return run
    executions = get_services(request.scope).executions
    waiting = asyncio.ensure_future(executions.result(run))
    watching = asyncio.ensure_future(disconnected(request))
    try:
        await asyncio.wait((waiting, watching), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return await waiting
        if watching.done():
            executions.unsubscribe(run)
            raise ProblemError(499, "gone", "the client has disconnected")
        return None
    finally:
        watching.cancel()
        waiting.cancel()


def find_subscription(request: Request, id_: str) -> Subscription:
    """The subscription of this id. Raises ProblemError."""
    executions = get_services(request.scope).executions
    subscription = executions.get(id_)
    if subscription is None:
        raise ProblemError(404, "no_run", "there is no such run; a finished one is kept for some minutes", field="id")
    return subscription


async def trace_response(request: Request, result: Result) -> Response:
    """The trace as it was compressed, or decompressed for a client that does not accept gzip."""
    headers = {"Vary": "Accept-Encoding"}
    body = result.body
    if accepts_gzip(request.headers.get("accept-encoding", "")):
        headers["Content-Encoding"] = "gzip"
    else:
        body = await asyncio.to_thread(gzip.decompress, body)
    return Response(body, media_type="application/json", headers=headers)


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the header lists gzip, and not with a weight of zero."""
    for part in accept_encoding.split(","):
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        if name == "gzip":
            return not any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
    return False


async def disconnected(request: Request) -> None:
    """Returns when the client has closed the connection."""
    while True:
        message: Any = await request.receive()
        if message["type"] == "http.disconnect":
            return
