"""The file for a public forge runs what `.ci/run` runs, on every Python that the project supports."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def job() -> dict[str, Any]:
    workflow: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
    assert list(workflow["jobs"]) == ["tests"]
    return workflow["jobs"]["tests"]  # type: ignore[no-any-return]


def test_the_forge_runs_only_the_ci_script(job: dict[str, Any]) -> None:
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert [command for command in commands if "apt-get" not in command] == [".ci/run"]
    assert (ROOT / ".ci/run").stat().st_mode & 0o111 and not job.get("continue-on-error")


def test_the_forge_runs_on_every_supported_python(job: dict[str, Any]) -> None:
    pythons = job["strategy"]["matrix"]["python"]
    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    first, after_last = (int(minor) for minor in re.findall(r"3\.(\d+)", bounds))
    assert pythons == [f"3.{minor}" for minor in range(first, after_last)]
    (chosen,) = (step["env"]["MAKEFLAGS"] for step in job["steps"] if step.get("run") == ".ci/run")
    assert chosen == "BASE=python${{ matrix.python }}" and "$(BASE) -m venv" in (ROOT / "Makefile").read_text()


def test_actions_are_pinned_by_their_major_version(job: dict[str, Any]) -> None:
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in used)
