"""The response that carries a trace: compressed as it is stored, whoever asks for it."""

import asyncio
import re
import zlib
from collections.abc import AsyncIterator

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from server.http.response_delivery import CHUNK_SIZE

_ZERO_WEIGHT = re.compile(r"q=0(\.0*)?")


def trace_response(request: Request, body: bytes) -> Response:
    """body: a trace's JSON, gzipped. It is decompressed for a client that does not accept gzip."""
    headers = {"Vary": "Accept-Encoding"}
    if not accepts_gzip(request.headers.get("accept-encoding", "")):
        return StreamingResponse(decompressed(body), media_type="application/json", headers=headers)
    return Response(body, media_type="application/json", headers={**headers, "Content-Encoding": "gzip"})


async def decompressed(body: bytes) -> AsyncIterator[bytes]:
    """What is in a gzip file, a piece at a time as the client takes them: a few bytes can stand for megabytes."""
    while body:
        member = zlib.decompressobj(wbits=31)
        while not member.eof and (piece := member.decompress(body, CHUNK_SIZE)):
            yield piece
            body = member.unconsumed_tail
            await asyncio.sleep(0)  # others have their turn even if this client takes all at once
        body = member.unused_data


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the header lists gzip, and not with a weight of zero."""
    for part in accept_encoding.split(","):
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        if name == "gzip":
            return not any(_ZERO_WEIGHT.fullmatch(parameter) for parameter in parameters)
    return False
