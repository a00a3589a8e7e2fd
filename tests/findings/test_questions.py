"""Real questions of people, beside the checkout: a finding of an accepted kind, at an accepted line, with the names of
the answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.forks.forked_server import run_command

ROOT = Path(__file__).parents[2]
FOLDER = ROOT.parent / "shared/questions"
EXPECTED: dict[str, dict[str, Any]] = (
    json.loads((FOLDER / "expected.json").read_text()) if (FOLDER / "expected.json").exists() else {}
)
NO_KIND = "none_of_these"
"""Stands among the kinds of a question for which no kind was thought of: any will do."""

pytestmark = [
    pytest.mark.skipif(not EXPECTED, reason="../shared/questions is missing: no answer was judged"),
    pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built"),
]


@pytest.fixture(scope="module")
def explained() -> dict[str, list[dict[str, Any]]]:
    """The findings of every question, by its name."""
    done = run_command("explain", "--json", *(str(FOLDER / f"{name}.py") for name in EXPECTED))
    assert done.returncode == 0, done.stderr
    return {name: json.loads(line)["findings"] for name, line in zip(EXPECTED, done.stdout.splitlines(), strict=True)}


@pytest.mark.parametrize("name", list(EXPECTED) or ["none"])
def test_a_question_is_answered(name: str, explained: dict[str, list[dict[str, Any]]]) -> None:
    expected = EXPECTED[name]
    answers = [
        finding
        for finding in explained[name]
        if (finding["kind"] in expected["kinds"] or NO_KIND in expected["kinds"])
        and finding["line"] in expected["cause"]
        and all(word in finding["text"] for word in expected["must_mention"])
    ]
    assert answers, explained[name]
