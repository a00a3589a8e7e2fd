"""Settings that can't be meant so: one sentence and status 2, or a word in the log.

Each spelling of a URL below breaks a rule of its own; pydantic's HttpUrl accepts or repairs most of them, also those
with a query, a fragment or a password, which no permalink may begin with.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from server.__main__ import main
from server.operating.settings_checks import check_settings, setting_warnings
from server.settings import SettingError, Settings

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "url",
    [
        "gradbox.example.org", "ftp://g.example", "https://", "https:///path", "//g.example", "https://g.example?x=1",
        "https://g.example/?", "https://g.example/#top", "https://me:word@g.example", "https://g.example:http",
        "https://g.example:99999", "https://g.example:0", "https://g.example/a b", "https://g.example/a//b",
        "https://g.example/../x", "https://g.example/<x>", "https://g.example/a;b", "https://g example", "https://[::1",
        " https://g.example", "https://g.example\n",
    ],
)  # fmt: skip
def test_an_invalid_public_url_is_reported(url: str) -> None:
    with pytest.raises(SettingError, match=r"GRADBOX_PUBLIC_URL is .*; it takes http"):
        check_settings(Settings({}, public_url=url))


@pytest.mark.parametrize(
    "url",
    [
        "", "https://g.example", "http://localhost:8000", "https://g.example/", "https://example.org/gradbox",
        "https://example.org/~me/grad-box_1.0/", "http://[::1]:8000/x", "http://gradbox", "http://10.0.0.1:80",
    ],
)  # fmt: skip
def test_a_valid_public_url_is_accepted(url: str) -> None:
    check_settings(Settings({}, public_url=url))


@pytest.mark.parametrize("hosts", ["", "a,", "https://g.example", "g.example:8000", "*", "g.example/x", "a b", "::1"])
def test_an_invalid_host_is_reported(hosts: str) -> None:
    with pytest.raises(SettingError, match="GRADBOX_HOSTS has "):
        check_settings(Settings({}, hosts=hosts))


@pytest.mark.parametrize(
    "frames",
    [
        "", "none", "https://a.example; script-src *", "https://a.example\n", "https://a.example\r\nX: y", "*, *",
        "https://a.example,https://b.example", "* https://a.example", "'none' https://a.example", "https://ä.example",
        "'unsafe-inline'", "ftp://a.example", "javascript:", "https://a.example ",
    ],
)  # fmt: skip
def test_an_invalid_list_of_frames_is_reported(frames: str) -> None:
    with pytest.raises(SettingError, match=r"GRADBOX_FRAMES is .*; it takes "):
        check_settings(Settings({}, frames=frames))


@pytest.mark.parametrize(
    "frames",
    [
        "*",
        "'none'",
        "'self'",
        "https:",
        "https://a.example",
        "https://*.a.example:8443 b.example",
        "'self' localhost:80/",
    ],
)
def test_a_valid_list_of_frames_is_accepted(frames: str) -> None:
    check_settings(Settings({}, frames=frames))


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"password": "1234567"}, "GRADBOX_PASSWORD has 7 characters"),
        ({"addresses": "home"}, "GRADBOX_ADDRESSES has 'home'"),
        ({"operators": "me"}, "GRADBOX_OPERATORS has 'me'"),
        ({"trusted_proxies": "nginx"}, "GRADBOX_TRUSTED_PROXIES has 'nginx'"),
    ],
)
def test_an_invalid_password_or_network_is_named(values: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingError) as error:
        check_settings(Settings({}, **values))
    assert str(error.value).startswith(name) and values.get("password", "?") not in str(error.value)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, []),
        ({"public_url": "http://localhost:8000"}, []),
        ({"public_url": "https://g.example", "secret": "s"}, ["HOSTS", "TRUSTED_PROXIES"]),
        ({"public_url": "https://G.example/x", "secret": "s", "hosts": "a, g.EXAMPLE", "trusted_proxies": "::1"}, []),
        ({"public_url": "http://g.example", "hosts": "g.example"}, ["SECRET"]),
        ({"public_url": "http://g.example", "hosts": "g.example", "password": "12345678"}, ["PASSWORD", "SECRET"]),
        ({"public_url": "http://[::1]:8000", "password": "12345678", "secret": "s"}, []),
        ({"password": "12345678"}, ["SECRET"]),
    ],
)
def test_settings_that_deserve_a_warning(values: dict[str, Any], names: list[str]) -> None:
    settings = Settings({}, **values)
    check_settings(settings)
    assert [name for name, _ in setting_warnings(settings)] == [f"GRADBOX_{name}" for name in names]


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"GRADBOX_PUBLIC_URL": "https://g.example/?x"}, "GRADBOX_PUBLIC_URL"),
        ({"GRADBOX_PASSWORD": "short"}, "GRADBOX_PASSWORD"),
        ({"GRADBOX_FRAMES": "*; script-src *"}, "GRADBOX_FRAMES"),
        ({"DATABASE_URL": "mysql://u:hush@h/d"}, "DATABASE_URL"),
        ({"GRADBOX_SAVE_LIMIT": "many"}, "GRADBOX_SAVE_LIMIT"),
    ],
)
def test_an_invalid_setting_keeps_the_server_from_starting(
    environment: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(uvicorn.Server, "run", lambda _: pytest.fail("it starts"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for command in ("serve", "doctor"):
        if command == "doctor" and "SAVE" in named:
            continue  # it makes no server
        status = main([command, *(["--port", "1"] if command == "serve" else [])])
        printed = capsys.readouterr()
        assert (status, printed.out) == (2, "") and len(printed.err.splitlines()) == 1, printed.err
        assert named in printed.err and "hush" not in printed.err


def test_serve_exits_with_status_2_for_an_invalid_setting() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "server", "serve", "--port", "1"],
        cwd=ROOT, env={**os.environ, "GRADBOX_PASSWORD": "short"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.splitlines()) == 1, done.stderr
    assert "GRADBOX_PASSWORD" in done.stderr


@pytest.mark.parametrize("url", ["redis", "http://broker:6379", "redis://", "redis://broker:0", "redis://broker:x/0"])
def test_an_invalid_queue_is_reported(url: str) -> None:
    with pytest.raises(SettingError, match="GRADBOX_QUEUE_URL takes a URL like redis://"):
        check_settings(Settings({}, queue_url=url, secret="s"))


def test_a_queue_needs_what_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings({}, queue_url="redis://broker:6379/0")
    with pytest.raises(SettingError, match="needs GRADBOX_SECRET, the same"):
        check_settings(settings)
    settings.secret = "s"
    check_settings(settings)
    assert "DATABASE_URL" in dict(setting_warnings(settings))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SettingError, match=r"needs celery and redis: pip install -e .\[server,cluster\]"):
        check_settings(settings)


def test_a_worker_without_a_queue_does_not_start(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADBOX_QUEUE_URL", raising=False)
    assert main(["worker"]) == 2
    assert "needs GRADBOX_QUEUE_URL" in capsys.readouterr().err
