"""Modules of the person's own project are stepped without being named: in a script, a part of one, a region, a test, a
cell."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradbox.sessions.own_modules import MAX_FILES, OwnModules, project_folder
from gradbox.sessions.unstepped_calls import MAX_CALLS
from gradbox.wire.trace import Trace
from tests.forks.forked_command import run_gradbox
from tests.forks.plain_python import call_beside_gradbox
from tests.support.explaining import findings_of_traces

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow

MODEL = """\
import torch
from torch import nn

SCALES = [torch.full((1,), k / 2) for k in (1, 2)]

class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, size)

    def forward(self, x):
        h = torch.softmax(self.layer(x), 1)
        h *= 0.5
        return h

class Net(nn.Module):
    def __init__(self, size, blocks):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(size) for _ in range(blocks)])

    def forward(self, x):
        return self.blocks(x)
"""
TRAINER = """\
import torch
class Trainer:
    def __init__(self, model, samples, rounds=3):
        self.model, self.samples, self.rounds = model, samples, rounds
        self.callbacks = []
    def run(self):
        opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for k in range(self.rounds):
            x = torch.stack([self.samples[i] for i in range(40)])
            loss = self.model(x).pow(2).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            for callback in self.callbacks:
                callback(k, loss.item())
"""
SAMPLES = """\
import torch
class Samples:
    def __getitem__(self, i):
        x = torch.full((4,), 1 / (i + 1))
        x = x + 1
        return x
