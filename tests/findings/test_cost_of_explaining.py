"""What the findings look at in a run that has nothing to explain, counted; `benchmarks/explain.py` has its milliseconds."""

import json
import subprocess

import pytest

from benchmarks.explain import GAN, RECURRENT, TRAINING
from tests.support.explaining import NODE, ROOT
from tests.support.tracing import trace

MAX_SHARE_OF_STEPS = 0.2


@pytest.mark.parametrize("source", [TRAINING, RECURRENT, GAN], ids=["training", "recurrent", "gan"])
def test_the_operations_of_few_steps_are_looked_at(source: str) -> None:
    command = [*NODE, str(ROOT / "tests/findings/operations_looked_at.mjs")]
    done = subprocess.run(
        command, input=json.dumps(trace(source)), capture_output=True, text=True, cwd=ROOT, check=True
    )
    counted = json.loads(done.stdout)
    assert counted["findings"] == 0 and counted["steps"] > 800
    assert 0 < counted["lookedAt"] < MAX_SHARE_OF_STEPS * counted["steps"], counted
