"""Whole programs, as tutorials, books and courses have them, run as in plain CPython. `make corpus` runs all of
them."""

from pathlib import Path

import pytest

from gradbox.language.paste import normalise_pasted_text
from gradbox.language.policy import parse_and_check_program
from gradbox.language.repairs import refusals_with_repairs
from tests.referee.agreement import Case, Verdict, verdict
from tests.support.tracing import ROOT
from tests.support.workers import Workers

PROGRAMS = sorted((ROOT / "tests/examples/corpus").glob("*.py"))
COMPARED = [
    path for path in PROGRAMS if "torch.compile(" not in path.read_text() and "@torch.compile" not in path.read_text()
]
"""Where plain Python compiles, its graph has other nodes; here the plain function runs, and an event says so."""
SAMPLE = COMPARED[::24]

EXPLAINED = {"network", "processes", "interpreter", "text"}
"""Reasons of a refusal that no repair can settle."""


@pytest.mark.slow
@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_a_tutorial_runs_as_plain_python_runs_it(workers: Workers, path: Path) -> None:
    source = path.read_text()
    trace = workers.trace(source)
    if trace["outcome"]["status"] == "refused":
        pytest.skip("refused: the test below says whether there is a repair")
    assert verdict(Case(path.stem, source, source), trace) == Verdict("agrees")


def test_at_most_three_of_a_hundred_are_refused_and_each_is_helped() -> None:
    refused = []
    for path in PROGRAMS:
        pasted = normalise_pasted_text(path.read_text())
        refusals = parse_and_check_program(pasted.source)[1]
        if refusals:
            refused.append(path.stem)
            offered = refusals_with_repairs(pasted, pasted.source, refusals)
            assert any(refusal.repairs for refusal in offered) or {refusal.key for refusal in offered} <= EXPLAINED
    assert len(refused) <= 0.03 * len(PROGRAMS), refused
