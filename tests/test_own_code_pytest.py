"""The plugin of pytest: a failing test is explained with `--gradbox`, and nothing happens without."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = """
import sys
import pytest
import torch

@pytest.fixture
def weight():
    return torch.ones(3, requires_grad=True)

def loss_of(weight):
    y = weight.exp()
    y += 1
    return y.sum()

def test_fails(weight):
    loss = loss_of(weight)
    loss.backward()

def test_holds(weight):
    (weight * 2).sum().backward()
    assert weight.grad.tolist() == [2, 2, 2]
    assert sys.gettrace() is not None or "gradbox.recorder" not in sys.modules

def test_watches(weight):
    import gradbox
    with gradbox.watch("doubled"):
        assert (weight * 2).sum() == 6
"""

pytestmark = pytest.mark.slow


def run_pytest(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:schemathesis", *options, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_a_failing_test_is_explained(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    plain, recorded = run_pytest(tmp_path), run_pytest(tmp_path, "--gradbox")
    for output in (plain, recorded):
        assert "1 failed, 2 passed" in output and "modified by an inplace operation" in output
    assert "gradbox call" in recorded and "error[saved_overwritten]" in recorded
    assert "y += 1" in recorded.partition("gradbox call")[2]
    assert "gradbox call" not in plain
