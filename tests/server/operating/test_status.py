"""The operator's page: for the operator alone, true, and without a secret."""

import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.app import create_app
from server.operating import log
from server.pool import machine_resources
from server.quantity_formats import format_bytes, format_duration
from server.settings import Settings

ROOT = Path(__file__).parents[3]
HERE = "127.0.0.1"
PROXY = "10.0.0.1"
GONE = "postgresql://me:hush-one@127.0.0.1:9/none?password=hush-two"
STILL: dict[str, Any] = {"sandbox": "off", "gpu": False, "secret": "hush-three"}
BOTH = ("/-/status", "/-/status.json")


def visiting(peer: str = HERE, **settings: Any) -> TestClient:
    app = create_app(Settings({}, **{**STILL, **settings}), "tests.support.stand_in_recorder:prepare")
    app.state.services.gallery.scenarios = []
    return TestClient(app, base_url="http://127.0.0.1:8000", client=(peer, 50000))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    data = str(tmp_path_factory.mktemp("data") / "new")
    with visiting(
        data=data, trusted_proxies=PROXY, public_url="https://a.example/box", save_limit="2/minute"
    ) as client:
        yield client


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_the_page_is_the_operators(client: TestClient) -> None:
    for path in BOTH:
        for headers in (
            {"x-forwarded-for": HERE},
            {"x-forwarded-for": "203.0.113.9"},
            {"x-real-ip": HERE},
            {"forwarded": "for=127.0.0.1"},
            {"via": "1.0 proxy"},
        ):
            assert code(client.get(path, headers=headers)) == (403, "no_operator"), (path, headers)
        answer = client.get(path)
        assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
        for method in ("POST", "PUT", "DELETE"):
            assert client.request(method, path, headers={"content-type": "application/json"}).status_code == 405
    assert "/-/" not in json.dumps(client.get("/api/openapi.json").json()["paths"])


def test_only_addresses_of_operators_see_the_status(tmp_path: Path) -> None:
    with visiting("203.0.113.9", data=str(tmp_path)) as client:
        assert code(client.get("/-/status.json")) == (403, "no_operator")
    settings: dict[str, Any] = {"operators": "192.0.2.0/24", "trusted_proxies": PROXY, "data": str(tmp_path)}
    with visiting(PROXY, **settings) as client:
        for addresses, status in (
            ("192.0.2.7", 200),
            ("203.0.113.9", 403),
            ("192.0.2.7, 203.0.113.9", 403),
            ("x", 403),
        ):
            assert client.get("/-/status", headers={"x-forwarded-for": addresses}).status_code == status, addresses
    with visiting(operators="", data=str(tmp_path)) as client:
        assert code(client.get("/-/status")) == (403, "no_operator")


def test_private_mode_asks_for_the_password_and_the_address(tmp_path: Path) -> None:
    headers = {"authorization": "Bearer open sesame"}
    with visiting(password="open sesame", data=str(tmp_path)) as client:
        assert code(client.get("/-/status.json")) == (401, "no_password")
        assert client.get("/-/status.json", headers=headers).status_code == 200
        assert code(client.get("/-/status", headers={**headers, "x-forwarded-for": HERE})) == (403, "no_operator")


def test_the_status_counts_runs_and_saved_programs(client: TestClient) -> None:
    for source in ("finish", "finish", "nothing"):
        client.post("/api/runs", json={"source": source})
    before = client.get("/-/status.json").json()
    for k in range(4):
        client.post("/api/scenarios", json={"source": "finish", "title": str(k)})
    now = client.get("/-/status.json").json()
    assert now["runs"]["finished"] == 1 and sum(now["runs"].values()) == 2
    assert now["store"]["saves"] == 2 and now["saves_refused"] == {"limited": 2}
    assert now["store"]["backend"] == "embedded" and now["store"]["reachable"] is True
    assert now["workers"]["ready"] is True and now["workers"]["at_once"] == 2 and now["workers"]["boots"] == 1
    assert 0 < now["machine"]["disk_left"] <= now["machine"]["disk"]
    assert 0 < now["machine"]["memory_left"] <= now["machine"]["memory"]
    assert 10**7 < now["machine"]["memory_server"] < now["machine"]["memory"]
    assert 10**7 < now["machine"]["memory_workers"] < now["machine"]["memory"]
    assert now["server"]["uptime"] >= before["server"]["uptime"] >= 0
    assert now["settings"]["GRADBOX_PUBLIC_URL"] == "https://a.example/box"
    assert now["settings"]["GRADBOX_SECRET"] == "set" and "GRADBOX_QUEUE" not in now["settings"]
    assert [warning["setting"] for warning in now["warnings"]] == ["GRADBOX_HOSTS"]


