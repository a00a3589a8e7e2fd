"""What the gallery shows of the library: its threads, the marks by which it is filtered, what its search looks through."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from server.gallery.scenarios import LANGUAGES, TEXT_KEYS, Scenario

FILTERS = ("raises", "silent", "claim")
INFORMATIVE_FINDINGS = {"shared_memory"}
"""Findings that say how things are, not that there is something to mend."""


class Neighbours(NamedTuple):
    """The scenarios before and after one, in the gallery's order; None at its ends."""

    previous: Scenario | None
    next: Scenario | None


def filters_passed(scenario: Scenario) -> list[str]:
    """Which of FILTERS leave a scenario: it ends with an error; without one it has a finding; it settles a claim."""
    marks = []
    if scenario.raises_at is not None:
        marks.append("raises")
    elif set(scenario.findings) - INFORMATIVE_FINDINGS:
        marks.append("silent")
    return [*marks, *(["claim"] if scenario.claim else [])]


def scenarios_by_thread(scenarios: list[Scenario]) -> list[tuple[str, list[tuple[Scenario, list[str]]]]]:
    """The threads, each with its scenarios and their marks."""
    return [
        (thread, [(scenario, filters_passed(scenario)) for scenario in members])
        for thread, members in groupby(scenarios, lambda scenario: scenario.thread)
    ]


def search_entries(scenarios: Iterable[Scenario]) -> list[dict[str, Any]]:
    """What the search looks through: of each scenario its texts in all languages, its symptoms and its program."""
    return [
        {
            "name": scenario.name,
            "symptoms": scenario.symptoms,
            "source": scenario.source,
            **{key: [scenario.text[language][key] for language in LANGUAGES] for key in TEXT_KEYS},
        }
        for scenario in scenarios
    ]


def neighbours(scenarios: list[Scenario], scenario: Scenario) -> Neighbours:
    """Those of a scenario of the list."""
    at = scenarios.index(scenario)
    return Neighbours(scenarios[at - 1] if at else None, scenarios[at + 1] if at + 1 < len(scenarios) else None)
