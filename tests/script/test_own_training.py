"""Twenty ways of training, as people have them: recorded, each prints, ends and leaves what it does without, and a
mistake that is put into it is found at its line in its file.

A program of `own_training` has a line with `# mistake KIND: CODE`: with that code in its place the program has the
finding at that line, or where the mark has `at +1` at the one after it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.explaining import findings_of_traces
from tests.support.own_programs import ROOT, files_left, forked_gradbox, forked_python, gradbox_command, run_in_folder

pytestmark = pytest.mark.slow
PROGRAMS = ROOT / "tests/examples/own_training"
PACKAGES = {"lightning_module": "lightning", "hf_trainer": "transformers", "accelerated": "accelerate"}
"""What a program needs beside torch, which is not installed everywhere."""

COMMANDS = {
    "configured": ["train.py", "config/small.py", "--rounds=4"],
    "subcommands": ["train.py", "fit", "--lr", "0.2"],
    "relative_imports": ["-m", "pkg.train", "3"],
    "two_ranks": ["--rank", "1", "--", "torchrun", "--standalone", "--nproc-per-node", "2", "train.py"],
}
"""What follows the options of the command; `train.py` alone for the others."""

STATUS = {"excepthook": 1, "relative_imports": 4, "signals": 3}

SAMPLE = {"relative_imports"}
SAMPLE_OF_MISTAKES = {"package_trainer", "reinforce", "closure", "gan", "excepthook", "signals"}
"""The programs of each pytest; the others take an exhaustive one."""


class Mistake(NamedTuple):
    """What is wrong in a program.

    file: from its folder
    """

    kind: str
    file: str
    line: int


def cases(sample: set[str]) -> list[Any]:
    names = sorted(path.name for path in PROGRAMS.iterdir())
    assert len(names) == 20
    return [pytest.param(name, marks=() if name in sample else pytest.mark.exhaustive) for name in names]


def python_for(name: str) -> str:
    """The Python that has what a program needs; skips the test where none has."""
    package = PACKAGES.get(name)
    if package is None:
        return sys.executable
    python = os.environ.get("GRADBOX_TRAINERS_PYTHON", sys.executable)
    if subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{package} is not installed; GRADBOX_TRAINERS_PYTHON names a Python that has it")
    return python


def plain_command(python: str, arguments: list[str]) -> list[str]:
    """The command without Gradbox."""
    if "torchrun" in arguments:
        return [python, "-m", "torch.distributed.run", *arguments[arguments.index("torchrun") + 1 :]]
    return [python, *arguments]


def make_mistake(folder: Path) -> Mistake:
    """Put the mistake into a copy of a program."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        lines = path.read_text().split("\n")
        for k, line in enumerate(lines):
            marked = re.match(r"(\s*).*# mistake (\w+)(?: at \+(\d))?: (.*)$", line)
            if marked:
                lines[k] = marked[1] + marked[4]
                found.append(Mistake(marked[2], path.relative_to(folder).as_posix(), k + 1 + int(marked[3] or 0)))
        path.write_text("\n".join(lines))
    (mistake,) = found
    return mistake


def lines_of_finding(trace: dict[str, Any], finding: dict[str, Any]) -> set[tuple[str, int]]:
    """The lines that a finding names: of its cause, of its chain, and of code without steps."""
    files = trace["program"].get("files", [{"name": "train.py", "first_line": 1, "last_line": 10**6}])
    stepped = {
        (file["name"], line - file["first_line"] + 1)
        for line in (finding["line"], *finding["lines"])
        for file in files
        if file["first_line"] <= line <= file["last_line"]
    }
    named = re.findall(r"`([\w./]+\.py):(\d+)`", finding["what"])
    return stepped | {(file, int(line)) for file, line in named}


@pytest.mark.parametrize("name", cases(SAMPLE))
def test_a_recorded_training_is_as_it_is_without(name: str, tmp_path: Path) -> None:
    python, arguments = python_for(name), COMMANDS.get(name, ["train.py"])
    folders = {way: tmp_path / way for way in ("plain", "recorded")}
    for folder in folders.values():
        shutil.copytree(PROGRAMS / name, folder)
    trace = str(tmp_path / "run.json")
    command = ["open", "--quiet", "--trace", trace, *arguments]
    if name in SAMPLE:
        plain, recorded = forked_python(folders["plain"], *arguments), forked_gradbox(folders["recorded"], *command)
    else:
        plain = run_in_folder(plain_command(python, arguments), folders["plain"])
        recorded = run_in_folder([*gradbox_command(python), *command], folders["recorded"])
    assert recorded.stdout == plain.stdout
    assert recorded.returncode == plain.returncode == STATUS.get(name, 0), plain.stderr
    said = [line for line in recorded.stderr.splitlines() if not line.startswith("gradbox: ")]
    if name != "two_ranks":  # torchrun has lines with the time
        assert said == plain.stderr.replace(str(folders["plain"]), str(folders["recorded"])).splitlines()
    assert files_left(folders["recorded"]) == files_left(folders["plain"])
    steps = json.loads(Path(trace).read_text())["steps"]
    assert not [e for step in steps for e in step.get("log", ()) if e.get("event") == "tracer_fault"]


@pytest.mark.parametrize("name", cases(SAMPLE_OF_MISTAKES))
def test_a_mistake_in_a_training_is_found_at_its_line(name: str, tmp_path: Path) -> None:
    python, arguments = python_for(name), COMMANDS.get(name, ["train.py"])
    folder = tmp_path / name
    shutil.copytree(PROGRAMS / name, folder)
    mistake = make_mistake(folder)
    if name in SAMPLE_OF_MISTAKES:
        done = forked_gradbox(folder, "trace", "--quiet", *arguments)
    else:
        done = run_in_folder([*gradbox_command(python), "trace", "--quiet", *arguments], folder)
    trace = json.loads(done.stdout)
    found = findings_of_traces([trace])[0]
    places = {(finding["kind"], *place) for finding in found[:3] for place in lines_of_finding(trace, finding)}
    names = {mistake.file, Path(mistake.file).name}
    assert places & {(mistake.kind, name, mistake.line) for name in names}, places
