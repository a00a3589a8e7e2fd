"""Programs that use what asks the dispatcher or a tracer: jit, fx, export, transforms, modes, custom operators.

They print and end in a worker as in plain CPython, and the picture at their end is what torch says.
"""

import pytest

from tests.agreement.test_agreement import ADDRESS
from tests.forks.plain_python import run_plain
from tests.referee.agreement import Case, verdict
from tests.referee.plain_run import plain_run
from tests.support.full_observation import unobserved
from tests.support.sampling import every, sampled
from tests.support.tracing import ROOT, events, printed
from tests.support.workers import Workers

pytestmark = pytest.mark.slow

SOURCES = {path.stem: path.read_text() for path in sorted((ROOT / "tests/examples/dispatcher").glob("*.py"))}


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_prints_and_ends_as_in_plain_python(workers: Workers, name: str) -> None:
    truth, trace = plain_run(SOURCES[name]), workers.trace(SOURCES[name])
    plain = run_plain(SOURCES[name]) if "fault" in truth else truth  # torch can't be asked about some
    assert ADDRESS.sub("~", printed(trace, "stdout")) == ADDRESS.sub("~", plain["printed"])
    assert (trace["outcome"]["status"], plain["error"]) == ("finished", None)
    assert events(trace, "tracer_fault") == []


@pytest.mark.parametrize("name", SOURCES)
def test_the_referee_agrees_with_the_picture_at_the_end(workers: Workers, name: str) -> None:
    result = verdict(Case(name, SOURCES[name], SOURCES[name]), workers.trace(SOURCES[name]))
    assert result.kind in ("agrees", "left out"), result.sentences


@pytest.mark.parametrize("name", sampled([*SOURCES], every(6)))
def test_a_step_misses_nothing(name: str) -> None:
    assert unobserved(SOURCES[name]) == []
