"""`gradbox.watch(every=…)` in loops and in callbacks: which times are recorded, where they go, that the program is as
before."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradbox.destinations import MAX_RECORDINGS, check_destination, send_run
from gradbox.region import watch
from gradbox.run import Run

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/recipes.md"
pytestmark = pytest.mark.slow

LOOP = """
import sys, torch, gradbox
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
watch = gradbox.watch("step", every=3, to="pictures")
def one(k):
    optimizer.zero_grad()
    loss = (w * k).sum()
    loss.backward()
    optimizer.step()
for k in range(7):
    with watch:
        one(k)
    print([line["line"] for line in watch.run.trace["steps"]] if k % 3 == 0 else w.tolist())
assert sys.gettrace() is None
"""

CALLBACKS = """
import sys, torch, gradbox
from loop import Loop
class Watch:
    def __init__(self):
        self.watch = gradbox.watch("round", every=2, to="pictures", quiet=True)
    def begin(self):
        self.watch.start()
    def end(self):
        self.watch.stop()
        if self.watch._run is not None:
            lines.append([step["line"] for step in self.watch.run.trace["steps"] if step["kind"] != "visit"])
lines = []
def loss_of(w, k):
    h = w * k
    return h.sum()
def main():
    w = torch.ones(2, requires_grad=True)
    Loop(loss_of, Watch()).run(w, 3)
    return w.tolist()
print(main(), lines)
assert sys.gettrace() is None
"""
INSTALLED_LOOP = """
import torch
class Loop:
    def __init__(self, loss_of, callback):
        self.loss_of, self.callback = loss_of, callback
    def run(self, w, rounds):
        optimizer = torch.optim.SGD([w], lr=0.1)
        for k in range(rounds):
            self.callback.begin()
            loss = self.loss_of(w, k)
            loss.backward()
            optimizer.step()
            self.callback.end()
"""


def run_program(folder: Path, source: str, python: str = sys.executable, **environment: str) -> tuple[str, str]:
    """What a program prints to stdout and to stderr."""
    (folder / "train.py").write_text(source)
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([python, "train.py"], cwd=folder, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_some_of_the_times_are_recorded(tmp_path: Path) -> None:
    out, said = run_program(tmp_path, LOOP)
    lines = out.splitlines()
    assert lines[1] == "[0.8999999761581421, 0.8999999761581421]" and lines[0].startswith("[12, 12, 13, 7, 8, ")
    assert [path.name for path in sorted((tmp_path / "pictures").iterdir())] == [
        "step-0.html",
        "step-3.html",
        "step-6.html",
    ]
    assert re.findall(r"gradbox: train.py: (step \d): .* Written to pictures/(step-\d)", said) == [
        ("step 0", "step-0"), ("step 3", "step-3"), ("step 6", "step-6"),
    ]  # fmt: skip


def test_a_callback_s_recording_has_what_runs_between_start_and_stop(tmp_path: Path) -> None:
    (tmp_path / "lib/site-packages").mkdir(parents=True)
    (tmp_path / "lib/site-packages/loop.py").write_text(INSTALLED_LOOP)
    environment = {"PYTHONPATH": f"{ROOT}:{tmp_path / 'lib/site-packages'}"}
    out, _ = run_program(tmp_path, CALLBACKS, **environment)
    values, lines = out[: out.index("]") + 1], json.loads(out[out.index("]") + 1 :])
    assert json.loads(values) == [pytest.approx(0.6), pytest.approx(0.6)]
    assert len(lines) == 3, "the second is asked for anew, and is the first"
    assert {15, 16, 19} <= set(lines[0]) and 15 in lines[2] and lines[0] == lines[1]
    assert [path.name for path in sorted((tmp_path / "pictures").iterdir())] == ["round-0.html", "round-2.html"]


class Writer:
    """As TensorBoard's, which is not installed everywhere."""

    def __init__(self, log_dir: Path) -> None:
        self.log_dir, self.texts = str(log_dir), list[tuple[str, str, int]]()

    def add_text(self, tag: str, text: str, step: int) -> None:
        self.texts.append((tag, text, step))


