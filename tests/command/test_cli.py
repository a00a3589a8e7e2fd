"""`python -m server`: traces in order, one a line, and statuses that a script can trust."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forks.forked_server import run_command

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_workers_boot_for_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    words = [sys.executable, "-m", "server", "trace", str(tmp_path / "a.py")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr, json.loads(done.stdout)["outcome"]) == (0, "", {"status": "finished"})


@pytest.mark.slow
@pytest.mark.parametrize("command", ["gradbox explain", "gradbox summary", "server explain", "server trace"])
def test_a_reader_that_closes_the_pipe_is_no_error(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nw = torch.zeros(2, requires_grad=True)\nw.sum().backward()\n")
    words = shlex.join([sys.executable, "-m", *command.split(), str(tmp_path / "a.py")])
    done = subprocess.run(
        ["bash", "-c", f"{words} | true; echo ${{PIPESTATUS[0]}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_any_number_of_files_in_order(tmp_path: Path) -> None:
    files = []
    for k in range(12):
        files.append(tmp_path / f"{k}.py")
        files[-1].write_text(f"x = {k}\n")
    files[3].write_text("import socket\n")
    files[5].write_text("1 / 0\n")
    done = run_command("trace", *map(str, files))
    traces = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and done.stderr == ""
    assert traces[0]["runtime"]["limits"]["wall"] == 60.0
    statuses = [trace["outcome"]["status"] for trace in traces]
    assert statuses == ["finished"] * 3 + ["refused", "finished", "raised"] + ["finished"] * 6
    assert [trace["steps"][0]["set"]["f1"]["vars"] for trace in traces[6:]] == [{"x": k} for k in range(6, 12)]


def test_a_missing_file_is_named_and_the_others_are_traced(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    done = run_command("trace", str(tmp_path / "none.py"), str(tmp_path / "a.py"))
    assert done.returncode == 1
    missing, traced = (json.loads(line) for line in done.stdout.splitlines())
    assert "none.py" in done.stderr and missing["error"]["field"].endswith("none.py")
    assert (missing["error"]["code"], traced["outcome"]["status"]) == ("file_unreadable", "finished")


def test_explain_has_a_line_for_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    done = run_command("explain", "--json", str(tmp_path / "a.py"), str(tmp_path / "none.py"))
    explained, missing = (json.loads(line) for line in done.stdout.splitlines())
    assert (done.returncode, explained["findings"]) == (1, [])
    assert missing["error"]["message"] == "No such file or directory"


def test_a_program_is_read_from_standard_input_and_its_trace_printed_for_people() -> None:
    done = run_command(
        "trace",
        "--pretty",
        "-",
        text="import torch\na = torch.ones(2)\nb = a[:1]\nb += 1\nprint(a)\nraise KeyError('k')\n",
    )
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == ["# -", "line 6: KeyError: 'k'"], "how it ended comes first"
    assert (
        "   4 | b += 1  <- cause" in lines and "     |   a = [2, 1]" in lines and "     |   > tensor([2., 1.])" in lines
    )


def test_a_short_queue_does_not_limit_the_files_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADBOX_QUEUE", "1")
    monkeypatch.setenv("GRADBOX_WORKERS", "1")
    (tmp_path / "a.py").write_text("x = 1\n")
    done = run_command("trace", *[str(tmp_path / "a.py")] * 5)
    assert (done.returncode, len(done.stdout.splitlines()), done.stderr) == (0, 5, "")


def test_a_bad_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADBOX_WALL", "soon")
    done = run_command("schema")
    assert done.returncode == 2 and "GRADBOX_WALL" in done.stderr and "Traceback" not in done.stderr
