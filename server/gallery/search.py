"""Searches scenarios by an operation, by words or by a symptom."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gradbox.terminal.finding_texts import load_finding_title
from server.gallery.scenarios import LANGUAGES, Scenario

SYMPTOM_WEIGHT = TITLE_WEIGHT = 3.0
NAME_WEIGHT = 2.5
FINDING_WEIGHT = 2.0
QUESTION_WEIGHT = 1.5
SOURCE_WEIGHT = 1.2
LOOK_AT_WEIGHT = 0.6
"""The weights of a word by the text of a scenario in which it occurs. Of several texts the best counts."""

WHOLE_SYMPTOM_SHARE = 0.55
"""The share of a symptom that a query must have for the symptom to count."""

WHOLE_SYMPTOM_BONUS = 2
PREFIX_WEIGHT = 0.7
SUBSTRING_WEIGHT = 0.4
"""The weight of a word that is only a part of a known word."""

MIN_RELATIVE_SCORE = 0.34
"""Scenarios with less than this share of the best score are left out."""

MAX_HITS = 24
MIN_SHARE_OF_KNOWN_WORDS = 0.6
"""A smaller share of known words in the query finds nothing."""

MIN_WORDS_OF_MESSAGE = 5
"""A query with at least this many words is a pasted message, and its unknown words are ignored."""

COMMON_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can do does for from get got had has have how i if in into is it its me my "
        "no of on or so that the their then there this to was what when where which while who why with you your did "
        "will would should could after before",
    )
)
_TOKEN_PATTERN = re.compile(r"\.?[a-z_][a-z0-9_]*\(?|[\u4e00-\u9fff]+")
_CHINESE_PATTERN = re.compile(r"[\u4e00-\u9fff]")
_NUMBER_AT_END_PATTERN = re.compile(r"(?<=[a-z]{3})\d+$")
_PLURAL_PATTERN = re.compile(r"[^su]s$")
_ERROR_TYPE_PATTERN = re.compile(r"\b\w+(?:Error|Exception|Warning): ", re.ASCII)


@dataclass(frozen=True)
class IndexedScenario:
    """weights: what each of its words counts for
    symptoms: the words of each, and of the names of its findings
    """

    name: str
    weights: dict[str, float]
    symptoms: list[frozenset[str]]


@dataclass(frozen=True)
class KnownWord:
    """A known word that a word of the query stands for.

    worth: the weight of a hit, before the weight of its place
    """

    queried: str
    known: str
    worth: float


class ScenarioSearch:
    """Searches scenarios' texts in all languages, symptoms, names of findings, and programs."""

    def __init__(self, scenarios: Iterable[Scenario]) -> None:
        self._scenarios = [_build_index_entry(scenario) for scenario in scenarios]
        uses = Counter(word for scenario in self._scenarios for word in scenario.weights)
        self._rarity = {word: math.log(1 + len(self._scenarios) / count) for word, count in uses.items()}

    def find(self, query: str) -> list[str]:
        """Return the names of the matching scenarios, the best first; all of them, in order, for an empty query."""
        queried = list(dict.fromkeys(_split_into_words(text_of_last_error(query))))
        if not queried:
            return [] if query.strip() else [scenario.name for scenario in self._scenarios]
        is_message = len(queried) >= MIN_WORDS_OF_MESSAGE
        words = [known for word in queried for known in self._known_words(word, is_message)]
        if not is_message and len({word.queried for word in words}) < len(queried) * MIN_SHARE_OF_KNOWN_WORDS:
            return []
        scores = {scenario.name: self._score_scenario(scenario, words) for scenario in self._scenarios}
        minimum = max(scores.values(), default=0.0) * MIN_RELATIVE_SCORE
        ordered = sorted(scores, key=lambda name: -scores[name])
        return [name for name in ordered if scores[name] > 0 and scores[name] >= minimum][:MAX_HITS]

    def _known_words(self, word: str, is_message: bool) -> list[KnownWord]:
        """Return the known words that a word of the query stands for: itself, or else those that contain it."""
        if word in self._rarity:
            return [KnownWord(word, word, self._rarity[word])]
        if is_message or len(word) < 2:
            return []
        return [
            KnownWord(word, known, rarity * (PREFIX_WEIGHT if known.startswith(word) else SUBSTRING_WEIGHT))
            for known, rarity in self._rarity.items()
            if word in known
        ]

    def _score_scenario(self, scenario: IndexedScenario, words: Collection[KnownWord]) -> float:
        best: dict[str, float] = {}
        for word in words:
            worth = word.worth * scenario.weights.get(word.known, 0.0)
            best[word.queried] = max(best.get(word.queried, 0.0), worth)
        found = {word.known for word in words}
        bonus = max((self._symptom_score(symptom, found) for symptom in scenario.symptoms), default=0.0)
        return sum(best.values()) + WHOLE_SYMPTOM_BONUS * bonus

    def _symptom_score(self, symptom: frozenset[str], found: set[str]) -> float:
        """Return how much of a symptom was found, weighted by rarity; 0 if it is too little of the symptom."""
        whole = sum(self._rarity[word] for word in symptom)
        matched = sum(self._rarity[word] for word in symptom if word in found)
        return matched * matched / whole if whole and matched / whole >= WHOLE_SYMPTOM_SHARE else 0.0


def _build_index_entry(scenario: Scenario) -> IndexedScenario:
    titles = [load_finding_title(kind) for kind in scenario.findings]
    texts = {key: "\n".join(scenario.text[language][key] for language in LANGUAGES) for key in ("title", "question")}
    look_at = "\n".join(scenario.text[language]["look_at"] for language in LANGUAGES)
    weights: dict[str, float] = {}
    for text, weight in (
        ("\n".join(scenario.symptoms), SYMPTOM_WEIGHT),
        (texts["title"], TITLE_WEIGHT),
        (scenario.name, NAME_WEIGHT),
        ("\n".join(titles), FINDING_WEIGHT),
        (texts["question"], QUESTION_WEIGHT),
        (scenario.source, SOURCE_WEIGHT),
        (look_at, LOOK_AT_WEIGHT),
    ):
        for word in _split_into_words(text):
            weights.setdefault(word, weight)
    symptoms = [frozenset(_split_into_words(text)) for text in (*scenario.symptoms, *titles)]
    return IndexedScenario(scenario.name, weights, symptoms)


def _split_into_words(text: str) -> list[str]:
    """Return the words of a text: names and their parts, without plural endings and trailing numbers, and Chinese in
    pairs."""
    found = []
    for token in _TOKEN_PATTERN.findall(text.lower()):
        word = token.removeprefix(".").removesuffix("(")
        if token != word and word in COMMON_WORDS:
            found.append(f"{word}()")  # an operation, such as `.to()`
        if _CHINESE_PATTERN.search(word):
            found += [word[k : k + 2] for k in range(len(word) - 1)] or [word]
            continue
        parts = [part for part in word.split("_") if part]
        whole = ["_".join(parts)] if len(parts) > 1 else []
        found += [_stem(part) for part in (*whole, *parts) if part not in COMMON_WORDS]
    return found


def _stem(word: str) -> str:
    bare = _NUMBER_AT_END_PATTERN.sub("", word)
    return bare[:-1] if len(bare) > 3 and _PLURAL_PATTERN.search(bare) else bare


def text_of_last_error(text: str) -> str:
    """Return the last `…Error:` of a traceback and what follows it, or the whole text if there is none."""
    last = max((match.start() for match in _ERROR_TYPE_PATTERN.finditer(text)), default=0)
    return text[last:]
