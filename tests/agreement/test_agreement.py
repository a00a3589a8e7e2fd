"""Tracing changes nothing: every program prints and ends as plain CPython says, and the picture is what torch says.

The referee (tests/referee) judges programs, pasted texts and, where they lie beside the project, the articles'
snippets.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.referee.agreement import Case, Verdict, pastes, seeds, verdict
from tests.referee.drawn_state import printed
from tests.referee.plain_run import plain_run
from tests.referee.steps_truth import statements
from tests.support.sampling import every, sampled
from tests.support.tracing import ROOT, events
from tests.support.workers import Workers

pytestmark = pytest.mark.slow

PROGRAMS = [
    path
    for folder in ("tests/examples/programs", "scenarios", "tests/golden")
    for path in sorted((ROOT / folder).glob("*.py"))
]
PASTES = pastes(ROOT / "tests/examples/pastes")
SEEDS = ROOT.parent / "shared/seeds"
ADDRESS = re.compile(r"0x[0-9a-f]+|\b\d{11,}\b")


def snippets() -> list[Any]:
    if not SEEDS.is_dir():
        skip = pytest.mark.skip(reason="../shared/seeds is missing: the articles' 49 snippets were not judged")
        return [pytest.param(None, id="seeds", marks=skip)]
    return [pytest.param(case, id=case.name) for case in seeds(SEEDS)]


def runs_as_plain_python(program: str, trace: dict[str, Any]) -> None:
    """It prints the same and ends alike, at the same line; the recorder reports no fault of its own."""
    truth = plain_run(program)
    assert ADDRESS.sub("~", printed(trace)) == ADDRESS.sub("~", truth["printed"])
    error = trace["outcome"].get("error")
    ended = [error["type"], error["message"], error["line"]] if error else None
    assert ADDRESS.sub("~", str(ended)) == ADDRESS.sub("~", str(truth["error"] and truth["error"][:3]))
    assert events(trace, "tracer_fault") == []


def is_true(program: str, trace: dict[str, Any]) -> None:
    """It runs as in plain Python, and the referee agrees with the picture at its end."""
    runs_as_plain_python(program, trace)
    assert verdict(Case("program", program, program), trace) == Verdict("agrees")


@pytest.mark.parametrize(
    "path", [path for path in PROGRAMS if path.parent.name != "scenarios"], ids=lambda path: path.stem
)
def test_a_program_runs_as_in_plain_python_and_its_picture_is_true(workers: Workers, path: Path) -> None:
    """For scenarios see `tests/gallery/test_scenario_files.py`, where the same run is held against their cards."""
    is_true(path.read_text(), workers.trace(path.read_text()))


@pytest.mark.parametrize("path", sampled(PROGRAMS, every(8)), ids=lambda path: path.stem)
def test_the_state_after_every_statement_is_true(workers: Workers, path: Path) -> None:
    source = path.read_text()
    false = {state.line: state.sentences for state in statements(source, workers.trace(source)) if state.sentences}
    assert false == {}


def test_the_referee_can_ask_about_most_statements(workers: Workers) -> None:
    source = (ROOT / "tests/golden/a_module_learns.py").read_text()
    assert len(list(statements(source, workers.trace(source)))) >= 8


@pytest.mark.parametrize("case", PASTES, ids=lambda case: case.name)
def test_the_referee_agrees_on_every_pasted_text(workers: Workers, case: Case) -> None:
    assert verdict(case, workers.trace(case.pasted)) == Verdict("agrees")


def test_there_are_thirty_pasted_texts() -> None:
    assert len(PASTES) >= 30


@pytest.mark.parametrize("case", snippets())
def test_the_referee_agrees_on_every_seed_snippet_as_printed(workers: Workers, case: Case) -> None:
    assert verdict(case, workers.trace(case.pasted)) == Verdict("agrees")


def test_there_are_49_seed_snippets() -> None:
    if not SEEDS.is_dir():
        pytest.skip("../shared/seeds is missing: the articles' 49 snippets were not counted")
    assert len(seeds(SEEDS)) == 49
