"""The scenarios of the gallery: programs, each with a title, a question and what to look at, in every language."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LANGUAGES = ("en", "zh")
TEXT_KEYS = ("title", "question", "look_at")


class ScenarioError(Exception):
    """An invalid scenario. The message names the file and the key."""


@dataclass(frozen=True)
class Scenario:
    """text: `title`, `question` and `look_at` by language. thread: the group in the gallery.

    prints: the end of what the program prints. raises_at: the line at which it raises; None where it finishes.
    """

    name: str
    order: int
    thread: str
    source: str
    prints: str
    raises_at: int | None
    text: dict[str, dict[str, str]]


def load_scenarios(folder: Path) -> list[Scenario]:
    """All scenarios of a folder, each a `name.py` and a `name.toml`, in their order. Raises ScenarioError."""
    programs = {path.stem for path in folder.glob("*.py")}
    for name in sorted(programs ^ {path.stem for path in folder.glob("*.toml")}):
        present, absent = (f"{name}.py", f"{name}.toml") if name in programs else (f"{name}.toml", f"{name}.py")
        raise ScenarioError(f"{present}: there is no {absent} beside it")
    loaded = sorted(
        (load_scenario(folder / f"{name}.py") for name in programs),
        key=lambda scenario: (scenario.order, scenario.name),
    )
    taken: dict[int, str] = {}
    for scenario in loaded:
        if scenario.order in taken:
            raise ScenarioError(
                f"{scenario.name}.toml: order: {scenario.order} is taken by {taken[scenario.order]}.toml"
            )
        taken[scenario.order] = scenario.name
    return loaded


def load_scenario(path: Path) -> Scenario:
    """One scenario. path: of the program. Raises ScenarioError."""
    card = path.with_suffix(".toml")
    fields = read_card(card)
    reject_unknown_keys(card, fields, {"order", "thread", "prints", "raises_at", *LANGUAGES})
    order = read_integer(card, fields, "order")
    thread = read_text(card, fields, "thread")
    prints = fields.get("prints")
    if not isinstance(prints, str):
        raise ScenarioError(f"{card.name}: prints: expected the end of what the program prints, not {prints!r}")
    raises_at = read_integer(card, fields, "raises_at") if "raises_at" in fields else None
    text = {}
    for language in LANGUAGES:
        table = fields.get(language)
        if not isinstance(table, dict):
            raise ScenarioError(f"{card.name}: {language}: expected a table with {', '.join(TEXT_KEYS)}")
        reject_unknown_keys(card, table, set(TEXT_KEYS), f"{language}.")
        text[language] = {word: read_text(card, table, word, f"{language}.") for word in TEXT_KEYS}
    try:
        return Scenario(path.stem, order, thread, path.read_text("utf-8"), prints, raises_at, text)
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path.name}: {error}") from error


def read_card(card: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(card.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{card.name}: {error}") from error


def reject_unknown_keys(card: Path, table: dict[str, Any], keys: set[str], prefix: str = "") -> None:
    for key in sorted(table.keys() - keys):
        raise ScenarioError(f"{card.name}: {prefix}{key}: unknown key")


def read_integer(card: Path, table: dict[str, Any], key: str) -> int:
    value = table.get(key)
    if type(value) is not int or value < 1:
        raise ScenarioError(f"{card.name}: {key}: expected an integer from 1, not {value!r}")
    return value


def read_text(card: Path, table: dict[str, Any], key: str, prefix: str = "") -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ScenarioError(f"{card.name}: {prefix}{key}: expected a text, not {value!r}")
    return value.strip()
