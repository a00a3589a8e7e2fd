"""The HTTP interface: traces, one shape of error, and who may ask."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gradbox.wire.trace import Trace
from server.app import create_app
from server.http.responses import CachedResponseBody, ResponseBodyCache
from server.operating import log
from server.routes.api import seconds_before_async
from server.settings import Settings
from tests.support.gates import Gate
from tests.support.waiting import PATIENT, wait_until

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings({}, source=1000, **PATIENT)), base_url="http://127.0.0.1:8000") as client:
        yield client


def test_a_program_gives_a_trace(client: TestClient) -> None:
    answer = client.post("/api/runs", json={"source": "import torch\nx = torch.rand(2)\nprint(x)\n", "seed": 3})
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    trace = Trace.model_validate(answer.json())
    assert (trace.outcome.status, trace.runtime.seed, len(trace.steps)) == ("finished", 3, 3)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("import socket", "refused"),
        ("x = (", "refused"),
        ("1/0", "raised"),
        ("", "finished"),
        ("\udc80 = 1", "refused"),
    ],
)
def test_every_program_outcome_is_a_200_response(client: TestClient, source: str, status: str) -> None:
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
        ('{"source": "' + "x" * 80000 + '"}', 413, "too_large", None),
    ],
)
def test_every_error_has_one_shape(client: TestClient, body: str, status: int, code: str, field: str | None) -> None:
    answer = client.post("/api/runs", content=body, headers=JSON)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error.get("field")) == (status, code, field)
    assert len(error["message"]) > 8


def test_a_focus_that_would_take_seconds_to_read_is_refused(client: TestClient) -> None:
    """Its keys share one hash in Python: a dictionary of them would hold up everybody."""
    counts = ",".join(f'"{k * (2**61 - 1)}":1' for k in range(300))
    answer = client.post(
        "/api/runs?kept=1", content=f'{{"source":"x","focus":{{"counts":{{{counts}}}}}}}', headers=JSON
    )
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "focus.counts")


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
def test_a_request_of_another_page_or_type_is_refused(
    client: TestClient, headers: dict[str, str], status: int, code: str
) -> None:
    answer = client.post("/api/runs", content='{"source": "x = 1"}', headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_our_own_page_may_run_a_program(client: TestClient) -> None:
    headers = {**JSON, "sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8000"}
    assert client.post("/api/runs", content='{"source": "x = 1"}', headers=headers).status_code == 200


def test_an_unknown_field_is_named_in_at_most_100_characters(client: TestClient) -> None:
    answer = client.post("/api/runs", json={"source": "x = 1", "y" * 10_000: 1})
    assert answer.status_code == 422 and answer.json()["error"]["field"] == "y" * 100
    assert len(answer.content) < 1000


def test_an_unknown_address_or_method_has_its_error_code(client: TestClient) -> None:
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
    app.state.services.gallery.scenarios = []

    @app.get("/fails")
    async def fails() -> None:
        raise RuntimeError("a secret")

    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        answer = client.get("/fails")
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
        assert "secret" not in answer.text and "default-src 'none'" in answer.headers["content-security-policy"]


def test_health_and_readiness(client: TestClient) -> None:
    client.post("/api/runs", json={"source": "x = 1"})
    health = client.get("/healthz").json()
    assert (health["status"], health["sandbox"]) == ("ok", "best")
    assert {"landlock", "seccomp", "rlimits", "uid"} <= set(health["layers"])
    assert health["layers"]["descriptors"] == health["layers"]["environment"] == "active"
    assert client.get("/readyz").status_code == 200


def test_not_ready_while_the_workers_start() -> None:
    app = create_app(Settings({}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/readyz").status_code in (200, 503)
        assert client.portal is not None
        client.portal.call(app.state.services.pool.zygote._close_link_and_fail_waiters)
        assert client.get("/readyz").status_code == 503


def test_a_queue_that_is_full_says_when_to_come_back(tmp_path: Path) -> None:
    app = create_app(
        Settings({}, workers=1, queue=1, sandbox="off", **PATIENT), "tests.support.stand_in_recorder:prepare"
    )
    app.state.services.gallery.scenarios = []  # it would be run at the start, in a turn of its own
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.post("/api/runs", json={"source": "finish"})
        responses: list[Any] = []
        gates = [Gate(tmp_path) for _ in range(4)]
        threads = [
            threading.Thread(
                target=lambda gate=gate: responses.append(client.post("/api/runs", json={"source": gate.source}))
            )
            for gate in gates
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(responses) == 2 and any(gate.has_begun for gate in gates))
        for gate in gates:
            gate.open()
        for thread in threads:
            thread.join()
        busy = [response for response in responses if response.status_code == 429]
        assert len(busy) == 2 and int(busy[0].headers["retry-after"]) >= 1
        assert busy[0].json()["error"]["retry_after"] >= 1


def test_the_interface_describes_itself(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    operation = described["paths"]["/api/runs"]["post"]
    assert {"200", "413", "415", "422", "429", "503"} <= set(operation["responses"])
    Trace.model_validate(operation["responses"]["200"]["content"]["application/json"]["example"])
    assert "examples" in described["components"]["schemas"]["RunOrPipelineRequest"]["properties"]["source"]
    assert client.get("/api/schema").json()["$defs"]["Storage"]["properties"]["held_by"]


@pytest.fixture(scope="module")
def acting() -> Iterator[TestClient]:
    """A server whose workers do what tests/entries.py says."""
    app = create_app(Settings({}, sandbox="off", **PATIENT), "tests.support.stand_in_recorder:prepare")
    app.state.services.gallery.scenarios = []
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


ASYNC = {"Prefer": "respond-async"}


def test_a_run_that_goes_on_without_the_asker(acting: TestClient, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    accepted = acting.post("/api/runs", json={"source": gate.source}, headers=ASYNC)
    assert accepted.status_code == 202 and accepted.headers["location"] == accepted.json()["url"]
    url, events = accepted.json()["url"], accepted.json()["events"]
    early = acting.get(url)
    assert (early.status_code, early.json()["state"]) == (202, "running")
    gate.open()
    stream = acting.get(events).text
    assert stream.index("event: running") < stream.index("event: done") and '"status": "finished"' in stream
    done = acting.get(url)
    assert done.status_code == 200
    assert Trace.model_validate_json(done.text).outcome.status == "finished"
    cached = acting.post("/api/runs", json={"source": gate.source}, headers=ASYNC)
    assert (cached.status_code, cached.json()) == (200, done.json()), "what is known is not begun"


def test_the_steps_of_a_run_that_goes_on_can_be_read(acting: TestClient, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    url = acting.post("/api/runs", json={"source": gate.source}, headers=ASYNC).json()["url"]
    wait_until(lambda: acting.get(f"{url}/steps").text.count('"kind"') == 2)
    so_far = Trace.model_validate_json(acting.get(f"{url}/steps").text)
    assert so_far.outcome.status == "running" and [step.i for step in so_far.steps] == [0, 1]
    gate.open()
    assert "event: done" in acting.get(f"{url}/events").text
    assert acting.get(f"{url}/steps").status_code == 204, "the whole trace is there"
    assert Trace.model_validate_json(acting.get(url).text).outcome.status == "finished"


def test_a_client_names_the_seconds_that_it_waits(acting: TestClient) -> None:
    soon = acting.post("/api/runs", json={"source": "finish soon"}, headers={"Prefer": "respond-async, wait=60"})
    assert soon.status_code == 200 and soon.json()["outcome"]["status"] == "finished"
    late = acting.post("/api/runs", json={"source": "sleep 6000"}, headers={"Prefer": 'Respond-Async; x, WAIT="1"'})
    assert late.status_code == 202 and late.headers["preference-applied"] == "respond-async, wait=1"
    assert acting.delete(late.json()["url"]).status_code == 204


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ([], None),
        (["wait=3"], None),
        (["return=minimal"], None),
        (["respond-async"], 0),
        (["respond-async, wait=3"], 3),
        (["wait=3", "respond-async"], 3),
        (["RESPOND-ASYNC;foo=1 , Wait = 3, wait=9"], 3),
        (["respond-async, wait=soon"], 0),
        (["respond-async, wait=-1"], 0),
        (["respond-async, wait=1e400"], 0),
        (["respond-async, wait=²"], 0),
    ],
)
def test_the_preferences_of_a_request_are_read_as_the_standard_has_them(
    prefer: list[str], seconds: float | None
) -> None:
    assert seconds_before_async(prefer) == seconds


def test_a_run_that_is_stopped_gives_what_was_recorded(acting: TestClient, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    url = acting.post("/api/runs", json={"source": gate.source}, headers=ASYNC).json()["url"]
    wait_until(lambda: gate.has_begun)
    assert acting.delete(url).status_code == 204
    assert "event: done" in acting.get(f"{url}/events").text
    trace = Trace.model_validate_json(acting.get(url).text)
    assert (trace.outcome.status, len(trace.steps)) == ("cancelled", 2)
    assert acting.delete(url).status_code == 204


@pytest.mark.parametrize("method", ["get", "delete"])
@pytest.mark.parametrize("path", ["/api/runs/none", "/api/runs/..%2f..%2fetc", "/api/runs/" + "x" * 2000])
def test_an_unknown_run_is_not_found(acting: TestClient, method: str, path: str) -> None:
    response = getattr(acting, method)(path)
    assert response.status_code == 404 and response.json()["error"]["code"] in ("no_run", "not_found")


def test_a_trace_is_compressed_only_for_clients_that_accept_it(acting: TestClient) -> None:
    packed = acting.post("/api/runs", json={"source": "finish 1"}, headers={"Accept-Encoding": "gzip"})
    plain = acting.post("/api/runs", json={"source": "finish 1"}, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert packed.json() == plain.json()


def test_a_visitor_is_a_signed_cookie(acting: TestClient) -> None:
    given = acting.get("/").headers["set-cookie"]
    assert given.startswith("gradbox=") and "HttpOnly" in given and "SameSite=Lax" in given
    assert "set-cookie" not in acting.get("/").headers
    forged = acting.get("/", headers={"Cookie": "gradbox=" + "a" * 22 + "." + "b" * 43})
    assert "set-cookie" in forged.headers
    acting.cookies.clear()


def test_too_many_runs_in_a_minute() -> None:
    app = create_app(Settings({}, sandbox="off", rate_limit="2/minute"), "tests.support.stand_in_recorder:prepare")
    app.state.services.gallery.scenarios = []
    with TestClient(app, base_url="http://127.0.0.1") as client:
        responses = [client.post("/api/runs", json={"source": f"finish {k}"}) for k in range(3)]
        assert [response.status_code for response in responses] == [200, 200, 429]
        assert responses[2].json()["error"]["code"] == "limited" and 1 <= int(responses[2].headers["retry-after"]) <= 60
        assert client.post("/api/runs", json={"source": "finish 1"}).status_code == 200, "a kept result is no run"
        client.get("/")
        assert client.post("/api/runs", json={"source": "finish 9"}).status_code == 200, "another visitor"
        assert 'gradbox_refused_total{why="limited"} 1.0' in client.get("/metrics").text


def test_metrics_and_log_count_runs_without_their_source(
    acting: TestClient, capsys: pytest.CaptureFixture[str]
) -> None:
    acting.post("/api/runs", json={"source": "leave a-secret-word"})
    metrics = acting.get("/metrics").text
    assert 'gradbox_runs_total{device="cpu",status="crashed"}' in metrics
    assert "gradbox_spare_children" in metrics and "gradbox_run_seconds_bucket" in metrics
    log.configure_logging()
    acting.post("/api/runs", json={"source": "finish a-secret-word"})
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    ran = [line for line in lines if line["event"] == "run"]
    assert ran[-1]["status"] == "finished" and ran[-1]["size"] == len("finish a-secret-word")
    assert "a-secret-word" not in str(lines)


@pytest.mark.parametrize("path", ["/gallery", "/gallery.json"])
def test_constant_bodies_are_made_once(client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(client.app.state.services.gallery, "pages", ResponseBodyCache())  # type: ignore[attr-defined]
    made = []
    compress = CachedResponseBody.from_bytes
    monkeypatch.setattr(CachedResponseBody, "from_bytes", lambda *arguments: made.append(path) or compress(*arguments))
    answers = [client.get(path), client.get(path, headers={"accept-encoding": "identity"})]
    assert len(made) == 1
    assert answers[0].content == answers[1].content and len(answers[0].content) > 50_000
    assert [answer.headers.get("content-encoding") for answer in answers] == ["gzip", None]
    assert int(answers[0].headers["content-length"]) < 100_000
    known = client.get(path, headers={"if-none-match": answers[0].headers["etag"]})
    assert (known.status_code, known.content) == (304, b"")


def test_the_gallery_is_in_the_language_of_who_asks(client: TestClient) -> None:
    pages = [client.get("/gallery", headers={"accept-language": language}).text for language in ("en", "zh", "en")]
    assert pages[0] == pages[2] != pages[1]
    assert ['lang="en"' in pages[0], 'lang="zh"' in pages[1]] == [True, True]
