"""Responses that are made once and then sent as they are: compressed, with an entity tag, whoever asks."""

import gzip
import hashlib
from dataclasses import dataclass

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from server.http.trace_response import accepts_gzip, decompressed

MAX_AGE = 60
"""Seconds for which a cache need not ask again."""


@dataclass(frozen=True)
class ConstantBody:
    """compressed: the body, gzipped. tag: a weak entity tag, for the body goes out compressed and not."""

    compressed: bytes
    media_type: str
    tag: str

    @classmethod
    def of(cls, body: bytes, media_type: str) -> "ConstantBody":
        return cls(gzip.compress(body, 9, mtime=0), media_type, f'W/"{hashlib.sha256(body).hexdigest()[:24]}"')

    def response(self, request: Request) -> Response:
        """The body, or 304 where the client has it already."""
        headers = {"ETag": self.tag, "Cache-Control": f"public, max-age={MAX_AGE}", "Vary": "Accept-Encoding"}
        if self.tag in [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        if accepts_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "gzip"
            return Response(self.compressed, media_type=self.media_type, headers=headers)
        return StreamingResponse(decompressed(self.compressed), media_type=self.media_type, headers=headers)
