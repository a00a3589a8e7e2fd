"""The names of built files for offline pages: a script for what a page holds, in one language."""

from typing import Literal

OfflineContent = Literal["list", "stage", "series", "compare"]
"""One run with the picture that it has, several runs, or two that are compared."""

OFFLINE_CONTENTS: tuple[OfflineContent, ...] = ("list", "stage", "series", "compare")
LANGUAGES = ("en", "zh")


def offline_script_name(content: str, language: str) -> str:
    return f"offline.{content}.{language if language in LANGUAGES else 'en'}.js"


def offline_style_name(content: str) -> str:
    return f"offline.{content}.css" if content in ("list", "stage") else "style.css"


def offline_files() -> list[str]:
    """All of them."""
    scripts = [offline_script_name(content, language) for content in OFFLINE_CONTENTS for language in LANGUAGES]
    return [*scripts, *sorted({offline_style_name(content) for content in OFFLINE_CONTENTS})]
