"""A run as a request: its size checked, handed to the pool, given up when the asker has gone."""

import asyncio
from typing import Any

from fastapi import Request

from server.errors import Refused
from server.wire.api import Job, RunRequest
from server.wire.trace import Trace


async def traced(request: Request, body: RunRequest) -> Trace:
    """The trace of the program in a request. Raises Refused, Busy, Down."""
    settings, pool = request.app.state.settings, request.app.state.pool
    size = len(body.source.encode("utf-8", "surrogatepass"))
    if size > settings.source:
        message = f"the program has {size} bytes; {settings.source} are allowed"
        raise Refused(413, "too_large", message, field="source")
    if body.device != "cpu":
        raise Refused(422, "no_device", f"this server has no {body.device} worker", field="device")
    source = body.source.encode("utf-8", "replace").decode()
    job = Job(source=source, device=body.device, seed=body.seed, limits=settings.limits(), focus=body.focus)
    running = asyncio.ensure_future(pool.run(job))
    watching = asyncio.ensure_future(gone(request))
    try:
        await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            raise Refused(499, "gone", "the asker has gone")
        trace: Trace = await running
        return trace
    finally:
        watching.cancel()
        running.cancel()


async def gone(request: Request) -> None:
    """Returns when the client has closed the connection."""
    while True:
        message: Any = await request.receive()
        if message["type"] == "http.disconnect":
            return
