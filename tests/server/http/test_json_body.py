"""Bodies of requests that are JSON, or nearly."""

import json
from typing import Any

import pytest

from server.http.json_body import parse_json
from tests.server.http.largest_requests import hostile_bodies


@pytest.mark.parametrize(
    "value",
    [{"source": "x = 1\n", "seed": 7}, [1.5, None, True, "é😀"], "\\ud800 is text", {"a": {"a": []}}, -(10**300)],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_has_the_value_that_python_reads(value: Any, ascii_only: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\ud800b"', "a?b"),
        (r'"\udc00\ud83d\ude00"', "?😀"),
        (r'"\ud83d\ud83d\ude00"', "?😀"),
        (r'"\\ud800\ud800"', "\\ud800?"),
    ],
)
def test_a_lone_surrogate_is_a_question_mark(text: str, value: str) -> None:
    assert parse_json(text.encode()) == value


@pytest.mark.parametrize("text", ["", "{", '{"a": }', "nothing", '"\\ud800', '{"a": 1} 2'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_json(text.encode())


@pytest.mark.parametrize("body", [b"[" * 400_000, b"9" * 9000, b'"\xff"'])
def test_what_is_beyond_the_parser_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(body)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_other_encodings_are_read(encoding: str) -> None:
    assert parse_json('{"a": "é😀"}'.encode(encoding)) == {"a": "é😀"}


def test_hostile_bodies_are_read_as_python_reads_them_or_refused() -> None:
    for text in hostile_bodies():
        try:
            value = parse_json(text.encode())
        except ValueError:
            with pytest.raises((ValueError, RecursionError)):
                json.loads(text)
        else:
            assert value == json.loads(text)
