"""Responses that are sent as stored: traces, and bodies that are made once for everybody. Both have entity tags."""

import asyncio
import gzip
import hashlib
import re
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from server.http.response_delivery import CHUNK_SIZE
from server.store.repository import SavedProgram

MAX_AGE = 60
"""Seconds for which a cache need not ask again. It is short because a host may remove a program."""


def entity_tag(program: SavedProgram, assets: str = "") -> str:
    """A weak entity tag, because the body is sent both compressed and uncompressed.

    assets: the version of the code that draws the body, if any does
    """
    return f'W/"{program.digest[:20]}-{program.created}{assets}"'


def not_modified_response(request: Request, program: SavedProgram, assets: str = "") -> Response | None:
    """A 304 response if the client has this version already, else None."""
    tags = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if entity_tag(program, assets) not in tags:
        return None
    return with_cache_headers(Response(status_code=304), program, assets)


def with_cache_headers(response: Response, program: SavedProgram, assets: str = "") -> Response:
    """Add the entity tag and the maximum age to a response."""
    response.headers["ETag"] = entity_tag(program, assets)
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response


_ZERO_WEIGHT_PATTERN = re.compile(r"q=0(\.0*)?")


def trace_response(request: Request, body: bytes) -> Response:
    """The response for a trace, decompressed if the client does not accept gzip.

    body: the trace's JSON, gzipped
    """
    headers = {"Vary": "Accept-Encoding"}
    if not accepts_gzip(request.headers.get("accept-encoding", "")):
        return StreamingResponse(iterate_decompressed(body), media_type="application/json", headers=headers)
    return Response(body, media_type="application/json", headers={**headers, "Content-Encoding": "gzip"})


async def iterate_decompressed(body: bytes) -> AsyncIterator[bytes]:
    """Yield the content of a gzip file in pieces, as fast as the client reads them: a few bytes can expand to
    megabytes."""
    while body:
        member = zlib.decompressobj(wbits=31)
        while not member.eof and (piece := member.decompress(body, CHUNK_SIZE)):
            yield piece
            body = member.unconsumed_tail
            await asyncio.sleep(0)  # others have their turn even if this client takes all at once
        body = member.unused_data


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the header lists gzip with a weight above zero."""
    for part in accept_encoding.split(","):
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        if name == "gzip":
            return not any(_ZERO_WEIGHT_PATTERN.fullmatch(parameter) for parameter in parameters)
    return False


@dataclass(frozen=True)
class CachedResponseBody:
    """A body that is the same for everybody.

    compressed: the body, gzipped
    tag: a weak entity tag, since the body goes out compressed or not
    """

    compressed: bytes
    media_type: str
    tag: str

    @classmethod
    def from_bytes(cls, body: bytes, media_type: str) -> "CachedResponseBody":
        return cls(gzip.compress(body, 9, mtime=0), media_type, f'W/"{hashlib.sha256(body).hexdigest()[:24]}"')

    def to_response(self, request: Request) -> Response:
        """The body, or a 304 if the client has it already."""
        headers = {"ETag": self.tag, "Cache-Control": f"public, max-age={MAX_AGE}", "Vary": "Accept-Encoding"}
        if self.tag in [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        if accepts_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "gzip"
            return Response(self.compressed, media_type=self.media_type, headers=headers)
        return StreamingResponse(iterate_decompressed(self.compressed), media_type=self.media_type, headers=headers)


class ResponseBodyCache:
    """Bodies that are the same for everybody until the server ends. Each is made once, in a thread, one at a time."""

    def __init__(self) -> None:
        self._bodies: dict[str, CachedResponseBody] = {}
        self._making = asyncio.Lock()

    async def get(self, key: str, media_type: str, make: Callable[[], bytes]) -> CachedResponseBody:
        """The body for this key. Raises what `make` raises.

        make: called if there is no body yet
        """
        if key not in self._bodies:
            async with self._making:
                if key not in self._bodies:
                    self._bodies[key] = await asyncio.to_thread(
                        lambda: CachedResponseBody.from_bytes(make(), media_type)
                    )
        return self._bodies[key]
