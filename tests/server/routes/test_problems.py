"""What can't be answered is a page for a person who opened an address, and the one shape of an error for everybody
else."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.sharing.test_exports import Tags
from tests.sharing.test_saved_programs import code, saved, visiting
from tests.support.databases import DatabaseFactory

pytest_plugins = ["tests.support.databases"]

PERSON = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def client(new_database: DatabaseFactory) -> Iterator[TestClient]:
    with visiting(
        new_database("sqlite"), public_url="https://gradbox.example.org/box", frames="https://a.example"
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "status", "name"),
    [
        ("/s/2222222222", 404, "no_scenario"),
        ("/s/2222222222.svg", 404, "no_scenario"),
        ("/nothing", 404, "not_found"),
        ("/?s=nothing", 404, "not_found"),
        ("/s/2222222222.svg?step=x", 422, "invalid"),
    ],
)
def test_browsers_get_errors_as_a_page(client: TestClient, path: str, status: int, name: str) -> None:
    answer = client.get(path, headers=PERSON)
    assert answer.status_code == status and answer.headers["content-type"].startswith("text/html")
    assert f"<code>{status} {name}</code>" in answer.text and answer.headers["cache-control"] == "no-store"
    assert 'href="/box/gallery"' in answer.text
    assert code(client.get(path)) == (status, name)
    assert "这" in client.get(path, headers={**PERSON, "accept-language": "zh-CN"}).text


def test_a_removed_program_has_its_own_error_page(client: TestClient) -> None:
    program = saved(client, source="x = 41 + 1\n")
    client.portal.call(client.app.state.services.saved.store.remove_content, program.id)  # type: ignore[union-attr,attr-defined]
    for path in (f"/s/{program.id}", f"/embed/{program.id}"):
        answer = client.get(path, headers=PERSON)
        assert answer.status_code == 410 and "was removed" in answer.text
        assert "no-store" in answer.headers["cache-control"]
    assert answer.headers["content-security-policy"].endswith("frame-ancestors https://a.example")


def test_a_missing_frame_sets_no_cookie(client: TestClient) -> None:
    client.cookies.clear()
    assert "set-cookie" in client.get("/s/2222222222", headers=PERSON).headers
    client.cookies.clear()
    answer = client.get("/embed/2222222222", headers=PERSON)
    assert answer.status_code == 404 and "set-cookie" not in answer.headers


def test_api_clients_get_errors_as_json(client: TestClient) -> None:
    for path in ("/api/runs/nobody", "/api/nothing"):
        assert code(client.get(path, headers=PERSON))[0] == 404
    assert code(client.get("/builder/nothing", headers={**PERSON, "hx-request": "true"}))[0] == 404
    assert code(client.post("/api/runs", headers=PERSON, json={}))[0] == 422


def test_a_hostile_request_stays_text_on_the_error_page(client: TestClient) -> None:
    answer = client.get("/", params={"s": "</p><img src=x onerror=alert(1)>"}, headers=PERSON)
    assert answer.status_code == 404
    assert not [tag for tag, attrs in Tags(answer.text).tags if tag == "img" or "onerror" in attrs]
