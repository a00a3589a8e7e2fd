"""What is printed for reading in a terminal: its colours, where it has any, and findings with their lines in a language."""

import json
import os
from collections.abc import Iterator, Sequence
from typing import TextIO

from gradbox.installation import STATIC_FOLDER
from gradbox.wire.findings import Finding
from gradbox.wire.program import ProgramFile

COLOURS = {"error": "31;1", "warning": "33;1", "note": "36;1", "bold": "1", "dim": "2"}


def load_sentences(language: str) -> dict[str, str]:
    """The page's sentences in a language, by key."""
    words: dict[str, str] = json.loads((STATIC_FOLDER / f"locales/{language}.json").read_text("utf-8"))
    return words


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colours whose user has not declined them (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, enabled: bool) -> str:
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if enabled else text


def place_text(line: int, files: Sequence[ProgramFile]) -> str:
    """A line of the source; where that has several files, the file and the line of it."""
    for file in files:
        if file.first_line <= line <= file.last_line:
            return f"{file.name}:{line - file.first_line + 1}"
    return str(line)


def without_backticks(sentence: str) -> str:
    """A sentence without the backticks around code."""
    return sentence.replace("`", "")


def finding_lines(
    finding: Finding, source: list[str], sentences: dict[str, str], colours: bool, files: Sequence[ProgramFile] = ()
) -> Iterator[str]:
    """A finding with the lines of code that it rests on, why torch minds, what to do, and its fixes.

    files: those of the source, where it has several.
    """
    head = f"{finding.severity}[{finding.kind}]:"
    yield f"{paint(head, finding.severity, colours)} {paint(without_backticks(finding.what), 'bold', colours)}"
    shown = 0
    for link in finding.chain:
        if link.line != shown:
            code = source[link.line - 1].rstrip() if 0 < link.line <= len(source) else ""
            yield f"  {place_text(link.line, files):>4} | {code}"
        shown = link.line
        is_cause = link.line == finding.line and link.step == finding.step
        cause = f" <- {sentences['finding_cause']}" if is_cause else ""
        role = sentences.get(f"role_{link.role}", link.role)
        yield paint(f"       | {role}: {without_backticks(link.text)}{cause}", "dim", colours)
    for label, sentence in ((sentences["terminal_why"], finding.why), (sentences["terminal_do"], finding.todo)):
        if sentence:
            yield f"  {label:4}   {without_backticks(sentence)}"
    for offer in finding.offers:
        yield f"  torch  {without_backticks(offer.text)}"
        yield paint(f"         {offer.url}", "dim", colours)
    for k, fix in enumerate(finding.fixes, 1):
        yield f"  {sentences['terminal_fix']} {k}  {without_backticks(fix.text)}"
        for edit in fix.edits:
            yield paint(f"    {edit.line:4} - {edit.old}", "error", colours)
            for new in (edit.new or "").split("\n") if edit.new is not None else ():
                yield paint(f"    {edit.line:4} + {new}", "note", colours)
        yield f"         {fix.outcome}"
