"""`python -m server doctor`: one page, and a status that says whether something is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server import __main__ as commands
from server import doctor
from server.pool import machine

ROOT = Path(__file__).parent.parent


def told(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "server", "doctor"],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_the_page_says_what_a_visitor_gets() -> None:
    page = told().stdout
    for subject in ("kernel", "memory", "torch", "layer seccomp", "layer landlock", "a small program", "font, Chinese"):
        assert subject in page
    assert "tensors" in page and "10,000" in page and len(page.splitlines()) < 60


def test_what_is_missing_is_marked_and_makes_the_status() -> None:
    page = told(GRADBOX_SANDBOX="off", GRADBOX_MEMORY=str(10**13))
    assert page.returncode == 1
    marked = [line for line in page.stdout.splitlines() if line.startswith("!")]
    assert any("confinement" in line for line in marked) and any("room for 1 of 2" in line for line in marked)


def test_workers_that_do_not_start_are_named() -> None:
    page = told(GRADBOX_BOOT="0.01")
    assert page.returncode == 1 and "the workers do not start" in page.stdout


def test_require_refuses_to_start_without_a_layer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRADBOX_SANDBOX", "require")
    monkeypatch.setattr(commands, "TRIAL", 'import json; print(json.dumps({"seccomp": "the kernel has none"}))')
    assert commands.main(["serve"]) == 2
    assert "seccomp (the kernel has none)" in capsys.readouterr().err
    monkeypatch.setattr(commands, "TRIAL", "raise SystemExit('broken')")
    assert commands.main(["serve"]) == 2


def test_room_is_for_one_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "memory", lambda: 10_000_000_000)
    assert machine.room(1_000_000_000) == 8
    monkeypatch.setattr(machine, "memory", lambda: 1_000_000_000)
    assert machine.room(1_000_000_000) == 1 and doctor.memory() > 0
