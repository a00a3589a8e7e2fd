"""`gradbox open` runs a script as `python` does: what it prints, how it ends, the files that it leaves; and its trace
is true."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from gradbox.command import main
from gradbox.run import Run
from gradbox.script.recorded_script import duplicate_stderr, find_script, source_encoding_error
from gradbox.sessions.stream_recording import recorded_stream
from gradbox.showing import LocalPageServer
from gradbox.terminal.progress import HOW_TO_STOP
from gradbox.wire.trace import Trace
from tests.forks.forked_script import facts_of_script
from tests.forks.plain_python import call_in_plain
from tests.referee.comparison import disagreements
from tests.support.own_programs import files_left, forked_gradbox, forked_python, gradbox_command, run_in_folder

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/examples/own_code"
ARGUMENTS = {
    "arguments": ["--lr", "0.5", "--out", "x.html", "more"], "wrong_arguments": ["--lr", "much"],
    "subcommands": ["train", "--lr", "0.2"],
}  # fmt: skip
ALSO_RUN = {"wrong_arguments": "arguments"}
"""Cases that run the program of another one."""

INPUT = {"standard_input": "Ada\n1\n2.5\n"}
ALSO = {"package": ["shop"], "generators": ["pipeline"], "uncaught": ["losses"], "exit_status": ["checks"]}
NOT_HELD = {"workers", "processes"}
"""Their final state has tensors of other processes, whose version counters are not those of one that made them."""

SAMPLE = {"package", "trainer_package", "uncaught"}
RUN_IN_FORKS = {"package", "trainer_package"}
pytestmark = pytest.mark.slow


def case(name: str) -> Any:
    return pytest.param(name, marks=() if name in SAMPLE else pytest.mark.exhaustive)


@pytest.mark.parametrize(
    "name", [case(name) for name in sorted([*(path.name for path in PROGRAMS.iterdir()), *ALSO_RUN])]
)
def test_a_script_runs_as_python_runs_it(name: str, tmp_path: Path) -> None:
    arguments, text = ARGUMENTS.get(name, []), INPUT.get(name, "")
    folders = {way: tmp_path / way / name for way in ("plain", "recorded")}
    for folder in folders.values():
        shutil.copytree(PROGRAMS / ALSO_RUN.get(name, name), folder)
    trace_file = tmp_path / "run.json"
    also = [option for pattern in ALSO.get(name, []) for option in ("--also", pattern)]
    command = ["open", "--trace", str(trace_file), *also, "train.py", *arguments]
    if name in RUN_IN_FORKS:
        plain, recorded = forked_python(folders["plain"], "train.py"), forked_gradbox(folders["recorded"], *command)
    else:
        plain = run_in_folder([sys.executable, "train.py", *arguments], folders["plain"], text)
        recorded = run_in_folder([*gradbox_command(), *command], folders["recorded"], text)
    *said, summary = [line for line in recorded.stderr.splitlines() if not line.endswith(HOW_TO_STOP)]
    assert recorded.stdout == plain.stdout
    assert "\n".join(said) == plain.stderr.rstrip("\n").replace(str(folders["plain"]), str(folders["recorded"]))
    assert recorded.returncode == plain.returncode
    assert files_left(folders["recorded"]) == files_left(folders["plain"])
    assert summary.startswith("gradbox: train.py: ")
    assert name != "uncaught" or summary.endswith(f"raised ValueError at train.py:8. Written to {trace_file}")
    trace = json.loads(trace_file.read_bytes())
    Trace.model_validate(trace)
    assert trace["runtime"]["recorded"] == "own process" and trace["runtime"].get("arguments", []) == arguments
    assert not [
        entry for step in trace["steps"] for entry in step.get("log", ()) if entry.get("event") == "tracer_fault"
    ]
    printed = [
        entry["text"] for step in trace["steps"] for entry in step.get("log", ())
        if entry["kind"] == "out" and entry["stream"] == "stdout"
    ]  # fmt: skip
    assert "".join(printed) == plain.stdout.replace("at exit\n", "")
    if also:
        files = trace["program"]["files"]
        stepped = {
            trace["program"]["statements"][step["stmt"]]["line"]
            for step in trace["steps"]
            if step.get("stmt") is not None
        }
        assert not any(
            "__loader__" in facts.get("vars", ()) for step in trace["steps"] for facts in step["set"].values()
        )
        assert all(any(file["first_line"] <= line <= file["last_line"] for line in stepped) for file in files)
    if name == "package":  # an instance of a class of a stepped module has its plain attributes too
        attributes = [facts.get("attrs") or {} for step in trace["steps"] for facts in step["set"].values()]
        assert any("widths" in found for found in attributes)
    if name not in NOT_HELD and not plain.returncode:
        assert disagreements(truth(folders["plain"], arguments, text, plain.stdout), trace) == []


def truth(folder: Path, arguments: list[str], text: str, printed: str) -> dict[str, Any]:
    """What plain Python says of the tensors at the end of a script that does not fail."""
    return {
        "printed": printed.replace("at exit\n", ""),
        "error": None,
        **call_in_plain(facts_of_script, str(folder), arguments, text),
    }


KILLED = """
import os, signal, torch
a = torch.ones(2)
b = a * 2
print("so far", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

FORKED = """
import os, torch
a = torch.ones(2)
child = os.fork()
if child:
    _, status = os.waitpid(child, 0)
    print("child ended with", status, flush=True)
    os._exit(0)
print("child", a * 2, flush=True)
"""


def test_a_fork_ends_as_it_would_and_os_exit_leaves_what_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FORKED)
    done = forked_gradbox(tmp_path, "open", "--trace", "run.json", "train.py")
    assert done.stdout == "child tensor([2., 2.])\nchild ended with 0\n"
    assert done.stderr == (
        "gradbox: train.py: 6 steps, it ended without Python's own end, as os._exit does. Written to run.json\n"
    )


