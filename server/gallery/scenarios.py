"""The scenarios of the gallery: programs, each with a title, a question and what to look at, in every language.

Also the gallery's threads, and the marks by which it is filtered.
"""

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

LANGUAGES = ("en", "zh")
TEXT_KEYS = ("title", "question", "look_at")

GALLERY_SECTIONS = (
    "copying",
    "sharing",
    "views",
    "inplace",
    "leaves",
    "cutting",
    "references",
    "modules",
    "hooks",
    "numerics",
    "shapes",
    "training",
)
"""The sections of the gallery, in order. Their titles are `thread_NAME` in `static/locales`."""


class ScenarioError(Exception):
    """An invalid scenario. The message names the file and the key."""


@dataclass(frozen=True)
class Claim:
    """A belief that a program tests.

    belief: a sentence by language
    holds: the variable of the program that is True at the end if the belief is right, and False if it is wrong
    """

    belief: dict[str, str]
    holds: str


@dataclass(frozen=True)
class Scenario:
    """A program of the gallery and its card.

    text: `title`, `question` and `look_at` by language
    thread: one of GALLERY_SECTIONS
    order: the place in the thread
    prints: the end of the program's output
    raises_at: the line at which the program raises; None if it finishes
    origin: the address of the public thread or article from which it comes, or ""
    findings: the kinds of findings in its run
    symptoms: first lines of error messages, and words by which a reader searches for it
    still_line: the line whose step the still shows; None to let the renderer choose
    untranslated: keys, like `zh.title`, whose missing texts the English ones replace; `make test` allows none in the
        gallery
    """

    name: str
    order: int
    thread: str
    source: str
    prints: str
    raises_at: int | None
    text: dict[str, dict[str, str]]
    origin: str
    findings: tuple[str, ...]
    symptoms: tuple[str, ...]
    still_line: int | None
    claim: Claim | None
    untranslated: tuple[str, ...] = ()


def load_scenarios(folder: Path) -> list[Scenario]:
    """Load all scenarios of a folder, each a `name.py` and a `name.toml`, sorted by thread, order and name.

    Raises ScenarioError.
    """
    programs = {path.stem for path in folder.glob("*.py")}
    for name in sorted(programs ^ {path.stem for path in folder.glob("*.toml")}):
        present, absent = (f"{name}.py", f"{name}.toml") if name in programs else (f"{name}.toml", f"{name}.py")
        raise ScenarioError(f"{present}: there is no {absent} beside it")
    loaded = (load_scenario(folder / f"{name}.py") for name in programs)
    return sorted(loaded, key=lambda scenario: (GALLERY_SECTIONS.index(scenario.thread), scenario.order, scenario.name))


def load_scenario(path: Path) -> Scenario:
    """Load one scenario. Raises ScenarioError.

    path: the program's path
    """
    card_path = path.with_suffix(".toml")
    fields = read_scenario_toml(card_path)
    reject_unknown_keys(card_path, fields, {field.name for field in FIELDS} | set(LANGUAGES))
    values = {field.attribute: field.read(card_path, fields, field.name) for field in FIELDS}
    text: dict[str, dict[str, str]] = {}
    untranslated = []
    for language in LANGUAGES:
        table = fields.get(language, {} if text else None)
        if not isinstance(table, dict):
            raise ScenarioError(f"{card_path.name}: {language}: expected a table with {', '.join(TEXT_KEYS)}")
        reject_unknown_keys(card_path, table, set(TEXT_KEYS), f"{language}.")
        absent = [word for word in TEXT_KEYS if text and not table.get(word)]
        untranslated += [f"{language}.{word}" for word in absent]
        given = {**table, **{word: text[LANGUAGES[0]][word] for word in absent}}
        text[language] = {word: read_text(card_path, given, word, f"{language}.") for word in TEXT_KEYS}
    try:
        source = path.read_text("utf-8")
        return Scenario(name=path.stem, source=source, text=text, untranslated=tuple(untranslated), **values)
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path.name}: {error}") from error


