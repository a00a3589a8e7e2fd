"""The HTTP interface: traces, one shape of error, and who may ask."""

import threading
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from server.app import create_app
from server.settings import Settings
from server.wire.trace import Trace

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings({}, source=1000)), base_url="http://127.0.0.1:8000") as client:
        yield client


def test_a_program_gives_a_trace(client: TestClient) -> None:
    answer = client.post("/api/runs", json={"source": "import torch\nx = torch.rand(2)\nprint(x)\n", "seed": 3})
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    trace = Trace.model_validate(answer.json())
    assert (trace.outcome.status, trace.runtime.seed, len(trace.steps)) == ("finished", 3, 3)


@pytest.mark.parametrize(
    ("source", "status"),
    [("import os", "refused"), ("x = (", "refused"), ("1/0", "raised"), ("", "finished"), ("\udc80 = 1", "refused")],
)
def test_an_ending_is_no_error(client: TestClient, source: str, status: str) -> None:
    answer = client.post("/api/runs", json={"source": source}) if source.isascii() else client.post(
        "/api/runs", content='{"source": "\\udc80 = 1"}', headers=JSON
    )  # fmt: skip
    assert (answer.status_code, answer.json().get("outcome", {}).get("status")) == (200, status)


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ("{}", 422, "invalid", "source"),
        ('{"source": 3}', 422, "invalid", "source"),
        ('{"source": "x", "seed": -1}', 422, "invalid", "seed"),
        ('{"source": "x", "device": "tpu"}', 422, "invalid", "device"),
        ('{"source": "x", "device": "cuda"}', 422, "no_device", "device"),
        ('{"source": "x", "more": 1}', 422, "invalid", "more"),
        ("{", 422, "invalid", None),
        ('{"source": "' + "x" * 1001 + '"}', 413, "too_large", "source"),
        ('{"source": "' + "x" * 20000 + '"}', 413, "too_large", None),
    ],
)
def test_every_error_has_one_shape(client: TestClient, body: str, status: int, code: str, field: str | None) -> None:
    answer = client.post("/api/runs", content=body, headers=JSON)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error.get("field")) == (status, code, field)
    assert len(error["message"]) > 8


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"content-type": "text/plain"}, 415, "not_json"),
        ({"content-type": "application/x-www-form-urlencoded"}, 415, "not_json"),
        ({**JSON, "host": "evil.example"}, 421, "wrong_host"),
        ({**JSON, "host": "127.0.0.1.evil.example:8000"}, 421, "wrong_host"),
        ({**JSON, "sec-fetch-site": "cross-site"}, 403, "cross_site"),
        ({**JSON, "sec-fetch-site": "same-site"}, 403, "cross_site"),
        ({**JSON, "origin": "https://evil.example"}, 403, "cross_site"),
        ({**JSON, "origin": "null"}, 403, "cross_site"),
    ],
)
def test_who_may_ask(client: TestClient, headers: dict[str, str], status: int, code: str) -> None:
    answer = client.post("/api/runs", content='{"source": "x = 1"}', headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_our_own_page_may_ask(client: TestClient) -> None:
    headers = {**JSON, "sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8000"}
    assert client.post("/api/runs", content='{"source": "x = 1"}', headers=headers).status_code == 200


def test_unknown_addresses_and_methods(client: TestClient) -> None:
    assert client.get("/nothing").json()["error"]["code"] == "not_found"
    assert client.get("/api/runs").json()["error"]["code"] == "method_not_allowed"


def test_every_answer_carries_the_security_headers(client: TestClient) -> None:
    for address in ("/", "/healthz", "/nothing", "/api/schema"):
        headers = client.get(address).headers
        assert "default-src 'none'" in headers["content-security-policy"], address
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_our_own_failure_has_the_same_shape_and_headers() -> None:
    app = create_app(Settings({}))
    app.state.shelf = []

    @app.get("/fails")
    async def fails() -> None:
        raise RuntimeError("a secret")

    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        answer = client.get("/fails")
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
        assert "secret" not in answer.text and "default-src 'none'" in answer.headers["content-security-policy"]


def test_health_and_readiness(client: TestClient) -> None:
    client.post("/api/runs", json={"source": "x = 1"})
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").status_code == 200


def test_not_ready_while_the_workers_start() -> None:
    app = create_app(Settings({}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/readyz").status_code in (200, 503)
        client.portal.call(app.state.pool._lose)
        assert client.get("/readyz").status_code == 503


def test_a_queue_that_is_full_says_when_to_come_back() -> None:
    app = create_app(Settings({}, workers=1, queue=1, wall=5.0), "tests.entries:act")
    app.state.shelf = []  # it would be run at the start, in a turn of its own
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.post("/api/runs", json={"source": "finish"})
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(client.post("/api/runs", json={"source": "sleep 1"})))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        busy = [answer for answer in found if answer.status_code == 429]
        assert len(busy) == 2 and int(busy[0].headers["retry-after"]) >= 1
        assert busy[0].json()["error"]["retry_after"] >= 1


def test_the_interface_describes_itself(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    operation = described["paths"]["/api/runs"]["post"]
    assert {"200", "413", "415", "422", "429", "503"} <= set(operation["responses"])
    Trace.model_validate(operation["responses"]["200"]["content"]["application/json"]["example"])
    assert "examples" in described["components"]["schemas"]["RunRequest"]["properties"]["source"]
    assert client.get("/api/schema").json()["$defs"]["Storage"]["properties"]["held_by"]
