"""A trace for reading in a terminal: how the run ended, what there is to explain, and then every step with what it did."""

from collections.abc import Iterator, Sequence

from gradbox.terminal import finding_lines, paint, place_text
from gradbox.wire.findings import Finding
from gradbox.wire.program import ProgramFile
from gradbox.wire.reading import Reading, StepReading

COLOUR_OF_TONE = {"bad": "error", "cut": "warning"}
"""The colours of sentences; plain ones are dim."""


def pretty_lines(
    name: str,
    reading: Reading,
    findings: list[Finding],
    source: str,
    sentences: dict[str, str],
    colours: bool,
    files: Sequence[ProgramFile] = (),
) -> Iterator[str]:
    """The lines to read of a run. sentences: the page's sentences in the reader's language. files: of the source, where
    it has several: lines are then called by file and line.
    """
    yield paint(f"# {name}", "dim", colours)
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
            yield code_line(step, sentences["finding_cause"] if k in causes else "", colours, files)
            shown = code
        yield from change_lines(step, colours)
    yield ""


def verdict_lines(
    reading: Reading, sentences: dict[str, str], colours: bool, files: Sequence[ProgramFile] = ()
) -> Iterator[str]:
    """How the run ended, and what is said of lines of the program."""
    verdict = reading.verdict
    yield paint(
        text_with_place(verdict.line, verdict.text, sentences, files), COLOUR_OF_TONE.get(verdict.tone, "bold"), colours
    )
    for remark in reading.remarks:
        if remark.text:
            yield f"  {text_with_place(remark.line, remark.text, sentences, files)}"
        if remark.gloss:
            yield f"  {remark.gloss}"


def text_with_place(line: int | None, text: str, sentences: dict[str, str], files: Sequence[ProgramFile] = ()) -> str:
    """A text with the line that it is about."""
    if line is not None and files:
        return f"{place_text(line, files)}: {text}"
    return text if line is None else sentences["terminal_at"].replace("{line}", str(line)).replace("{text}", text)


def code_line(step: StepReading, mark: str, colours: bool, files: Sequence[ProgramFile] = ()) -> str:
    """A step's line of the program, with the iterations of the loops around it. mark: what it is to a finding, or empty."""
    turn = f"  [{', '.join(map(str, step.iteration))}]" if step.iteration else ""
    code = paint(f"{'  ' * step.depth}{step.code}", "bold", colours)
    end = paint(f"{turn}{f'  <- {mark}' if mark else ''}", "dim", colours) if turn or mark else ""
    return f"{place_text(step.line, files):>4} | {code}{end}"


def change_lines(step: StepReading, colours: bool) -> Iterator[str]:
    """What a step did: its sentences, the values that it gave, and what it printed."""
    indent = "     | " + "  " * (step.depth + 1)
    for sentence in step.sentences:
        yield indent + paint(sentence.text, COLOUR_OF_TONE.get(sentence.tone, "dim"), colours)
    for value in step.values:
        yield f"{indent}{value.name} = {value.text}"
    if step.printed:
        yield from (f"{indent}> {line}" for line in step.printed.rstrip("\n").split("\n"))