def read_scenario_toml(card_path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(card_path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{card_path.name}: {error}") from error


def reject_unknown_keys(card: Path, table: dict[str, Any], keys: set[str], prefix: str = "") -> None:
    for key in sorted(table.keys() - keys):
        raise ScenarioError(f"{card.name}: {prefix}{key}: unknown key")


def read_integer(card: Path, table: dict[str, Any], key: str) -> int:
    value = table.get(key)
    if type(value) is not int or value < 1:
        raise ScenarioError(f"{card.name}: {key}: expected an integer from 1, not {value!r}")
    return value


def read_line_number(card: Path, table: dict[str, Any], key: str) -> int | None:
    """Read a line number of the program; None if the key is absent."""
    return read_integer(card, table, key) if key in table else None


def read_text(card: Path, table: dict[str, Any], key: str, prefix: str = "") -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ScenarioError(f"{card.name}: {prefix}{key}: expected a text, not {value!r}")
    return value.strip()


def read_gallery_section(card: Path, table: dict[str, Any], key: str) -> str:
    thread = read_text(card, table, key)
    if thread not in GALLERY_SECTIONS:
        raise ScenarioError(f"{card.name}: {key}: expected one of {', '.join(GALLERY_SECTIONS)}, not {thread!r}")
    return thread


def read_expected_output(card: Path, table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise ScenarioError(f"{card.name}: {key}: expected the end of what the program prints, not {value!r}")
    return value


def read_https_address(card: Path, table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or (value and not value.startswith("https://")):
        raise ScenarioError(f'{card.name}: {key}: expected an address that begins with https://, or "", not {value!r}')
    return value


def read_text_list(card: Path, table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key)
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise ScenarioError(f"{card.name}: {key}: expected a list of texts, not {value!r}")
    return tuple(value)


def read_claim(card: Path, table: dict[str, Any], key: str) -> Claim | None:
    """Read `[claim]`; None if there is none."""
    if key not in table:
        return None
    claim = table[key]
    if not isinstance(claim, dict):
        raise ScenarioError(f"{card.name}: {key}: expected a table with holds and belief, not {claim!r}")
    reject_unknown_keys(card, claim, {"belief", "holds"}, f"{key}.")
    belief = claim.get("belief")
    if not isinstance(belief, dict):
        raise ScenarioError(f"{card.name}: {key}.belief: expected a sentence in each language, not {belief!r}")
    reject_unknown_keys(card, belief, set(LANGUAGES), f"{key}.belief.")
    sentences = {language: read_text(card, belief, language, f"{key}.belief.") for language in LANGUAGES}
    holds = read_text(card, claim, "holds", f"{key}.")
    if not holds.isidentifier():
        raise ScenarioError(f"{card.name}: {key}.holds: expected the name of a variable, not {holds!r}")
    return Claim(sentences, holds)


class ScenarioField(NamedTuple):
    """A key of a scenario's file.

    attribute: the attribute of Scenario
    read: reads the value; raises ScenarioError
    """

    name: str
    attribute: str
    read: Callable[[Path, dict[str, Any], str], Any]


FIELDS = (
    ScenarioField("order", "order", read_integer),
    ScenarioField("thread", "thread", read_gallery_section),
    ScenarioField("prints", "prints", read_expected_output),
    ScenarioField("raises_at", "raises_at", read_line_number),
    ScenarioField("source", "origin", read_https_address),
    ScenarioField("findings", "findings", read_text_list),
    ScenarioField("symptoms", "symptoms", read_text_list),
    ScenarioField("telling", "still_line", read_line_number),
    ScenarioField("claim", "claim", read_claim),
)


FILTERS = ("raises", "silent", "claim")
INFORMATIVE_FINDINGS = {"shared_memory"}
"""Findings that state a fact rather than a problem."""


class ScenarioNeighbours(NamedTuple):
    """The scenarios before and after one in the gallery; None at its ends."""

    previous: Scenario | None
    next: Scenario | None


def matching_filters(scenario: Scenario) -> list[str]:
    """Return the filters in FILTERS that match a scenario: it ends with an error; it has a finding but no error; it
    settles a claim."""
    marks = []
    if scenario.raises_at is not None:
        marks.append("raises")
    elif set(scenario.findings) - INFORMATIVE_FINDINGS:
        marks.append("silent")
    return [*marks, *(["claim"] if scenario.claim else [])]


class GalleryCard(NamedTuple):
    """A scenario with its marks, for a card."""

    scenario: Scenario
    marks: list[str]


def gallery_cards(scenarios: Iterable[Scenario]) -> list[GalleryCard]:
    """Return the cards of scenarios, in their order."""
    return [GalleryCard(scenario, matching_filters(scenario)) for scenario in scenarios]


def cards_by_section(cards: Iterable[GalleryCard]) -> list[tuple[str, list[GalleryCard]]]:
    """Return the threads, each with its cards."""
    return [(thread, list(members)) for thread, members in groupby(cards, lambda card: card.scenario.thread)]


def neighbouring_scenarios(scenarios: list[Scenario], scenario: Scenario) -> ScenarioNeighbours:
    """Return the neighbours of a scenario in the list."""
    at = scenarios.index(scenario)
    return ScenarioNeighbours(scenarios[at - 1] if at else None, scenarios[at + 1] if at + 1 < len(scenarios) else None)
