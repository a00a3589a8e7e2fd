"""Programs in which nothing is wrong: no finding of theirs is an error or a warning."""

from pathlib import Path

import pytest

from tests.support.explaining import findings_of_traces
from tests.support.sampling import every, sampled
from tests.support.tracing import trace

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "tests/examples"
HEALTHY = sorted((EXAMPLES / "healthy").glob("*.py"))
QUIET = sorted((EXAMPLES / "quiet").glob("*.py"))
ORDINARY = sorted((EXAMPLES / "programs").glob("*.py"))
WRONG = {
    "a_warning_twice",
    "anomaly_finds_nan",
    "data_rebound_after_saving",
    "descent_by_rebinding",
    "function_returns_none_gradient",
    "grad_lost_on_many_ways",
    "grad_of_a_result_warns",
    "numpy_write_after_save",
}
"""Of tests/examples/programs, those that finish and show what findings are about."""


def loud(paths: list[Path], notes: bool = False) -> dict[str, list[str]]:
    """By program, the errors and warnings among its findings, and its notes as well; programs that raise are left out."""
    traces = {path.stem: trace(path.read_text()) for path in paths}
    finished = {name: recorded for name, recorded in traces.items() if recorded["outcome"]["status"] == "finished"}
    found = findings_of_traces(list(finished.values()))
    return {
        name: [
            f"{finding['kind']} at {finding['line']}" for finding in findings if notes or finding["severity"] != "note"
        ]
        for name, findings in zip(finished, found, strict=True)
    }


def test_there_are_more_than_a_hundred_healthy_programs() -> None:
    assert len(HEALTHY) > 100


@pytest.mark.parametrize("programs", sampled([HEALTHY[k::4] for k in range(4)], every(4)), ids=range(4))
def test_healthy_programs_have_no_error_and_no_warning(programs: list[Path]) -> None:
    findings = loud(programs)
    assert len(findings) == len(programs), "every one of them finishes"
    assert {name: found for name, found in findings.items() if found} == {}


@pytest.mark.parametrize("programs", [QUIET[k::2] for k in range(2)], ids=range(2))
def test_of_programs_that_do_what_they_say_not_even_a_note_is_made(programs: list[Path]) -> None:
    findings = loud(programs, notes=True)
    assert len(findings) == len(programs) > 5, "every one of them finishes"
    assert {name: found for name, found in findings.items() if found} == {}


@pytest.mark.parametrize("programs", sampled([ORDINARY[k::8] for k in range(8)], every(8)), ids=range(8))
def test_ordinary_programs_have_none_either(programs: list[Path]) -> None:
    findings = loud(programs)
    assert len(findings) > 17
    assert {name for name, found in findings.items() if found} == WRONG & {path.stem for path in programs}
