"""`python -m server doctor`: one page, and a status that says whether something is missing."""

import asyncio
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradbox.assembly.recorded_trace import RecordedTrace
from server import __main__ as commands
from server.commands import doctor
from server.pool import machine_resources
from server.settings import Settings
from tests.forks import prepared_zygotes
from tests.forks.forked_server import run_command
from tests.recordings.store import kept_trace
from tests.server.store.test_store import MADE, content
from tests.support.databases import DatabaseFactory

pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[3]


def run_doctor(**environment: str) -> subprocess.CompletedProcess[str]:
    return run_command("doctor", environment=prepared_zygotes.environment(**environment), timeout=120)


@pytest.mark.slow
def test_doctor_lists_what_a_visitor_gets() -> None:
    page = run_doctor().stdout
    for subject in (
        "pictures",
        "store, embedded",
        "kernel",
        "memory",
        "torch",
        "layer seccomp",
        "layer landlock",
        "a small program",
        "font, Chinese",
    ):
        assert subject in page
    assert "tensors" in page and "10,000" in page and len(page.splitlines()) < 60
    assert page.splitlines()[-1].startswith("Verdict: ready for yourself, not for public use, because ")


def test_the_exit_status_says_whether_the_server_is_ready_for_strangers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def no_checks(_: Settings) -> list[tuple[str, str, str]]:
        return []

    monkeypatch.setattr(doctor, "check_workers", no_checks)
    monkeypatch.setattr(doctor, "check_fonts", lambda: iter(()))
    for name, value in (("SANDBOX", "require"), ("PUBLIC_URL", "https://g.example"), ("HOSTS", "g.example")):
        monkeypatch.setenv(f"GRADBOX_{name}", value)
    monkeypatch.setenv("GRADBOX_SECRET", "x")
    monkeypatch.setenv("GRADBOX_TRUSTED_PROXIES", "127.0.0.1")
    assert commands.main(["doctor", "--public"]) == 0
    assert capsys.readouterr().out.endswith("Verdict: ready for public use\n")
    monkeypatch.setenv("GRADBOX_SANDBOX", "best")
    assert commands.main(["doctor", "--public"]) == 1 and commands.main(["doctor"]) == 0


@pytest.mark.slow
def test_missing_parts_are_marked_and_set_the_exit_status() -> None:
    page = run_doctor(GRADBOX_SANDBOX="off", GRADBOX_MEMORY=str(10**13))
    assert page.returncode == 1
    marked = [line for line in page.stdout.splitlines() if line.startswith("!")]
    assert any("confinement" in line for line in marked) and any("enough for 1 of 2" in line for line in marked)


def test_an_unwritable_store_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("/proc/new", str(tmp_path / "file"), str(tmp_path / "file/new")):
        subject, state, wrong = asyncio.run(doctor.check_store(Settings({}, data=folder)))
        assert (subject, state) in (("store, embedded", "none yet"), ("store, embedded", "none")), folder
        assert wrong.startswith("no program can be saved"), folder
    assert asyncio.run(doctor.check_store(Settings({}, data=str(tmp_path / "new"))))[1:] == (
        "created when the first program is saved",
        "",
    )
    assert not (tmp_path / "new").exists()
    gone = Settings({}, database_url="postgresql://me:hush@127.0.0.1:9/none")
    subject, state, wrong = asyncio.run(doctor.check_store(gone))
    assert (subject, state) == ("store, PostgreSQL", "none") and "Connect call failed" in wrong
    assert "hush" not in wrong


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_store_is_described_by_its_contents(new_database: DatabaseFactory, kind: str) -> None:
    database = new_database(kind)
    database.do(lambda store: store.save_program(content(), b"x" * 950, MADE))
    settings: dict[str, Any] = {"data": str(database.folder), "database_url": database.url}
    _, state, wrong = asyncio.run(doctor.check_store(Settings({}, **settings)))
    assert state.startswith("1 programs, ") and state.endswith(", revision 0003") and wrong == ""
    assert asyncio.run(doctor.check_store(Settings({}, quota=1000, **settings)))[2] == "it is nearly full"


def test_doubtful_settings_are_reported() -> None:
    rows = {
        subject: wrong
        for subject, _, wrong in doctor.check_host(Settings({}, public_url="https://g.example", secret="s"))
    }
    assert "g.example is not in it" in rows["GRADBOX_HOSTS"] and rows["GRADBOX_TRUSTED_PROXIES"]
    assert not any(subject.startswith("GRADBOX_") for subject, _, _ in doctor.check_host(Settings({})))


def test_doctor_says_that_pictures_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = RecordedTrace(gzip.compress(json.dumps(kept_trace("x = 1\n")).encode()), "finished")
    monkeypatch.setattr("server.pictures.renderer_client.COMMAND", (sys.executable, "-c", "raise SystemExit"))
    assert asyncio.run(doctor.check_pictures(recorded, Settings({}))) == (
        "pictures",
        "none",
        "pictures can't be drawn here now",
    )
    monkeypatch.setattr("server.pictures.renderer_client.PROJECT_FOLDER", Path("/nowhere"))
    assert asyncio.run(doctor.check_pictures(recorded, Settings({})))[2].startswith("the page is not built")


@pytest.mark.slow
def test_workers_that_do_not_start_are_named() -> None:
    page = subprocess.run(
        [sys.executable, "-m", "server", "doctor"],
        cwd=ROOT, env={**os.environ, "GRADBOX_BOOT": "0.01"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert page.returncode == 1 and "the workers do not start" in page.stdout


def test_a_required_sandbox_without_a_layer_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRADBOX_SANDBOX", "require")
    monkeypatch.setattr(
        commands, "PRINT_MISSING_LAYERS", 'import json; print(json.dumps({"seccomp": "the kernel has none"}))'
    )
    assert commands.main(["serve"]) == 2
    assert "seccomp (the kernel has none)" in capsys.readouterr().err
    monkeypatch.setattr(commands, "PRINT_MISSING_LAYERS", "raise SystemExit('broken')")
    assert commands.main(["serve"]) == 2


def test_memory_is_enough_for_at_least_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_resources, "total_memory", lambda: 10_000_000_000)
    assert machine_resources.max_workers_for_memory(1_000_000_000) == 8
    monkeypatch.setattr(machine_resources, "total_memory", lambda: 1_000_000_000)
    assert machine_resources.max_workers_for_memory(1_000_000_000) == 1 and doctor.total_memory() > 0  # type: ignore[attr-defined]
