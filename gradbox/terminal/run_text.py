"""Text for reading in a terminal, with colours if it has any: findings with their lines, and a whole run step
by step."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from gradbox.installation import STATIC_FOLDER
from gradbox.wire.findings import Finding, LookedFor, RunReading, StepReading
from gradbox.wire.gradient_check import FloatNumber
from gradbox.wire.program import ProgramFile

COLOURS = {"error": "31;1", "warning": "33;1", "note": "36;1", "bold": "1", "dim": "2"}

MAX_LOSSES_SHOWN = 5
"""Values of a loss that are shown in a line."""


def load_sentences(language: str) -> dict[str, str]:
    """The page's sentences in a language and the terminal's own, by key."""
    files = (STATIC_FOLDER / f"locales/{name}{language}.json" for name in ("", "terminal."))
    return {key: text for path in files for key, text in json.loads(path.read_text("utf-8")).items()}


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colours whose user has not declined them (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def colour_text(text: str, colour: str, enabled: bool) -> str:
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if enabled else text


def format_line_location(line: int, files: Sequence[ProgramFile]) -> str:
    """A line of the source; if the source has several files, the file and the line in it."""
    for file in files:
        if file.first_line <= line <= file.last_line:
            return f"{file.name}:{line - file.first_line + 1}"
    return str(line)


def without_backticks(sentence: str) -> str:
    """A sentence without the backticks around code."""
    return sentence.replace("`", "")


def finding_lines(
    finding: Finding,
    source: list[str],
    sentences: dict[str, str],
    colours: bool,
    files: Sequence[ProgramFile] = (),
    again: str = "",
) -> Iterator[str]:
    """A finding with the lines of code on which it rests, why torch objects, what to do, and its fixes.

    files: the files of the source, if it has several
    again: the command that records once more with a module's lines followed, with `{also}` for the module; "" if there
        is none
    """
    head = f"{finding.severity}[{finding.kind}]:"
    what = colour_text(without_backticks(finding.what), "bold", colours)
    yield f"{colour_text(head, finding.severity, colours)} {what}"
    shown = 0
    for link in finding.chain:
        if link.line != shown:
            code = source[link.line - 1].rstrip() if 0 < link.line <= len(source) else ""
            yield f"  {format_line_location(link.line, files):>4} | {code}"
        shown = link.line
        is_cause = link.line == finding.line and link.step == finding.step
        cause = f" <- {sentences['finding_cause']}" if is_cause else ""
        role = sentences.get(f"role_{link.role}", link.role)
        yield colour_text(f"       | {role}: {without_backticks(link.text)}{cause}", "dim", colours)
    for label, sentence in ((sentences["terminal_why"], finding.why), (sentences["terminal_do"], finding.todo)):
        if sentence:
            yield f"  {label:4}   {without_backticks(sentence)}"
    for offer in finding.offers:
        yield f"  torch  {without_backticks(offer.text)}"
        yield colour_text(f"         {offer.url}", "dim", colours)
    for k, fix in enumerate(finding.fixes, 1):
        yield f"  {sentences['terminal_fix']} {k}  {without_backticks(fix.text)}"
        for edit in fix.edits:
            yield colour_text(f"    {edit.line:4} - {edit.old}", "error", colours)
            for new in (edit.new or "").split("\n") if edit.new is not None else ():
                yield colour_text(f"    {edit.line:4} + {new}", "note", colours)
        yield f"         {fix.outcome}"
        if fix.losses is not None:
            before, after = loss_text(fix.losses.before), loss_text(fix.losses.after)
            yield f"         {sentences['terminal_losses'].format(name=fix.losses.name, before=before, after=after)}"
    if finding.also and again:
        yield f"  {sentences['terminal_again']:5}  {again.replace('{also}', finding.also)}"
    yield colour_text(f"  {sentences['terminal_about']:5}  gradbox about {finding.kind}", "dim", colours)


def loss_text(values: list[FloatNumber]) -> str:
    """The first value of a loss, some in between, and the last."""
    count = min(len(values), MAX_LOSSES_SHOWN)
    chosen = [values[round(k * (len(values) - 1) / max(count - 1, 1))] for k in range(count)]
    return " → ".join(value["$f"] if isinstance(value, dict) else f"{value:.3g}" for value in chosen)


def looked_for_text(looked_for: LookedFor, sentences: dict[str, str]) -> str:
    """One line: that nothing wrong was found, what was looked for, what was not, and the options for that."""
    subjects = [re.sub(r"^\*\*(.*?)\*\*.*", r"\1", row) for row in looked_for.rows]
    parts = [
        looked_for.line,
        *looked_for.remarks,
        sentences["terminal_looked_for"].format(what=sentences["terminal_list"].join(subjects)) if subjects else "",
    ]
    parts.append(looked_for.not_looked)
    if looked_for.flags:
        parts.append(sentences["terminal_checks"].format(flags=" ".join(looked_for.flags)))
    return sentences["terminal_join"].join(without_backticks(part.replace("**", "")) for part in parts if part)


COLOUR_OF_TONE = {"bad": "error", "cut": "warning"}
"""The colours of sentences by tone. Plain sentences are dim."""


def run_report_lines(
    name: str,
    reading: RunReading,
    findings: list[Finding],
    source: str,
    sentences: dict[str, str],
    colours: bool,
    files: Sequence[ProgramFile] = (),
) -> Iterator[str]:
    """The lines of the report about a run.

    sentences: the page's sentences in the reader's language
    files: the files of the source, if it has several; lines are then named by file and line
    """
    yield colour_text(f"# {name}", "dim", colours)
    yield from verdict_lines(reading, sentences, colours, files)
    yield ""
    for finding in findings:
        yield from finding_lines(finding, source.split("\n"), sentences, colours, files)
        yield ""
    causes = {finding.step for finding in findings}
    shown: tuple[object, ...] = ()
    for k, step in enumerate(reading.steps):
        code = (step.line, step.depth, *step.iteration)
        if step.code and code != shown:
            yield step_code_line(step, sentences["finding_cause"] if k in causes else "", colours, files)
            shown = code
        yield from step_effect_lines(step, colours)
    yield ""


def verdict_lines(
    reading: RunReading, sentences: dict[str, str], colours: bool, files: Sequence[ProgramFile] = ()
) -> Iterator[str]:
    """How the run ended, and what is said about lines of the program."""
    verdict = reading.verdict
    yield colour_text(
        with_line_prefix(verdict.line, verdict.text, sentences, files),
        COLOUR_OF_TONE.get(verdict.tone, "bold"),
        colours,
    )
    for remark in reading.remarks:
        if remark.text:
            yield f"  {with_line_prefix(remark.line, remark.text, sentences, files)}"
        if remark.gloss:
            yield f"  {remark.gloss}"


def with_line_prefix(line: int | None, text: str, sentences: dict[str, str], files: Sequence[ProgramFile] = ()) -> str:
    """A text with the line that it is about in front."""
    if line is not None and files:
        return f"{format_line_location(line, files)}: {text}"
    return text if line is None else sentences["terminal_at"].replace("{line}", str(line)).replace("{text}", text)


def step_code_line(step: StepReading, mark: str, colours: bool, files: Sequence[ProgramFile] = ()) -> str:
    """A step's line of the program, with the iterations of the loops around it.

    mark: the role of the step in a finding, or ""
    """
    turn = f"  [{', '.join(map(str, step.iteration))}]" if step.iteration else ""
    code = colour_text(f"{'  ' * step.depth}{step.code}", "bold", colours)
    end = colour_text(f"{turn}{f'  <- {mark}' if mark else ''}", "dim", colours) if turn or mark else ""
    return f"{format_line_location(step.line, files):>4} | {code}{end}"


def step_effect_lines(step: StepReading, colours: bool) -> Iterator[str]:
    """What a step did: its sentences, the values that it computed, and what it printed."""
    indent = "     | " + "  " * (step.depth + 1)
    for sentence in step.sentences:
        yield indent + colour_text(sentence.text, COLOUR_OF_TONE.get(sentence.tone, "dim"), colours)
    for value in step.values:
        yield f"{indent}{value.name} = {value.text}"
    if step.printed:
        yield from (f"{indent}> {line}" for line in step.printed.rstrip("\n").split("\n"))
