"""Requests are measured by the template of their route, so that strangers can't make the metrics grow."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.app import create_app
from server.settings import Settings
from tests.support.waiting import wait_until


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    settings: dict[str, Any] = {"sandbox": "off", "gpu": False, "data": str(tmp_path)}
    settings |= {"public_url": "http://127.0.0.1/box", "request_limit": "1000/second"}
    app = create_app(Settings({}, **settings), "tests.support.stand_in_recorder:prepare")
    app.state.services.gallery.scenarios = []
    with TestClient(app, base_url="http://127.0.0.1") as client:
        wait_until(lambda: client.get("/readyz").status_code == 200)
        yield client


def counts(client: TestClient) -> dict[tuple[str, str, str], float]:
    """Requests by method, route and class of status."""
    row = re.compile(r'gradbox_http_request_seconds_count\{method="(.*?)",route="(.*?)",status="(.*?)"\} (\S+)')
    return {(m[1], m[2], m[3]): float(m[4]) for m in row.finditer(client.get("/metrics").text)}


def test_a_request_counts_by_its_template_method_and_class_of_status(client: TestClient) -> None:
    client.post("/api/runs", json={"source": "finish"})
    client.post("/api/runs", json={"source": 3})
    client.get("/s/7777777777")
    client.get("/box/s/8888888888")
    client.head("/readyz")
    client.get("/static/dist/nothing.js")
    found = counts(client)
    assert found["POST", "/api/runs", "2xx"] == 1 and found["POST", "/api/runs", "4xx"] == 1
    assert found["GET", "/s/{id}", "4xx"] == 2
    assert found["HEAD", "/readyz", "2xx"] == 1 and found["GET", "/static/dist", "4xx"] == 1


def test_strangers_cannot_make_the_metrics_grow(client: TestClient) -> None:
    def ask() -> None:
        for k in range(20):
            client.get(f"/nowhere/{k}")
            client.get(f"/s/{k:010}")
            client.request(f"VERB{k}", f"/x{k}")
        client.get("/", headers={"host": "elsewhere.example"})

    ask()
    before = counts(client)
    ask()
    after = counts(client)
    assert before.keys() | {("GET", "/metrics", "2xx")} == after.keys()
    assert after["other", "none", "4xx"] - before["other", "none", "4xx"] == 20
    assert after["GET", "none", "4xx"] - before["GET", "none", "4xx"] == 21, (
        "another Host is answered before the routes"
    )


def test_every_label_is_a_route_of_the_application(client: TestClient) -> None:
    known = {getattr(route, "path", "") for route in client.app.state.routes} | {"none", "/static/dist"}  # type: ignore[attr-defined]
    assert {route for _, route, _ in counts(client)} <= known


def test_the_process_says_when_it_began_and_what_it_uses(client: TestClient) -> None:
    text = client.get("/metrics").text
    for name in ("process_start_time_seconds", "process_resident_memory_bytes", "process_cpu_seconds_total"):
        assert float(re.search(rf"^{name} (\S+)$", text, re.M)[1]) > 0  # type: ignore[index]
