"""A short `make chaos`: what breaks around a server costs nobody but those whom it happened to."""

from collections.abc import Callable, Iterator

import pytest

from benchmarks.load import Site
from tests import chaos


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """One whose listeners may be away for a second, not fifteen."""
    with Site(before="import server.pool.runs as runs; runs.GRACE = 1.0", **chaos.FREE) as site:
        yield site


CHECKS = (
    chaos.many_runs,
    chaos.flood,
    chaos.vanished_clients,
    chaos.gone_listener,
    chaos.slow_readers,
    chaos.hostile_programs,
    chaos.killed_child,
    chaos.stopped_zygote,
    chaos.killed_zygote,
    chaos.killed_server,
    chaos.ended_server,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_next_one_notices_nothing(check: Callable[[Site], str], site: Site) -> None:
    before = chaos.complaints(site.log())
    try:
        check(site)
        assert chaos.complaints(site.log()) == before
    except BaseException:  # the next one is to find a server
        site.stop()
        site.start()
        site.settle()
        raise
