"""Every kind of finding has a scenario in the gallery, and who has the finding comes to it: by its title and by a question."""

import pytest

from gradbox.terminal.finding_texts import finding_kinds, finding_title
from tests.gallery.finding_questions import QUESTIONS
from tests.gallery.test_gallery_search import SCENARIOS, search
from tests.server.routes.test_site import registered_kinds

KINDS = sorted(registered_kinds())
FIRST = 3


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """The names that each title and each question finds, the best first."""
    return search(
        [*(finding_title(kind) for kind in finding_kinds()), *(text for both in QUESTIONS.values() for text in both)]
    )


def scenarios_of(kind: str) -> set[str]:
    return {scenario.name for scenario in SCENARIOS if kind in scenario.findings}


def test_every_kind_has_a_scenario() -> None:
    assert [kind for kind in KINDS if not scenarios_of(kind)] == []


def test_every_kind_has_a_question() -> None:
    assert sorted(QUESTIONS) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_its_title_and_its_questions_find_a_scenario_of_it_among_the_first_three(
    kind: str, found: dict[str, list[str]]
) -> None:
    missed = {
        text: found[text][:FIRST]
        for text in (finding_title(kind), *QUESTIONS[kind])
        if not scenarios_of(kind) & set(found[text][:FIRST])
    }
    assert missed == {}