@pytest.fixture(scope="module")
def run() -> Run:
    import torch

    with watch("part", show=False) as region:
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
    return region.run


def tensorboard_writer(folder: Path) -> Any:
    """The real one where it is installed."""
    if importlib.util.find_spec("tensorboard") is None:
        return Writer(folder)
    return importlib.import_module("torch.utils.tensorboard").SummaryWriter(folder)


def test_tensorboard_gets_a_file_and_a_text(tmp_path: Path, run: Run) -> None:
    writer = tensorboard_writer(tmp_path / "runs")
    check_destination(writer)
    path = Path(send_run(run, writer, "my step", 100))
    assert path == tmp_path / "runs/gradbox/my-step-100.html" and path.read_text().startswith("<!doctype html>")
    if isinstance(writer, Writer):
        ((tag, text, step),) = writer.texts
        assert (tag, step) == ("gradbox/my step", 100) and "Nothing wrong found" in text and str(path) in text


def test_an_invalid_destination_for_recordings_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="to: a folder, TensorBoard's SummaryWriter or a run of wandb, not int"):
        watch("x", to=3)
    with pytest.raises(FileNotFoundError):
        watch("x", to=tmp_path / "no/such")
    with pytest.raises(ValueError, match="every: from 1, not 0"):
        watch("x", every=0)


def test_a_repeated_region_has_a_bounded_number_of_recordings() -> None:
    repeated = watch("x", every=2, show=False)
    due = [repeated._is_due() for _ in range(4 * MAX_RECORDINGS)]
    assert sum(due) == MAX_RECORDINGS and due[:4] == [True, False, True, False]


LIGHTNING = """
import sys, gradbox, lightning, torch
from torch.utils.data import DataLoader, TensorDataset
{callback}
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.losses = torch.nn.Linear(2, 1), []
    def training_step(self, batch, index):
        loss = (self.net(batch[0]) - batch[1]).pow(2).mean()
        self.losses.append(loss.item())
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
torch.manual_seed(0)
data = TensorDataset(torch.randn(24, 2), torch.ones(24, 1))
model = Model()
trainer = lightning.Trainer(
    max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, callbacks=[{watch}],
)
trainer.fit(model, DataLoader(data, batch_size=4))
print(model.losses)
"""
TRANSFORMERS = """
import sys, gradbox, torch, transformers
{callback}
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, i):
        ids = torch.arange(8) + i
        return {{"input_ids": ids, "labels": ids}}
torch.manual_seed(0)
settings = transformers.GPT2Config(vocab_size=32, n_positions=8, n_embd=8, n_layer=1, n_head=1)
model = transformers.GPT2LMHeadModel(settings)
arguments = transformers.TrainingArguments(
    "out", max_steps=4, per_device_train_batch_size=2, report_to=[], save_strategy="no", disable_tqdm=True, use_cpu=True,
    logging_steps=1,
)
trainer = transformers.Trainer(model, arguments, train_dataset=Data(), callbacks=[{watch}])
trainer.train()
print([row["loss"] for row in trainer.state.log_history if "loss" in row])
"""  # noqa: E501


@pytest.mark.parametrize(
    ("package", "program", "base"),
    [("lightning", LIGHTNING, "lightning.Callback"), ("transformers", TRANSFORMERS, "transformers.TrainerCallback")],
)
def test_the_callbacks_of_the_document_record_and_change_nothing(
    package: str, program: str, base: str, tmp_path: Path
) -> None:
    python = os.environ.get("GRADBOX_TRAINERS_PYTHON", sys.executable)
    if subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{package} is not installed; GRADBOX_TRAINERS_PYTHON names a Python that has it")
    (callback,) = re.findall(rf"^class Watch\({base}\):\n.*?(?=\n\n\n)", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    plain, _ = run_program(tmp_path, program.format(callback=callback, watch=""), python)
    watched = program.format(callback=callback, watch='Watch(every=2, to="pictures")')
    recorded, said = run_program(tmp_path, watched, python)
    assert recorded.splitlines()[-1] == plain.splitlines()[-1]
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert len(names) in (2, 3) and said.count("gradbox: train.py: ") == len(names)