def test_every_status_field_has_a_label_in_both_languages(client: TestClient) -> None:
    template = (ROOT / "templates/status.html").read_text()
    wanted = {f"status_{name}" for name in re.findall(r'row\("(\w+)"', template)} | set(
        re.findall(r"say\.(status_\w+)", template)
    )
    for lang in ("en", "zh"):
        words = json.loads((ROOT / f"static/locales/pages.{lang}.json").read_text())
        assert wanted == {name for name in words if name.startswith("status_")}
        page = client.get(f"/-/status?lang={lang}").text
        assert words["status_workers"] in page and 'href="/box/-/status.json"' in page
        assert "GRADBOX_PUBLIC_URL" in page and "hush" not in page and "seconds}" not in page
    assert "refresh" not in client.get("/-/status").headers
    assert client.get("/-/status?renew=1").headers["refresh"] == "15"


def test_the_status_contains_no_secret(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with visiting(database_url=GONE, password="hush-four", data=str(tmp_path)) as client:
        headers = {"authorization": "Bearer hush-four"}
        client.post("/api/scenarios", json={"source": "finish"}, headers=headers)
        for path in (*BOTH, "/metrics", "/healthz"):
            answer = client.get(path, headers=headers)
            assert answer.status_code == 200 and "hush" not in answer.text, path
        status = client.get("/-/status.json", headers=headers).json()
        assert status["store"]["reachable"] is False and "ConnectionRefusedError" in status["store"]["why"]
        assert {status["settings"][name] for name in ("DATABASE_URL", "GRADBOX_PASSWORD", "GRADBOX_SECRET")} == {"set"}
        assert any("ConnectionRefusedError" in word["text"] for word in status["words"])
        assert "ConnectionRefusedError" in client.get("/-/status", headers=headers).text
    assert "hush" not in "".join(capfd.readouterr())


def test_our_own_failure_is_listed_by_place_without_its_message() -> None:
    recent = log.RecentLogHandler()
    try:
        raise ValueError("somebody's program")
    except ValueError:
        record = logging.LogRecord("uvicorn.error", logging.ERROR, "x", 1, "Exception in ASGI application\n", (), None)
        record.exc_info = sys.exc_info()
    recent.emit(record)
    assert recent.entries[0].text.startswith("Exception in ASGI application (ValueError at ")
    assert "test_status.py:" in recent.entries[0].text and "program" not in recent.entries[0].text
    for k in range(log.MAX_ENTRIES + 5):
        recent.emit(logging.LogRecord("gradbox", logging.WARNING, "x", 1, f"{k} " + "x" * 999, (), None))
    assert len(recent.entries) == log.MAX_ENTRIES and recent.entries[-1].text.startswith(f"{log.MAX_ENTRIES + 4} ")
    assert all(len(word.text) <= log.MAX_LENGTH for word in recent.entries)


@pytest.mark.parametrize(
    ("number", "expected"), [(None, "?"), (0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (10**6, "1 MB"), (999_999_999, "1000 MB"), (25_276_502_016, "25.3 GB")],  # noqa: E501
)  # fmt: skip
def test_bytes_are_rounded(number: int | None, expected: str) -> None:
    assert format_bytes(number) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, "0 min"), (59.9, "0 min"), (60, "1 min"), (3599, "59 min"), (3600, "1 h 0 min"), (90_000, "1 d 1 h"), (86_400 * 400, "400 d 0 h")],  # noqa: E501
)  # fmt: skip
def test_durations_are_rounded(seconds: float, expected: str) -> None:
    assert format_duration(seconds) == expected


def test_the_disk_of_a_folder_that_is_not_made_yet(tmp_path: Path) -> None:
    free, total = machine_resources.disk_space(tmp_path / "a/b/c")
    assert (
        abs(free - machine_resources.disk_space(tmp_path)[0]) < 1e9
        and total == machine_resources.disk_space(tmp_path)[1]
    )


def test_unknown_memory_is_shown_as_unknown(tmp_path: Path) -> None:
    assert (
        machine_resources.resident_memory(2**22 + 1) is None
        and machine_resources.read_kernel_value(tmp_path / "none", "x") is None
    )
    (tmp_path / "file").write_text("MemFree: 3 kB\nMemFreeish 9\ninactive_file 12\n")
    assert machine_resources.read_kernel_value(tmp_path / "file", "MemFree:") == 3072
    assert (
        machine_resources.read_kernel_value(tmp_path / "file", "inactive_file") == 12
        and machine_resources.read_kernel_value(tmp_path / "file", "MemFree") is None
    )


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_the_status_page_fits_and_is_accessible(page: Any, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{site}/-/status")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.evaluate((ROOT / "node_modules/axe-core/axe.min.js").read_text())
        assert page.evaluate("() => axe.run().then((result) => result.violations.map((one) => one.id))") == []
