"""Programs in which nothing is wrong: no finding of theirs is an error or a warning."""

from pathlib import Path

import pytest

from tests.support.explaining import ExplainedProgram, record_programs
from tests.support.sampling import every, parameters_of_run, sampled

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
    "swapping_by_slices",
}
"""Of tests/examples/programs, those that finish and show what findings are about."""


@pytest.fixture(scope="module", autouse=True)
def _recorded(request: pytest.FixtureRequest) -> None:
    record_programs(parameters_of_run(request, "path"))


def has_errors_or_warnings(program: ExplainedProgram) -> bool:
    return any(finding["severity"] != "note" for finding in program.findings["en"])


def test_there_are_more_than_a_hundred_healthy_programs() -> None:
    assert len(HEALTHY) > 100 and len(QUIET) > 10 and len(ORDINARY) > 130


@pytest.mark.parametrize("path", sampled(HEALTHY, every(4)), ids=lambda path: path.stem)
def test_a_healthy_program_has_no_error_and_no_warning(path: Path) -> None:
    program = ExplainedProgram(path)
    assert program.has_finished and not has_errors_or_warnings(program), str(program)


@pytest.mark.parametrize("path", QUIET, ids=lambda path: path.stem)
def test_a_program_that_does_what_it_says_has_not_even_a_note(path: Path) -> None:
    program = ExplainedProgram(path)
    assert program.has_finished and not program.findings["en"], str(program)


@pytest.mark.parametrize("path", sampled(ORDINARY, every(8)), ids=lambda path: path.stem)
def test_an_ordinary_program_has_no_error_and_no_warning(path: Path) -> None:
    program = ExplainedProgram(path)
    if program.has_finished:
        assert has_errors_or_warnings(program) == (path.stem in WRONG), str(program)


def test_most_ordinary_programs_finish() -> None:
    programs = [ExplainedProgram(path) for path in ORDINARY[::8]]
    assert sum(program.has_finished for program in programs) > 17
