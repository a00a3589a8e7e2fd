"""What is recorded of a model with hundreds of millions of elements needs a bounded memory beside it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOUND = 192 << 20
"""Bytes that docs/own-code.md states."""

pytestmark = pytest.mark.slow


def test_a_large_model_needs_little_more_than_it_does_plain() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tests/sessions/large_model_script.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    result = json.loads(done.stdout)
    model = result["plain"] - result["before"]
    assert model > 700 << 20, "the parameter and its gradient are held"
    assert result["watched"] - result["plain"] < BOUND
    status, steps, size, summaries = result["facts"]
    assert status == "finished" and steps > 8 and size < 1 << 20 and summaries >= 2
