"""The scenarios: runnable programs, each beside its title, its question and what to look at, in every language."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "zh")
WORDS = ("title", "question", "look_at")


class ShelfError(Exception):
    """A scenario that can't be read; names the file and what is wrong with it."""


@dataclass(frozen=True)
class Scenario:
    """`text[language]` has `title`, `question` and `look_at`; `thread` groups scenarios."""

    name: str
    order: int
    thread: str
    source: str
    text: dict[str, dict[str, str]]


def scenarios(folder: Path) -> list[Scenario]:
    """Every `name.py` with its `name.toml`, in their order. Raises ShelfError."""
    found = [scenario(path) for path in sorted(folder.glob("*.py"))]
    return sorted(found, key=lambda one: (one.order, one.name))


def scenario(path: Path) -> Scenario:
    card = path.with_suffix(".toml")
    try:
        told = tomllib.loads(card.read_text("utf-8"))
    except OSError as error:
        raise ShelfError(f"{card}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ShelfError(f"{card}: {error}") from error
    for key, kind in (("order", int), ("thread", str), *((language, dict) for language in LANGUAGES)):
        if not isinstance(told.get(key), kind):
            raise ShelfError(f"{card}: '{key}' is missing")
    for language in LANGUAGES:
        for word in WORDS:
            if not isinstance(told[language].get(word), str) or not told[language][word].strip():
                raise ShelfError(f"{card}: '{language}.{word}' is missing")
    text = {language: {word: told[language][word].strip() for word in WORDS} for language in LANGUAGES}
    return Scenario(path.stem, told["order"], told["thread"], path.read_text("utf-8"), text)
