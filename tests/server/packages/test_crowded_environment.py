"""A fresh virtual environment with the packages that people have beside torch: Gradbox serves there as in a clean one.

The packages come from the machine's index; where there is none, the test is skipped and says so.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support.brokers import free_port
from tests.support.waiting import PATIENCE, wait_for_answer

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

ROOT = Path(__file__).parents[3]
CROWD = "jax matplotlib pandas pyarrow scikit-learn tensorboard transformers triton"
INSTALL_SECONDS = 900
FIGURES = re.compile(r"\d+(\.\d+)?")
PROGRAM = "x = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n"
SCRIPT = """\
import torch, pandas, sklearn.linear_model
frame = pandas.DataFrame({"a": [1.0, 2.0]})
x = torch.tensor(frame["a"].to_numpy(), requires_grad=True)
(x * 2).sum().backward()
print(x.grad.tolist(), sklearn.linear_model.LinearRegression().fit([[1.0]], [1.0]).predict([[1.0]]))
"""


@dataclass(frozen=True)
class Figures:
    """Seconds of the processor: of a server from its start to its end, and of the first program that it ran."""

    server: float
    program: float


@pytest.fixture(scope="module")
def crowded_python() -> Path:
    """The Python of an environment under var/, which is made anew where the packages that are wanted are others."""
    folder = ROOT / "var/crowded"
    python, note = folder / "bin/python", folder / "installed"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = re.search(r"^TORCH := (\S+)", (ROOT / "Makefile").read_text(), re.M)
    assert version is not None
    wanted = [*project["dependencies"], *project["optional-dependencies"]["packages"], *CROWD.split()]
    listed = "\n".join([sys.version, version[1], *wanted])
    if note.exists() and note.read_text() == listed:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install(python, f"torch=={version[1]}")
    install(python, *wanted)
    note.write_text(listed)
    return python


def install(python: Path, *packages: str) -> None:
    """Install packages by pip, which finds the build of torch for the CPU where the machine has that."""
    command = [str(python), "-m", "pip", "install", "-q", "--no-compile", *packages]
    result = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if result.returncode:
        pytest.skip(
            f"no index has the packages of a crowded environment: {result.stderr.strip().splitlines()[-1][:200]}"
        )


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRADBOX_", "PYTHON"))}
    return {**kept, "GRADBOX_DATA": str(folder), "GRADBOX_LIVE": "offered"}


def answer(url: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return response.status, response.read()


def used() -> float:
    """Seconds of the processor that the ended children of this process have used, with their own."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@contextmanager
def served(python: Path, folder: Path, errors: IO[bytes]) -> Iterator[str]:
    """The address of `python -m server serve` of this Python."""
    port = free_port()
    command = [str(python), "-m", "server", "serve", "--port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env=environment(folder), stdout=errors, stderr=errors)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) in (0, -signal.SIGTERM)


def measure(python: Path, folder: Path) -> Figures:
    """Serve once, run a program, and see that the server is content."""
    folder.mkdir()
    before = used()
    with (folder / "errors").open("wb") as errors, served(python, folder, errors) as address:
        wait_for_answer(f"{address}/readyz")
        status, body = answer(f"{address}/api/runs", {"source": PROGRAM})
        assert status == 200 and b"tensor([2., 2., 2.])" in body
        health = json.loads(answer(f"{address}/healthz")[1])
        assert (health["status"], health["workers"]["cpu"]) == ("ok", "ready")
    assert "gone" not in (folder / "errors").read_text()
    return Figures(used() - before, json.loads(body)["cost"]["cpu_ms"] / 1000)


def test_the_first_answer_takes_no_more_work_than_in_a_clean_environment(
    crowded_python: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pythons = {"clean": Path(sys.executable), "crowded": crowded_python}
    for name, python in pythons.items():  # what is compiled when it is first imported
        measure(python, tmp_path / f"{name} first")
    figures = {name: [measure(python, tmp_path / f"{name} {k}") for k in range(3)] for name, python in pythons.items()}
    best = {
        name: Figures(min(one.server for one in ones), min(one.program for one in ones))
        for name, ones in figures.items()
    }
    with capsys.disabled():
        for name, one in best.items():
            print(
                f"\n{name}: {one.server:.1f} s of the processor, {one.program * 1000:.0f} ms for the first program",
                end="",
            )
    assert best["crowded"].server < 2 * best["clean"].server + 1
    assert best["crowded"].program < 2 * best["clean"].program + 0.05


def doctor(python: Path, folder: Path) -> tuple[int, str]:
    """The status of `python -m server doctor`, and its report without figures."""
    command = [str(python), "-m", "server", "doctor"]
    result = subprocess.run(
        command, cwd=ROOT, env=environment(folder), capture_output=True, text=True, timeout=300, check=False
    )
    assert result.stderr == ""
    return result.returncode, FIGURES.sub("0", result.stdout)


def test_doctor_reports_what_it_reports_in_a_clean_environment(crowded_python: Path, tmp_path: Path) -> None:
    report = doctor(crowded_python, tmp_path / "crowded")
    assert report == doctor(Path(sys.executable), tmp_path / "clean")
    assert not re.search(r"^! (workers|a small program|pictures|layer)", report[1], re.M), report[1]


def test_own_code_is_recorded_there_with_those_packages(crowded_python: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    variables = {**environment(tmp_path / "data"), "PYTHONPATH": str(ROOT)}
    command = [str(crowded_python), "-m", "gradbox", "open", "--trace", "run.json", "train.py"]
    result = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0 and result.stdout == "[2.0, 2.0] [1.]\n", result.stderr
    trace = json.loads((tmp_path / "run.json").read_bytes())
    assert trace["outcome"]["status"] == "finished" and len(trace["steps"]) >= 5
    faults = [entry for step in trace["steps"] for entry in step.get("log", ()) if entry.get("event") == "tracer_fault"]
    assert faults == []
