"""A short `make chaos`: what breaks around a server costs nobody but those whom it happened to."""

from collections.abc import Callable, Iterator

import pytest

from benchmarks.measured_server import MeasuredServer
from tests import chaos

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[MeasuredServer]:
    """One whose listeners may be away for a second, not fifteen."""
    with MeasuredServer(
        before="import server.pool.executions as executions; executions.GRACE = 1.0", **chaos.FREE
    ) as server:
        yield server


CHECKS = (
    chaos.many_runs,
    chaos.flood,
    chaos.vanished_clients,
    chaos.drop_event_stream,
    chaos.slow_readers,
    chaos.hostile_programs,
    chaos.kill_child,
    chaos.stop_zygote,
    chaos.kill_zygote,
    chaos.kill_server,
    chaos.terminate_server,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_next_one_notices_nothing(check: Callable[[MeasuredServer], str], server: MeasuredServer) -> None:
    before = chaos.log_errors(server.log())
    try:
        check(server)
        assert chaos.log_errors(server.log()) == before
    except BaseException:  # the next one is to find a server
        server.stop()
        server.start()
        server.wait_until_idle()
        raise