"""
TOOLS = "def show(k, loss):\n    text = f'{k} {loss:.4f}'\n    print(text)\n"
TRAIN = """\
import torch
from pkg.model import Net
from pkg.trainer import Trainer
from pkg.samples import Samples
from tools import show
torch.manual_seed(0)
trainer = Trainer(Net(4, 3), Samples())
trainer.callbacks.append(show)
trainer.run()
"""


def write_project(folder: Path, script: str = TRAIN, model: str = MODEL) -> None:
    (folder / "pkg").mkdir()
    for name, text in (("__init__", ""), ("model", model), ("trainer", TRAINER), ("samples", SAMPLES)):
        (folder / f"pkg/{name}.py").write_text(text)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "train.py").write_text(script)


def recorded(folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    """The trace of the script, and what it and the command printed to stderr."""
    _, out, said = call_beside_gradbox(run_gradbox, str(folder), ["trace", *options, "train.py"])
    trace = json.loads(out)
    Trace.model_validate(trace)
    assert not [e for step in trace["steps"] for e in step["log"] if e.get("event") == "tracer_fault"]
    return trace, said


def stepped_lines(trace: dict[str, Any]) -> dict[str, list[int]]:
    """The lines of the steps, by file."""
    lines: dict[str, list[int]] = {}
    for file in trace["program"].get("files", [{"name": "", "first_line": 1, "last_line": 10**6}]):
        lines[file["name"]] = [
            step["line"] - file["first_line"] + 1
            for step in trace["steps"]
            if file["first_line"] <= step["line"] <= file["last_line"]
        ]
    return lines


HEALTHY = MODEL.replace("h *= 0.5", "h = h * 0.5")


def test_functions_of_the_project_step_and_the_top_of_its_modules_does_not(tmp_path: Path) -> None:
    write_project(tmp_path, model=HEALTHY)
    trace, said = recorded(tmp_path)
    lines = stepped_lines(trace)
    assert list(lines) == ["train.py", "pkg/model.py", "pkg/trainer.py", "pkg/samples.py"], "`tools` has no tensors"
    assert {8, 13, 14, 22} <= set(lines["pkg/model.py"]) and 4 not in lines["pkg/model.py"]
    assert lines["pkg/trainer.py"].count(13) == 3
    assert len([line for line in said.splitlines() if line.startswith(("0 ", "1 ", "2 "))]) == 3
    assert trace["outcome"]["status"] == "finished"


def test_a_function_that_one_statement_calls_very_often_steps_some_times(tmp_path: Path) -> None:
    write_project(tmp_path, model=HEALTHY)
    trace, _ = recorded(tmp_path)
    assert stepped_lines(trace)["pkg/samples.py"].count(5) == 3 * MAX_CALLS, "each time that the statement runs"


def test_a_write_in_a_module_of_the_project_is_found_at_its_line(tmp_path: Path) -> None:
    write_project(tmp_path)
    trace, _ = recorded(tmp_path)
    (finding,) = findings_of_traces([trace])[0][:1]
    file = next(file for file in trace["program"]["files"] if file["name"] == "pkg/model.py")
    assert (finding["kind"], finding["line"] - file["first_line"] + 1) == ("saved_overwritten", 13)


@pytest.mark.parametrize("blocks", [MAX_CALLS + 4])
def test_a_write_in_a_call_that_passed_is_told_with_its_place(tmp_path: Path, blocks: int) -> None:
    write_project(tmp_path, TRAIN.replace("Net(4, 3)", f"Net(4, {blocks})"))
    trace, _ = recorded(tmp_path)
    finding = findings_of_traces([trace])[0][0]
    assert (finding["kind"], finding["variant"], finding["also"]) == ("saved_overwritten", "elsewhere", "pkg.model")
    assert "`model.py:13`" in finding["what"]


def test_only_the_script_steps_where_that_is_asked_for(tmp_path: Path) -> None:
    write_project(tmp_path)
    trace, _ = recorded(tmp_path, "--script-only")
    assert "files" not in trace["program"]
    finding = findings_of_traces([trace])[0][0]
    assert (finding["variant"], finding["also"]) == ("elsewhere", "pkg.model")


def test_the_command_says_how_to_run_again_with_the_module(tmp_path: Path) -> None:
    write_project(tmp_path)
    arguments = ["explain", "--script-only", "train.py", "--lr", "a b"]
    _, out, _ = call_beside_gradbox(run_gradbox, str(tmp_path), arguments)
    assert "again  gradbox explain --also pkg.model --script-only train.py --lr 'a b'" in out


def test_a_part_of_a_script_has_the_lines_of_the_project(tmp_path: Path) -> None:
    script = TRAIN.replace("trainer.run()", "for epoch in range(3):\n    trainer.run()\n")
    write_project(tmp_path, script, HEALTHY)
    trace, _ = recorded(tmp_path, "--lines", "9:10", "--iterations", "1")
    lines = stepped_lines(trace)
    assert {8, 10, 12, 13} <= set(lines["pkg/trainer.py"]) and 13 in lines["pkg/model.py"]
    assert lines["pkg/samples.py"].count(5) == 3 * MAX_CALLS


REGION = TRAIN.replace(
    "trainer.run()", "import gradbox\nwith gradbox.watch('run', out='run.json'{more}):\n    trainer.run()\n"
)


@pytest.mark.parametrize(("more", "names"), [("", 4), (", this_file_only=True", 1)])
def test_a_region_has_the_lines_of_the_project(tmp_path: Path, more: str, names: int) -> None:
    write_project(tmp_path, REGION.replace("{more}", more), HEALTHY)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert len(stepped_lines(json.loads((tmp_path / "run.json").read_text()))) == names


def test_a_project_is_what_a_mark_says_and_else_the_folder_of_the_script(tmp_path: Path) -> None:
    (tmp_path / "project/scripts").mkdir(parents=True)
    script = tmp_path / "project/scripts/train.py"
    script.touch()
    assert project_folder(str(script)) == script.parent
    (tmp_path / "project/pyproject.toml").touch()
    assert project_folder(str(script)) == tmp_path / "project"


def test_files_that_would_be_too_many_are_left_out_and_named(tmp_path: Path) -> None:
    own = OwnModules(tmp_path)
    for k in range(MAX_FILES + 2):
        (tmp_path / f"m{k}.py").write_text("import torch\n")
    found = [own.source_if_stepped(str(tmp_path / f"m{k}.py")) for k in range(MAX_FILES + 2)]
    assert [source is None for source in found] == [False] * MAX_FILES + [True] * 2
    assert own.left_out == [f"m{MAX_FILES}.py", f"m{MAX_FILES + 1}.py"]


def test_installed_files_and_environments_are_nobody_s_project(tmp_path: Path) -> None:
    for folder in ("venv/lib/python3.11/site-packages", "env/lib"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "m.py").write_text("import torch\n")
    (tmp_path / "env/pyvenv.cfg").touch()
    own = OwnModules(tmp_path)
    assert own.source_if_stepped(str(tmp_path / "venv/lib/python3.11/site-packages/m.py")) is None
    assert own.source_if_stepped(str(tmp_path / "env/lib/m.py")) is None and own.left_out == []
