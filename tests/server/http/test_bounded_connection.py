"""Requests have bounded parts, which are counted before they are parsed, and one length."""

import json
from collections.abc import Iterator

import h11
import pytest

from server.http.bounded_connection import (
    MAX_CHUNKS,
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_TRAILER_BYTES,
    MAX_TRAILERS,
    BoundedConnection,
)

POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
LAST = CHUNKED + b"5\r\nabcde\r\n0\r\n"
LONGEST_HEAD = POST + b"a: " + b"b" * (MAX_HEAD_BYTES - len(POST) - 7) + b"\r\n\r\n"
LONGEST_TRAILER = b"a: " + b"b" * (MAX_TRAILER_BYTES - 7) + b"\r\n\r\n"

TAKEN = {
    "few chunks": CHUNKED + b"1\r\nx\r\n" * 5 + b"0\r\n\r\n",
    "many chunks": CHUNKED + (b"100\r\n" + b"x" * 256 + b"\r\n") * (MAX_CHUNKS * 3) + b"0\r\n\r\n",
    "as many headers as there may be": POST + b"a: b\r\n" * (MAX_HEADERS - 1) + b"\r\n",
    "as long a head as may be": LONGEST_HEAD,
    "a few trailers": LAST + b"a: b\r\n" * MAX_TRAILERS + b"\r\n",
    "as long a trailer as may be": LAST + LONGEST_TRAILER,
    "a body that looks like a last chunk": POST + b"Content-Length: 3002\r\n\r\n0\n" + b"\n\r" * 1500,
    "a chunk that looks like a last chunk": CHUNKED + b"BB8\r\n0\r\n" + b"a\n" * 1498 + b"b\r\n0\r\n\r\n",
    "bare line feeds": b"POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n0\r\n\n",
}
REFUSED = {
    "many small chunks": CHUNKED + b"1\r\nx\r\n" * (MAX_CHUNKS + 1) + b"0\r\n\r\n",
    "many headers": POST + b"a:\r\n" * MAX_HEADERS + b"\r\n",
    "thousands of headers": POST + b"a:\r\n" * 8000 + b"\r\n",
    "a folded header": POST + b"a: b\r\n" + b" c\r\n" * 8000 + b"\r\n",
    "a long header": POST + b"a: " + b"b" * MAX_HEAD_BYTES + b"\r\n\r\n",
    "a header that is a little too long": LONGEST_HEAD.replace(b"b\r\n", b"bb\r\n"),
    "a long address": b"GET /" + b"b" * MAX_HEAD_BYTES + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "a head without an end": b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 8000,
    "many trailers": LAST + b"a:\r\n" * 15_000 + b"\r\n",
    "one trailer too many": LAST + b"a:\r\n" * (MAX_TRAILERS + 2) + b"\r\n",
    "a long trailer": LAST + b"a: " + b"b" * MAX_TRAILER_BYTES + b"\r\n\r\n",
    "trailers after an extension": CHUNKED + b"00;x=1\r\n" + b"a:\r\n" * 1000 + b"\r\n",
    "trailers after a blank": CHUNKED + b"0 \r\n" + b"a:\r\n" * 1000 + b"\r\n",
    "trailers without an end": LAST + b"a:\r\n" * 15_000,
    "two lengths": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths, the other way round": POST + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "two sizes": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "chunks in HTTP/1.0": CHUNKED.replace(b"1.1", b"1.0") + b"0\r\n\r\n",
}


def read(data: bytes, size: int) -> Iterator[object]:
    """The events of a request that comes in pieces of this size."""
    connection = BoundedConnection()
    for start in range(0, len(data), size):
        connection.receive_data(data[start : start + size])
        while (event := connection.next_event()) is not h11.NEED_DATA:
            yield event
            if isinstance(event, h11.EndOfMessage):
                return


@pytest.mark.parametrize("size", [1, 7, 4096, MAX_HEAD_BYTES])
@pytest.mark.parametrize("name", TAKEN)
def test_a_request_within_the_bounds_is_read(name: str, size: int) -> None:
    assert isinstance(list(read(TAKEN[name], size))[-1], h11.EndOfMessage)


@pytest.mark.parametrize("size", [1, 7, 4096, MAX_HEAD_BYTES])
@pytest.mark.parametrize("name", REFUSED)
def test_a_request_beyond_the_bounds_is_refused(name: str, size: int) -> None:
    with pytest.raises(h11.RemoteProtocolError):
        list(read(REFUSED[name], size))


@pytest.mark.parametrize("name", REFUSED)
def test_lines_are_counted_before_they_are_parsed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """h11 makes an event of each line that it parses, in a function of its module of events."""
    parsed: list[int] = []
    decode = h11._readers._decode_header_lines

    def counted(lines: list[bytes]) -> object:
        parsed.append(len(lines))
        return decode(lines)

    monkeypatch.setattr("h11._readers._decode_header_lines", counted)
    with pytest.raises(h11.RemoteProtocolError):
        list(read(REFUSED[name], MAX_HEAD_BYTES))
    assert sum(parsed) <= MAX_HEADERS + 1, json.dumps(parsed)


def test_two_requests_of_a_connection_are_counted_apart() -> None:
    connection = BoundedConnection()
    for _ in range(3):
        connection.receive_data(CHUNKED + b"1\r\nx\r\n" * MAX_CHUNKS + b"0\r\n" + b"a: b\r\n" * MAX_TRAILERS + b"\r\n")
        events = [connection.next_event() for _ in range(MAX_CHUNKS + 2)]
        assert isinstance(events[-1], h11.EndOfMessage)
        connection.send(h11.Response(status_code=204, headers=[]))
        connection.send(h11.EndOfMessage())
        connection.start_next_cycle()
