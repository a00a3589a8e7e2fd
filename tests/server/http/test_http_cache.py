"""Conditional requests: one tag for one content and one version of the code that draws it."""

from fastapi import Request, Response

from server.http.responses import entity_tag, not_modified_response, with_cache_headers
from server.store.repository import SavedProgram
from server.wire.saved_programs import Content, Versions

VERSIONS = Versions(torch="2.13.0", numpy="2.4.6", python="3.11.7", tracer="0.1.0")
PROGRAM = SavedProgram("7kd5h2n9xt", "ab" * 32, 1_700_000_000_000, VERSIONS, Content(source="x = 1"), b"")


def asking(tags: str) -> Request:
    return Request({"type": "http", "headers": [(b"if-none-match", tags.encode())]})


def test_a_client_with_the_current_version_gets_304() -> None:
    tag = with_cache_headers(Response(), PROGRAM).headers["etag"]
    assert tag == entity_tag(PROGRAM) and tag.startswith('W/"')
    answer = not_modified_response(asking(f'"other" , {tag}'), PROGRAM)
    assert answer is not None and answer.status_code == 304
    assert (answer.headers["etag"], answer.headers["cache-control"]) == (tag, "public, max-age=60")


def test_a_new_version_of_the_drawing_code_changes_the_entity_tag() -> None:
    assert not_modified_response(asking(entity_tag(PROGRAM, "1")), PROGRAM, "2") is None
    assert not_modified_response(asking(""), PROGRAM) is None
