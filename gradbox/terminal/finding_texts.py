"""The texts about each kind of finding: what it means, and the smallest program that has it.

A kind has a page in `docs/findings/KIND.md`, or a page that is made of `page` in its words
(`static/locales/findings/KIND.json`) and of `docs/findings/KIND.py`, a program whose first line says what is found in
it.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradbox.installation import FINDINGS_FOLDER, STATIC_FOLDER

WORDS_FOLDER = STATIC_FOLDER / "locales/findings"
_PROGRAM_PATTERN = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


class FindingTextError(Exception):
    """A text can't be read. The message names its file."""


@dataclass(frozen=True)
class FindingText:
    """The text about one kind.

    text: in Markdown
    program: the smallest program that has the finding
    """

    kind: str
    title: str
    text: str
    program: str

    @property
    def summary(self) -> str:
        """The first sentence of the text."""
        paragraph = " ".join(self.text.split("\n\n")[0].split())
        return re.split(r"(?<=[.]) (?=[A-Z`])", paragraph)[0]


def finding_kinds(words: Path = WORDS_FOLDER) -> list[str]:
    """All kinds of findings, that is, all that have words."""
    return sorted(path.stem for path in words.glob("*.json"))


def load_finding_text(kind: str, pages: Path = FINDINGS_FOLDER, words: Path = WORDS_FOLDER) -> FindingText:
    """Load the text about a kind. Raises FindingTextError if there is no such kind, or its page lacks a title, a text
    or a program."""
    if kind not in finding_kinds(words):
        raise FindingTextError(f"{kind}: there is no finding of this name")
    path = pages / f"{kind}.md"
    if path.exists():
        source = path.read_text("utf-8")
    else:
        path = pages / f"{kind}.py"
        source = finding_page_markdown(words / f"{kind}.json", path)
    program = _PROGRAM_PATTERN.search(source)
    title, _, text = source[: program.start() if program else 0].partition("\n")
    if program is None or not re.match(r"# \S", title) or not text.strip():
        raise FindingTextError(f"{path}: a title, a text and a program in ```python are needed")
    return FindingText(kind, title.removeprefix("# ").strip(), text.strip(), program[1])


def finding_page_markdown(words: Path, program: Path) -> str:
    """A kind's page in Markdown, from the file of its words and its program. What either file lacks is left out."""
    page = json.loads(words.read_text("utf-8")).get("page", {})
    lines = program.read_text("utf-8").splitlines()[1:] if program.exists() else []
    code = "".join(f"{line.removesuffix('  # cause')}\n" for line in lines)
    return f"# {page.get('title', '')}\n\n{page.get('text', '')}\n\n" + (
        f"```python\n{code.lstrip()}```\n" if code else ""
    )


@cache
def load_finding_title(kind: str) -> str:
    """The title of a kind's page. Raises FindingTextError as `load_finding_text` does."""
    return load_finding_text(kind).title
