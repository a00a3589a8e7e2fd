"""What is written of each kind of finding by hand: what it means, and the smallest program that has it (`docs/findings`)."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradbox.installation import FINDINGS_FOLDER

_PROGRAM = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


class FindingTextError(Exception):
    """A text can't be read. The message names its file."""


@dataclass(frozen=True)
class FindingText:
    """Of one kind. text: in Markdown. program: the smallest one that has the finding."""

    kind: str
    title: str
    text: str
    program: str

    @property
    def summary(self) -> str:
        """The first sentence."""
        paragraph = " ".join(self.text.split("\n\n")[0].split())
        return re.split(r"(?<=[.]) (?=[A-Z`])", paragraph)[0]


def finding_kinds(folder: Path = FINDINGS_FOLDER) -> list[str]:
    """All kinds that have a text."""
    return sorted(path.stem for path in folder.glob("*.md"))


def load_finding_text(kind: str, folder: Path = FINDINGS_FOLDER) -> FindingText:
    """Raises FindingTextError where there is no such text, or it lacks its title or its program."""
    path = folder / f"{kind}.md"
    if kind not in finding_kinds(folder):
        raise FindingTextError(f"{kind}: there is no finding of this name")
    source = path.read_text("utf-8")
    program = _PROGRAM.search(source)
    title, _, text = source[: program.start() if program else 0].partition("\n")
    if program is None or not title.startswith("# ") or not text.strip():
        raise FindingTextError(f"{path}: a title, a text and a program in ```python are needed")
    return FindingText(kind, title.removeprefix("# ").strip(), text.strip(), program[1])


@cache
def finding_title(kind: str) -> str:
    """What a kind is called on its page. Raises FindingTextError as `load_finding_text` does."""
    return load_finding_text(kind).title
