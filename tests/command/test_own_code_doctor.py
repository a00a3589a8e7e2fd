"""`gradbox doctor`: what it says of this machine is so, and its verdict and exit status follow from it."""

import json
import platform
from pathlib import Path
from typing import Any

import pytest
import torch

from gradbox.command import main
from gradbox.doctor import CheckResult, display_and_folder_checks, readiness_line, torch_checks

READY = "Verdict: ready to record, show and explain scripts, notebooks and tests of this machine"


@pytest.mark.slow
def test_doctor_describes_the_machine_and_records_a_script(capsys: Any) -> None:
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    said = {check["name"]: check["value"] for check in report["checks"]}
    assert report["ready"] and report["verdict"] == READY
    assert said["torch"] == torch.__version__ and said["autograd"] == "can be asked"
    assert said["python"].startswith(platform.python_version())
    assert said["recording"].startswith("7 steps of a small script") and said["findings"] == "can be made"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "torch: pip install torch; see https://pytorch.org for the build that fits"),
        ({"error": "ImportError: libc10.so"}, "torch: ImportError: libc10.so"),
        ({"version": "2.9.1", "can_ask": False, "devices": []}, "autograd: torch 2.11 or later is needed"),
        ({"version": "2.13.0", "can_ask": True, "devices": ["H200"]}, ""),
    ],
)
def test_a_torch_that_can_not_be_used_is_in_the_verdict(answer: dict[str, Any] | None, problem: str) -> None:
    said = readiness_line([CheckResult("python", "3.11"), *torch_checks(answer)])
    assert said.startswith(f"Verdict: not ready, because {problem}") if problem else said == READY


def test_doctor_says_that_no_browser_can_open_without_failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CI", "1")
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in display_and_folder_checks()}
    assert checks["browser"].value == "is not opened (in CI): `gradbox open` prints the address"
    assert checks["files of regions"].value.startswith(f"{tmp_path}, ")
    assert not any(check.problem for check in checks.values())
