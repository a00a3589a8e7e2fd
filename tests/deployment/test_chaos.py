"""A short `make chaos`: what breaks around a server affects only the clients it happens to."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from benchmarks.measured_server import MeasuredServer
from tests.chaos import crowds, hostile, kills, termination
from tests.chaos.server_state import log_errors
from tests.chaos.settings import FREE, shorten_absence
from tests.forks.forked_server import ForkedMeasuredServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[MeasuredServer]:
    """One whose listeners may be away for a second, not fifteen, where few may wait, and whose workers need not
    boot."""
    with ForkedMeasuredServer((shorten_absence,), **FREE, queue=12) as server:
        yield server


CHECKS = (
    partial(crowds.many_runs, count=24),
    partial(crowds.flood, posts=60, at_once=60),
    crowds.vanished_clients,
    crowds.drop_event_stream,
    partial(crowds.slow_readers, never=1),
    partial(hostile.hostile_programs, copies=1, honest=4),
    kills.kill_child,
    kills.stop_zygote,
    kills.kill_zygote,
    kills.kill_server,
    termination.terminate_server,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: getattr(check, "func", check).__name__)
def test_the_server_recovers_from_each_failure(check: Callable[[MeasuredServer], str], server: MeasuredServer) -> None:
    before = log_errors(server.log())
    try:
        check(server)
        assert log_errors(server.log()) == before
    except BaseException:  # the next one is to find a server
        server.stop()
        server.start()
        server.wait_until_idle()
        raise
