"""What the findings look at in a run that has nothing to explain, counted; `benchmarks/explain.py` has its
milliseconds."""

import pytest

from benchmarks.explain import GAN, RECURRENT, TRAINING
from tests.recordings.store import kept_document
from tests.support.explaining import call_page

MAX_SHARE_OF_STEPS = 0.2


@pytest.mark.parametrize("source", [TRAINING, RECURRENT, GAN], ids=["training", "recurrent", "gan"])
def test_the_operations_of_few_steps_are_looked_at(source: str) -> None:
    counted = call_page("findings/operations_looked_at", kept_document(source))
    assert counted["findings"] == 0 and counted["steps"] > 800
    assert 0 < counted["lookedAt"] < MAX_SHARE_OF_STEPS * counted["steps"], counted
