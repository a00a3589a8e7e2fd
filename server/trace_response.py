"""The response that carries a trace: compressed as it is stored, whoever asks for it."""

import asyncio
import gzip
import re

from fastapi import Request, Response

_ZERO_WEIGHT = re.compile(r"q=0(\.0*)?")


async def trace_response(request: Request, body: bytes) -> Response:
    """body: a trace's JSON, gzipped. It is decompressed for a client that does not accept gzip."""
    headers = {"Vary": "Accept-Encoding"}
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
            return not any(_ZERO_WEIGHT.fullmatch(parameter) for parameter in parameters)
    return False
