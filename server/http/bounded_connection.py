"""h11's connection with bounds on a request's head, on its trailers, and on the chunks of its body.

h11 only bounds incomplete data; what arrives complete is parsed first, and each header of four bytes takes it two
microseconds. Lines are therefore counted before they are parsed.
"""

import re
from typing import Any

import h11

MAX_HEAD_BYTES, MAX_HEADERS = 1 << 15, 200
"""Bytes of the request line with all headers, and the number of headers."""

MAX_TRAILER_BYTES, MAX_TRAILERS = 4096, 20
"""Bytes and lines after the last chunk of a body. Nothing here reads them."""

MAX_CHUNKS, MIN_CHUNK_BYTES = 20, 256
"""A body may have this many chunks of any size; with more, they must have `MIN_CHUNK_BYTES` on average, since each is
parsed separately."""

_LAST_CHUNK_PATTERN = re.compile(rb"\r?\n?0+(?=[;\r\n\t ])[^\n]*\n")
"""The line of the last chunk, after the end of the chunk before it."""


class BoundedConnection(h11.Connection):
    """Rejects as malformed: a request whose head is too long; one with too many headers, trailers or small chunks; one
    with two lengths, which a proxy in front may have read differently; and chunks in HTTP/1.0."""

    _chunks = _bytes = 0
    _is_chunk_next = _is_trailer_next = False

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MAX_HEAD_BYTES)

    def next_event(self) -> Any:
        self._check_next_lines()
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._begin_request(event)
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_end  # h11 forgets the start of a chunk whose data comes later
            self._bytes += len(event.data)
            self._is_chunk_next = event.chunk_end
            if self._chunks > MAX_CHUNKS and self._bytes < (self._chunks - 1) * MIN_CHUNK_BYTES:
                raise h11.RemoteProtocolError("too many small chunks")
        elif isinstance(event, h11.EndOfMessage):
            self._is_chunk_next = self._is_trailer_next = False
        return event

    def _begin_request(self, request: h11.Request) -> None:
        names = {name for name, _ in request.headers}
        if len(request.headers) > MAX_HEADERS:
            raise h11.RemoteProtocolError("too many headers")
        self._chunks = self._bytes = 0
        self._is_chunk_next = b"transfer-encoding" in names
        if self._is_chunk_next and (b"content-length" in names or request.http_version < b"1.1"):
            raise h11.RemoteProtocolError("two lengths")

    def _check_next_lines(self) -> None:
        """Count the lines that h11 would parse as headers or trailers."""
        if self.their_state is h11.IDLE:
            require_bounded_lines(self.trailing_data[0], MAX_HEAD_BYTES, MAX_HEADERS + 2)
        elif self.their_state is h11.SEND_BODY and (self._is_chunk_next or self._is_trailer_next):
            data = self.trailing_data[0]
            last = _LAST_CHUNK_PATTERN.match(data) if not self._is_trailer_next else None
            if last is not None:
                self._is_trailer_next, data = True, data[last.end() :]
            if self._is_trailer_next:
                require_bounded_lines(data, MAX_TRAILER_BYTES, MAX_TRAILERS + 1)


def require_bounded_lines(data: bytes, max_bytes: int, max_lines: int) -> None:
    """Raise RemoteProtocolError if the data up to an empty line exceeds a bound. The empty line counts."""
    if data.startswith((b"\n", b"\r\n")):
        return
    ends = [data.find(mark) + len(mark) for mark in (b"\n\r\n", b"\n\n") if mark in data]
    size = min(ends, default=len(data))
    if size > max_bytes or data.count(b"\n", 0, size) > max_lines:
        raise h11.RemoteProtocolError("too many lines, or too long ones")