def test_a_script_of_no_encoding_gives_the_error_of_python(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b's = "caf\xe9"\n')
    error = source_encoding_error(path.read_bytes(), str(path))
    assert error.filename == str(path) and error.__traceback__ is None and "utf-8" in str(error)


def test_a_module_that_can_not_be_run_is_named_as_python_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, message in (
        ("nowhere", "No module named nowhere"),
        ("shop", "'shop' is a package and cannot be directly"),
    ):
        with pytest.raises(ImportError, match=message):
            find_script(name, is_module=True)


ENDLESS = """
import torch
a = torch.ones(2)
print("ready", flush=True)
while True:
    a = a + 1
"""


def test_a_killed_script_leaves_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(KILLED)
    done = forked_gradbox(tmp_path, "open", "--trace", "run.json", "train.py")
    trace = json.loads((tmp_path / "run.json").read_text())
    assert done.returncode == 128 + signal.SIGKILL and done.stdout == "so far\n"
    assert (trace["outcome"]["status"], trace["outcome"]["signal"]) == ("crashed", signal.SIGKILL)
    lines = [trace["program"]["statements"][step["stmt"]]["line"] for step in trace["steps"]]
    assert lines == [2, 3, 4, 5]


def test_ctrl_c_ends_the_script_with_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ENDLESS)
    command = [*gradbox_command(), "open", "--trace", "run.json", "--steps", "100", "train.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
        assert process.wait() == 130 and "KeyboardInterrupt" in said
    trace = json.loads((tmp_path / "run.json").read_text())
    assert trace["outcome"]["status"] in ("raised", "stopped") and 3 <= len(trace["steps"]) <= 101


WATCHED = """
import torch, gradbox
w = torch.ones(2, requires_grad=True)
for _ in range(2):
    with gradbox.watch("doubled", out="doubled.html") as region:
        loss = (w * 2).sum()
with gradbox.explain():
    loss.backward()
print(w.grad)
region.run
"""


def test_a_region_of_a_script_that_is_recorded_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WATCHED)
    done = forked_gradbox(tmp_path, "open", "--trace", "run.json", "train.py")
    assert done.stdout == "tensor([2., 2.])\n" and not (tmp_path / "doubled.html").exists()
    assert done.stderr.count("train.py: doubled: is recorded with the whole program") == 1
    assert done.returncode == 1 and "has none of its own" in done.stderr, "there is no run to give"
    lines = [step["line"] for step in json.loads((tmp_path / "run.json").read_text())["steps"]]
    assert lines.count(6) == 2


COUNTING = """
import signal, time
import torch
interrupts = []
signal.signal(signal.SIGINT, lambda *_: interrupts.append(1))
print("ready", flush=True)
for _ in range(2):
    for _ in range(20):
        time.sleep(0.1)
    print(len(interrupts), flush=True)
"""


