"""A short `make assault`: after an assault the server is as before, and during one it still stops when asked to."""

import pytest

from tests.assault import connections, processor
from tests.assault.measurement import Measured, Play, measure
from tests.forks.forked_server import ForkedMeasuredServer

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "play", [processor.tiny_chunks, connections.unread_traces], ids=lambda play: str(play.__name__)
)
def test_an_assault_leaves_nothing_behind(play: Play) -> None:
    """How long the visitor waits is for `make assault` to say, on a machine that does nothing else."""
    measured: Measured = measure(play, 2, {}, launch=ForkedMeasuredServer)
    assert measured.afterwards == "" and not measured.errors
    assert measured.stop is not None and sum(measured.counts.values()) > 1, measured.counts
    assert measured.waits["pages"]["count"] > 1
