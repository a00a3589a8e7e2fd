"""Who has a finding that the gallery has a scenario of comes to it: by the finding's title and by a question."""

import json
from pathlib import Path

import pytest

from gradbox.terminal.finding_texts import WORDS_FOLDER, finding_kinds, load_finding_title
from server.gallery.search import ScenarioSearch
from tests.gallery.test_gallery_search import SCENARIOS

FIRST = 3


def scenarios_of(kind: str) -> set[str]:
    return {scenario.name for scenario in SCENARIOS if kind in scenario.findings}


def questions(words: Path) -> list[str]:
    """What somebody who has a finding asks without knowing its name, in English and in Chinese."""
    return list(json.loads(words.read_text()).get("ask", {}).values())


QUESTIONS = {kind: questions(WORDS_FOLDER / f"{kind}.json") for kind in finding_kinds()}
KINDS = [kind for kind in finding_kinds() if scenarios_of(kind)]


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """The names that each title and each question finds, the best first."""
    search = ScenarioSearch(SCENARIOS)
    return {text: search.find(text) for kind in KINDS for text in (load_finding_title(kind), *QUESTIONS[kind])}


def test_every_kind_that_has_a_question_has_a_scenario() -> None:
    asked = {kind for kind, texts in QUESTIONS.items() if texts}
    assert asked and asked <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_its_title_and_its_questions_find_a_scenario_of_it_among_the_first_three(
    kind: str, found: dict[str, list[str]]
) -> None:
    missed = {
        text: found[text][:FIRST]
        for text in (load_finding_title(kind), *QUESTIONS[kind])
        if not scenarios_of(kind) & set(found[text][:FIRST])
    }
    assert missed == {}