def test_an_interrupt_comes_to_the_script_once(tmp_path: Path) -> None:
    """As `kill -INT` sends it, to this process alone, and as a shell does, to all of its group."""
    (tmp_path / "train.py").write_text(COUNTING)
    command = [*gradbox_command(), "open", "--trace", "run.json", "train.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "1\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.read() == "2\n" and process.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["open", "none.py"], "none.py': [Errno 2] No such file or directory"),
        (["open", "--out", "nowhere/run.html", "train.py"], "there is no folder nowhere"),
        (["open", "--out", "run.pdf", "train.py"], "a name that ends with .html, .svg or .png is needed"),
        (["open", "--out", "folder.html", "train.py"], "folder.html: that is a folder"),
        (["export", "train.py", "--out", "x.html"], "train.py: this is no trace"),
    ],
)
def test_missing_files_and_modules_are_named(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("a = 1\n")
    (tmp_path / "folder.html").mkdir()
    assert main(arguments) in (1, 2)
    assert message in capsys.readouterr().err


def test_findings_and_files_of_a_recorded_run(tmp_path: Path, capsys: Any) -> None:
    golden = ROOT / "tests/golden/saved_then_written.json"
    run = Run(golden.read_bytes(), "saved then written")
    assert run.findings()[0].kind in run.explain()
    for name, start in (("run.html", b"<!doctype html>"), ("step.svg", b"<?xml"), ("step.png", b"\x89PNG")):
        assert main(["export", str(golden), "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(start)
    assert main(["open", "--out", str(tmp_path / "again.html"), str(golden)]) == 0
    assert (tmp_path / "again.html").stat().st_size > golden.stat().st_size
    assert main(["open", str(ROOT / "package.json")]) == 2 and "no trace" in capsys.readouterr().err
    assert main(["export", str(golden), "--out", str(tmp_path / "x.svg"), "--step", "1000"]) == 1
    assert "there is no such step" in capsys.readouterr().err


def test_the_picture_of_a_step_has_its_statement_and_the_graph(tmp_path: Path) -> None:
    """As a server's `/s/….svg?step=` has them, not as small as a card of the gallery."""
    golden = ROOT / "tests/golden/saved_then_written.json"
    run = Run(golden.read_bytes(), "saved then written")
    step = next(step for step in run.trace["steps"] if step["kind"] == "raise")
    picture = run.save(tmp_path / "step.svg", step=step["i"]).read_text("utf-8")
    line = run.trace["program"]["source"].splitlines()[step["line"] - 1].strip()
    for text in (
        line,
        f"Step {step['i'] + 1} of {len(run.trace['steps'])}",
        "Memory",
        "Graph",
        "kept version 0; now 1",
    ):
        assert text in picture


def test_what_is_printed_is_recorded_once_where_both_streams_are_one(
    capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script of `gradbox trace` prints to stderr, and a program may make one stream of both."""
    output: list[tuple[str, str]] = []

    def record_prints() -> None:
        with (
            recorded_stream("stdout", lambda *of: output.append(of)),
            recorded_stream("stderr", lambda *of: output.append(of)),
        ):
            print("out")
            print("err", file=sys.stderr)

    beside = duplicate_stderr()
    monkeypatch.setattr(sys, "stdout", beside)
    record_prints()
    assert output == [("stdout", "out"), ("stdout", "\n"), ("stderr", "err"), ("stderr", "\n")]
    output.clear()
    monkeypatch.setattr(sys, "stdout", sys.stderr)
    record_prints()
    assert output == [("stdout", "out"), ("stdout", "\n"), ("stdout", "err"), ("stdout", "\n")]
    assert capfd.readouterr() == ("", "out\nerr\n" * 2)
    beside.close()


def test_what_processes_and_compiled_code_print_is_not_in_the_trace(tmp_path: Path) -> None:
    """All that is written to the script's standard output goes to stderr, whoever writes it."""
    script = """import os, subprocess, sys
print("by the script")
os.write(1, b"by the system\\n")
subprocess.run([sys.executable, "-c", "print('by a process')"])
"""
    (tmp_path / "prints.py").write_text(script)
    done = forked_gradbox(tmp_path, "trace", "--quiet", "prints.py")
    assert Trace.model_validate_json(done.stdout).outcome.status == "finished"
    assert [line for line in done.stderr.splitlines() if line.startswith("by ")] == [
        "by the script", "by the system", "by a process",
    ]  # fmt: skip


def test_lines_of_several_files_are_named_by_file_and_line() -> None:
    trace = json.loads((ROOT / "tests/golden/saved_then_written.json").read_bytes())
    lines = trace["program"]["source"].split("\n")
    trace["program"]["files"] = [
        {"name": "model.py", "first_line": 1, "last_line": 2},
        {"name": "train.py", "first_line": 3, "last_line": len(lines)},
    ]
    text = Run(json.dumps(trace).encode(), "train.py").pretty()
    assert text.startswith("# train.py\ntrain.py:4: RuntimeError") and "Line 3 of train.py overwrote" in text
    assert "model.py:1 | import torch" in text and f"train.py:3 | {lines[4]}" in text
    assert not re.search(r"^ +\d+ \|", text, re.MULTILINE), "no line goes by its number among all"


def test_the_viewer_answers_for_its_own_address_alone() -> None:
    viewer = LocalPageServer({"": "<p>page</p>", "2/": "<p>second</p>"})
    threading.Thread(target=viewer.serve, daemon=True).start()
    try:
        with urllib.request.urlopen(viewer.address) as response:
            assert response.read() == b"<p>page</p>"
        with urllib.request.urlopen(viewer.address + "2/") as response:
            assert response.read() == b"<p>second</p>"
        with pytest.raises(urllib.error.HTTPError) as missing:
            urllib.request.urlopen(viewer.address[:-2] + "/")
        assert missing.value.code == 404
        missing.value.close()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(viewer.address, data=b"x"))
        assert refused.value.code == 501
        refused.value.close()
    finally:
        viewer.close()
