"""Finds the scenarios that end with an error message: their symptoms have its words in its order.

Numbers, names and shapes in the message may differ.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from server.gallery.scenarios import Scenario
from server.gallery.search import ScenarioSearch, text_of_last_error

MIN_SHARE_OF_SYMPTOM = 0.8
"""The share of a symptom's words that the message must have, in their order."""

MIN_WORDS_OF_SYMPTOM = 4
"""A symptom of fewer words says too little of a message."""

MIN_SHARE_OF_OPENING = 0.6
"""The share of the message's first sentence that the symptom must have."""

MAX_SIMILAR = 3
MAX_MESSAGE = 2000
"""The most characters of a message that are compared."""

_ERROR_TYPE_PATTERN = re.compile(r"^\s*(?:[\w.]*\.)?\w*(?:Error|Exception|Warning):\s*", re.ASCII)
_LOOKS_LIKE_ERROR_PATTERN = re.compile(
    r"\b\w+(?:Error|Exception|Warning)\b(?::|\s*$)|Traceback \(most recent", re.ASCII | re.MULTILINE
)
_VARIABLE_PARTS_PATTERN = re.compile(r"""\[[^\][]*\]|\([\d, x×]*\)|'[^']*'|"[^"]*"|`[^`]*`""")
_WORD_PATTERN = re.compile(r"[a-z_][a-z0-9_]+|[\u4e00-\u9fff]")
_END_OF_OPENING_PATTERN = re.compile(r"\.\s|\bHint:|\bSpecify\b|\bPlease\b|\bIf\b|\n\n|\sat /|\nCUDA kernel errors")


class ErrorMatches(NamedTuple):
    """Names of scenarios.

    exact: scenarios that end with the message, the best first
    similar: other scenarios that have words of it
    """

    exact: list[str]
    similar: list[str]


class TextMatches(NamedTuple):
    """Names of scenarios for a text.

    ends_so: they end with the error in the text
    about: they contain the text's words
    unknown: the text is an error with which no scenario ends; these are similar
    """

    kind: Literal["ends_so", "about", "unknown"]
    names: list[str]


class ScenarioIndex:
    """Finds scenarios for texts that readers paste or type."""

    def __init__(self, scenarios: Iterable[Scenario]) -> None:
        scenarios = list(scenarios)
        self.search = ScenarioSearch(scenarios)
        self._symptoms = {
            scenario.name: [words for symptom in scenario.symptoms if (words := _words_of_message(symptom))]
            for scenario in scenarios
        }

    def look_up(self, text: str, is_message: bool = False) -> TextMatches:
        """Look up a text.

        is_message: the text is an error message even if it names no type of error
        """
        names_an_error = looks_like_error(text)
        if names_an_error or is_message:
            exact, similar = self.match_error(text)
            if exact:
                return TextMatches("ends_so", exact)
            if names_an_error:
                return TextMatches("unknown", similar)
        return TextMatches("about", self.search.find(text))

    def match_error(self, text: str) -> ErrorMatches:
        """Find the scenarios that end with an error.

        text: a message or a whole traceback
        """
        last = text_of_last_error(text)[:MAX_MESSAGE]
        message = _words_of_message(last)
        opening = _words_of_message(_END_OF_OPENING_PATTERN.split(_ERROR_TYPE_PATTERN.sub("", last), maxsplit=1)[0])
        ordered = self.search.find(last)
        places = {name: place for place, name in enumerate(ordered)}
        scores = {
            name: max((_symptom_score(message, opening, words) for words in symptoms), default=0.0)
            for name, symptoms in self._symptoms.items()
        }
        exact = sorted(
            (name for name in scores if scores[name]),
            key=lambda name: (-scores[name], places.get(name, len(self._symptoms))),
        )
        return ErrorMatches(exact, [name for name in ordered if name not in exact][:MAX_SIMILAR])


def looks_like_error(text: str) -> bool:
    """Return whether a text names a type of error or warning, or is a traceback."""
    return _LOOKS_LIKE_ERROR_PATTERN.search(text) is not None


def _words_of_message(text: str) -> list[str]:
    """Return the words of a message without numbers, shapes and quoted parts."""
    return _WORD_PATTERN.findall(_VARIABLE_PARTS_PATTERN.sub(" ", _ERROR_TYPE_PATTERN.sub("", text)).lower())


def _symptom_score(message: list[str], opening: list[str], symptom: list[str]) -> float:
    """Return how well a symptom matches a message; 0 if it does not.

    opening: words of the message's first sentence
    """
    at_least = len(symptom) * MIN_SHARE_OF_SYMPTOM
    if len(symptom) < MIN_WORDS_OF_SYMPTOM:
        return 0.0
    shared = _count_common_words_in_order(symptom, message)
    if shared < at_least:
        return 0.0
    shared_opening = _count_common_words_in_order(symptom, opening)
    is_opening = shared_opening >= min(len(opening), len(symptom)) * MIN_SHARE_OF_OPENING and (
        shared_opening >= len(opening) * 0.35 or shared_opening >= MIN_WORDS_OF_SYMPTOM * 2
    )
    return shared / len(symptom) + shared_opening / max(len(opening), 1) if is_opening else 0.0


def _count_common_words_in_order(one: list[str], other: list[str]) -> int:
    """Return how many words of one list occur in the other in the same order."""
    words = set(one)
    other = [word for word in other if word in words]
    row = [0] * (len(other) + 1)
    for word in one:
        before = row
        row = [0]
        for k, candidate in enumerate(other):
            row.append(before[k] + 1 if word == candidate else max(before[k + 1], row[k]))
    return row[-1]
