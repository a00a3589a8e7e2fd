"""A run as a request: the asker's turn and limits, the job it asks for, the answer in whatever form it is wanted."""

import asyncio
import gzip
import re
from typing import Any

from fastapi import Request, Response

from server.clients import who
from server.errors import Refused
from server.pool.runs import Result, Run, Runs
from server.wire.api import Job, RunRequest


def job(request: Request, body: RunRequest) -> Job:
    """What a request asks for. Raises Refused."""
    settings = request.app.state.settings
    size = len(body.source.encode("utf-8", "surrogatepass"))
    if size > settings.source:
        message = f"the program has {size} bytes; {settings.source} are allowed"
        raise Refused(413, "too_large", message, field="source")
    if body.device not in request.app.state.pool.devices:
        raise Refused(422, "no_device", f"this server has no {body.device} worker", field="device")
    source = body.source.encode("utf-8", "replace").decode()
    return Job(source=source, device=body.device, seed=body.seed, limits=settings.limits(), focus=body.focus)


def known(request: Request, body: RunRequest) -> Result | None:
    """The result of a run, where it is there from before. Raises Refused."""
    there: Result | None = request.app.state.runs.kept(job(request, body))
    return there


async def begun(request: Request, body: RunRequest) -> Run | Result:
    """The run that a request asked for, or its result where that is known. Raises Refused, Limited, Busy, Down."""
    state = request.app.state
    runs: Runs = state.runs
    wanted = job(request, body)
    kept = runs.kept(wanted)
    if kept is not None:
        return kept
    asker = who(request.scope, state.secret, state.proxies)
    state.rates.hit(asker)
    return await runs.begin(wanted, asker)


async def awaited(request: Request, run: Run | Result, patience: float | None = None) -> Result | None:
    """Its result; None where `patience` seconds were not enough. An asker who goes away ends it: raises Refused."""
    if isinstance(run, Result):
        return run
    runs: Runs = request.app.state.runs
    waiting = asyncio.ensure_future(runs.result(run))
    watching = asyncio.ensure_future(gone(request))
    try:
        await asyncio.wait((waiting, watching), timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return await waiting
        if watching.done():
            runs.leave(run)
            raise Refused(499, "gone", "the asker has gone")
        return None
    finally:
        watching.cancel()
        waiting.cancel()


def found(request: Request, id_: str) -> Run:
    """The run of this id. Raises Refused."""
    runs: Runs = request.app.state.runs
    run = runs.find(id_)
    if run is None:
        raise Refused(404, "no_run", "there is no such run; a finished one is kept for some minutes", field="id")
    return run


async def sent(request: Request, result: Result) -> Response:
    """The trace as it lies there, gzipped, or unpacked for those who don't take that."""
    headers = {"Vary": "Accept-Encoding"}
    body = result.body
    if takes_gzip(request.headers.get("accept-encoding", "")):
        headers["Content-Encoding"] = "gzip"
    else:
        body = await asyncio.to_thread(gzip.decompress, body)
    return Response(body, media_type="application/json", headers=headers)


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding has it, and not with a weight of none."""
    for part in accepted.split(","):
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        if name == "gzip":
            return not any(re.fullmatch(r"q=0(\.0*)?", one) for one in parameters)
    return False


async def gone(request: Request) -> None:
    """Returns when the client has closed the connection."""
    while True:
        message: Any = await request.receive()
        if message["type"] == "http.disconnect":
            return
