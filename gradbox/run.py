"""A recorded run, as `gradbox.watch`, a notebook's cell and the command return it: its trace, findings and picture."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from gradbox.assembly.assemble import assemble_trace, crash_error
from gradbox.installation import PACKAGE_FOLDER
from gradbox.judged_fixes import JudgedRun
from gradbox.notebook import notebook_cells, viewer_cells
from gradbox.notebook.shortened_trace import shorten_trace
from gradbox.pictures import page
from gradbox.pictures.built_files import LANGUAGES
from gradbox.terminal import run_text as terminal
from gradbox.terminal.run_text import run_report_lines
from gradbox.terminal.table_text import (
    MODULE_ORDERS,
    TABLE_NAMES,
    TableName,
    csv_text,
    run_tables_html,
    sorted_tables,
    table_lines,
)
from gradbox.wire.api import Job
from gradbox.wire.findings import Finding, Fix, LookedFor, OutcomeSummary, RunReading
from gradbox.wire.processes import AssemblyRequest, DrawReply, DrawRequest, MovingFormat, Usage
from gradbox.wire.program import ProgramFile
from gradbox.wire.tables import ModuleRow, ParameterRow, RunTables
from gradbox.wire.trace import Error, Outcome

RENDERER_MODULE = "gradbox.pictures.renderer_process"
ENDED_ABRUPTLY_MESSAGE = "it ended without Python's own end, as os._exit does"

FILE_SUFFIXES = (".html", ".htm", ".svg", ".png", ".json")
FILM_SUFFIXES: dict[str, MovingFormat | None] = {".svg": None, ".webp": "webp", ".gif": "gif"}

TIMEOUT = 300.0
"""Seconds that the renderer may take, on a machine that is busy with other things too."""


class Run:
    """The recording of a program, a cell or a region.

    A notebook shows its steps; `print` says how it ended.
    """

    def __init__(
        self,
        body: bytes,
        title: str,
        *,
        language: str = "en",
        height: int = page.FRAME_HEIGHT,
        again: str = "",
        whole_output: bool = False,
    ) -> None:
        """Raises ValueError for another language.

        body: the trace's JSON
        title: what was recorded, like "cell 3"
        language: "en" or "zh", of the picture and the findings
        height: the height of a notebook's output, in pixels
        again: the command that records it once more, with `{also}` for a module whose lines to follow
        whole_output: its output in a notebook contains a viewer of its own
        """
        if language not in LANGUAGES:
            raise ValueError(f"language: {' or '.join(LANGUAGES)}, not {language!r}")
        self.body, self.title, self.language, self.height = body, title, language, height
        self._again = again
        self.whole_output = whole_output
        self._html: tuple[notebook_cells.RunningCell | None, str] | None = None

    @classmethod
    def from_lines(
        cls, lines: Iterable[bytes], title: str, *, signal: int = 0, complete: bool = True, **options: Any
    ) -> "Run":
        """Make a run from the lines of an ended session. Raises ValueError if the lines are no trace.

        signal: the signal that ended its process before the last line was written
        complete: whether the last line says how it ended
        """
        data = list(lines)
        outcome = None
        if signal:
            outcome = Outcome(status="crashed", signal=signal, error=crash_error(signal, None))
        elif not complete:
            outcome = Outcome(status="crashed", error=Error(type="Exit", message=ENDED_ABRUPTLY_MESSAGE))
        cost = json.loads(data[-1]).get("cost") if data and outcome is None else None
        usage = Usage(wall_ms=cost["wall_ms"]) if cost else Usage()
        request = AssemblyRequest(job=Job(source=""), own_process=True, outcome=outcome, usage=usage)
        assembly = assemble_trace(request, b"".join(data))
        if assembly.rejected:
            raise ValueError(assembly.rejected)
        return cls(assembly.trace.json(), title, **options)

    @cached_property
    def trace(self) -> dict[str, Any]:
        """The trace, as its JSON Schema describes it (`/api/schema` on a server)."""
        trace: dict[str, Any] = json.loads(self.body)
        return trace

    def findings(self) -> list[Any]:
        """The findings, the best first, each with `kind`, `severity`, `line`, `what`, `why`, `todo` and `chain`.
        Another process computes them. Raises RuntimeError if it fails."""
        return list(self._findings)

    @cached_property
    def _findings(self) -> list[Any]:
        reply = render_in_subprocess(self.body, kind="findings", language=self.language)
        return [Finding.model_validate(value) for value in json.loads(reply)]

    def add_fixes(self, index: int, fixes: Sequence[Fix]) -> None:
        """Add to a finding the fixes that were tried and helped.

        index: of the finding in `findings`
        """
        self._findings[index] = self._findings[index].model_copy(update={"fixes": list(fixes)})

    def judged(self) -> JudgedRun:
        """The findings, and how the run ended, by which a change of the program is judged. Raises RuntimeError."""
        reply = render_in_subprocess(self.body, kind="summary", language=self.language)
        return JudgedRun(findings=self._findings, summary=OutcomeSummary.model_validate_json(reply))

    @cached_property
    def looked_for(self) -> LookedFor | None:
        """What was looked for, if the run has no error or warning among its findings; otherwise None. Raises
        RuntimeError."""
        if any(finding.severity != "note" for finding in self._findings):
            return None
        reply = render_in_subprocess(self.body, kind="looked_for", language=self.language)
        found = json.loads(reply)
        return None if found is None else LookedFor.model_validate(found)

    def prepare_findings(self) -> None:
        """Compute what `findings` and `explain` need. Raises RuntimeError."""
        _ = self.looked_for

    def explain(self, max_findings: int | None = None, *, names_options: bool = False, is_all: bool = True) -> str:
        """Explain the findings in words, with the lines of code behind them; if nothing is wrong, say what was looked
        for.

        max_findings: how many to explain, the best first; None for all
        names_options: name the options of `gradbox explain` for more expensive checks
        is_all: nothing else was found, such as ranks that differ
        """
        words = terminal.load_sentences(self.language)
        source = self.trace["program"]["source"].split("\n")
        parts = [
            "\n".join(terminal.finding_lines(finding, source, words, False, self.program_files(), self._again))
            for finding in self.findings()[:max_findings]
        ]
        looked_for = self.looked_for if is_all else None
        if looked_for is not None:
            if not names_options:
                looked_for = looked_for.model_copy(update={"flags": []})
            parts.append(f"{self.summary()} {terminal.looked_for_text(looked_for, words)}")
        return "\n\n".join(parts) or self.summary()

    def modules(self) -> list[ModuleRow]:
        """The modules that the run called, in the order of their first calls. Raises RuntimeError."""
        return list(self.tables.modules)

    def parameters(self) -> list[ParameterRow]:
        """The parameters and what became of each, the worst first. Raises RuntimeError."""
        return list(self.tables.parameters)

    @cached_property
    def tables(self) -> RunTables:
        """Both tables, with their totals. Raises RuntimeError."""
        return RunTables.model_validate_json(render_in_subprocess(self.body, kind="tables"))

    def tables_text(self, sort: str | None = None) -> str:
        """Return both tables as text. Raises RuntimeError.

        sort: one of `gradbox.terminal.table_text.SORT_COLUMNS`
        """
        words = terminal.load_sentences(self.language)
        lines = table_lines(sorted_tables(self.tables, sort), words, indented=sort not in MODULE_ORDERS)
        return "\n".join([self.summary(), "", *lines])

    def tables_html(self, sort: str | None = None) -> str:
        """Return both tables as HTML for a notebook. Raises RuntimeError.

        sort: as in `tables_text`
        """
        words = terminal.load_sentences(self.language)
        return run_tables_html(sorted_tables(self.tables, sort), words, indented=sort not in MODULE_ORDERS)

    def tables_csv(self, names: Sequence[TableName] = TABLE_NAMES, sort: str | None = None) -> str:
        """Return the tables as CSV. Raises RuntimeError."""
        return csv_text(sorted_tables(self.tables, sort), names)

    def pretty(self, colours: bool = False) -> str:
        """Return a report: how the run ended, its findings, and every step with its effects. Raises RuntimeError.

        colours: use a terminal's colours
        """
        reply = render_in_subprocess(self.body, kind="reading", language=self.language)
        reading = RunReading.model_validate_json(reply)
        words = terminal.load_sentences(self.language)
        source = self.trace["program"]["source"]
        lines = run_report_lines(self.title, reading, self.findings(), source, words, colours, self.program_files())
        return "\n".join(lines)

    def summary(self) -> str:
        """Say in a sentence how the run ended."""
        outcome, count = self.trace["outcome"], len(self.trace["steps"])
        steps = f"{count} step{'' if count == 1 else 's'}"
        error, stopped = outcome.get("error"), outcome.get("stopped")
        if outcome["status"] == "stopped" and stopped:
            end = f"recorded up to the limit {stopped['limit']} = {stopped['value']:,.10g}"
        elif error:
            end = unfinished_run_sentence(outcome) + (
                f" at {self._line_label(error['line'])}" if error.get("line") else ""
            )
        else:
            end = outcome["status"]
        return f"{self.title}: {steps}, {end}."

    def program_files(self) -> list[Any]:
        """The program's files, if its source has several."""
        return [ProgramFile.model_validate(value) for value in self.trace["program"].get("files", ())]

    def _line_label(self, line: int) -> str:
        """Return the label of a source line, with its file if there are several."""
        files = self.program_files()
        place: str = terminal.format_line_location(line, files)
        return place if files else f"line {place}"

    def page(self) -> str:
        """The picture as one HTML document that needs no network."""
        return page.offline_page(self.body, self._answers(), self.title, self.language)

    def _answers(self) -> bytes | None:
        """What an offline page says of the run; None if that takes too long."""
        try:
            return render_in_subprocess(self.body, kind="answers", language=self.language)
        except RuntimeError:
            return None

    def save(self, path: str | os.PathLike[str], *, step: int | None = None, theme: str = "light") -> Path:
        """Write the picture as one offline HTML file, the picture of a step as `.svg` or `.png`, or the trace as
        `.json`. Raises ValueError for another ending, OSError if the file can't be written, RuntimeError if the picture
        can't be drawn.

        step: from 0; None for the step that the page opens with
        theme: "light" or "dark", for a step's picture
        """
        target = Path(path)
        check_save_path(target)
        if target.suffix == ".json":
            target.write_bytes(self.body)
        elif target.suffix in (".html", ".htm"):
            document = page.offline_page(self.body, self._answers(), self.title, self.language, verdict=True)
            target.write_text(document, "utf-8")
        else:
            png = target.suffix == ".png"
            drawn = render_in_subprocess(
                self.body, kind="stage", step=step, theme=theme, language=self.language, title=self.title, png=png
            )
            target.write_bytes(drawn)
        return target

    def save_film(self, path: str | os.PathLike[str], *, theme: str = "light") -> Path:
        """Write a film from the cause of the run's first finding to its effect, as `.svg`, `.webp` or `.gif`.

        Raises ValueError for another ending, OSError if the file can't be written, and RuntimeError if the film can't
        be made; `.webp` and `.gif` need Pillow.
        """
        target = Path(path)
        if target.suffix not in FILM_SUFFIXES:
            raise ValueError(f"{target.name}: a name that ends with .svg, .webp or .gif is needed")
        moving = FILM_SUFFIXES[target.suffix]
        options = {"theme": theme, "language": self.language, "title": self.title}
        target.write_bytes(render_in_subprocess(self.body, kind="film", moving=moving, **options))
        return target

    def save_card(self, path: str | os.PathLike[str], *, theme: str = "light") -> Path:
        """Write the preview picture of a link to the run, which shows its first finding, as `.svg` or `.png`.

        Raises ValueError for another ending, OSError if the file can't be written, RuntimeError if it can't be drawn.
        """
        target = Path(path)
        if target.suffix not in (".svg", ".png"):
            raise ValueError(f"{target.name}: a name that ends with .svg or .png is needed")
        options = {"theme": theme, "language": self.language, "title": self.title}
        target.write_bytes(render_in_subprocess(self.body, kind="card", png=target.suffix == ".png", **options))
        return target

    def markdown(self) -> str:
        """Return the first finding as Markdown for a forum: its headline, its two lines, what to do. Raises
        RuntimeError."""
        return render_in_subprocess(self.body, kind="markdown", language=self.language, title=self.title).decode()

    def __repr__(self) -> str:
        return f"<gradbox.Run {self.summary()}>"

    def _repr_html_(self) -> str:
        cell = notebook_cells.running_cell()
        if self._html is None or self._html[0] != cell:  # a run that is shown twice in a cell has one output
            self._html = cell, self._notebook_output()
        return self._html[1]

    def _notebook_output(self) -> str:
        viewer = page.viewer_id(self.language)
        if self.whole_output:
            viewer_cells.register_viewer_cell(viewer)
            carrier = None
        else:
            carrier = viewer_cells.cell_with_viewer(viewer)
        number = None if carrier is None else carrier.number
        trace, title = self.trace_and_title_for_notebook()
        return page.notebook_frame(trace, title, self.summary(), self.language, self.height, number)

    def trace_and_title_for_notebook(self) -> tuple[bytes, str]:
        """Return the trace for a notebook's output, and its title. Only a run that raised keeps all of its steps."""
        if self.trace["outcome"].get("error") is not None:
            return self.body, self.title
        trace, count = shorten_trace(self.body)
        if count == len(self.trace["steps"]):
            return self.body, self.title
        note = page.SHORTENED_NOTES[self.language]
        return trace, note.substitute(title=self.title, count=f"{count:,}", all=f"{len(self.trace['steps']):,}")

    def _repr_mimebundle_(self, include: Container[str] | None = None, exclude: Container[str] | None = None) -> Any:
        """Return what Jupyter shows: the picture, or a sentence where HTML can't be shown."""
        bundle = {"text/plain": repr(self), "text/html": self._repr_html_()}
        return {
            kind: text
            for kind, text in bundle.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }

    def _mime_(self) -> tuple[str, str]:
        """Return what marimo shows."""
        return "text/html", self._repr_html_()


def check_save_path(path: Path) -> None:
    """Check that `Run.save` can write to this path. Raises ValueError for another ending, FileNotFoundError if the
    folder is missing."""
    if path.suffix not in FILE_SUFFIXES:
        raise ValueError(f"{path.name}: a name that ends with .html, .svg, .png or .json is needed")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder", str(path.parent))


def unfinished_run_sentence(outcome: dict[str, Any]) -> str:
    """Say how an unfinished run ended, without the place."""
    error = outcome["error"]
    if outcome["status"] == "crashed":
        message: str = error["message"]
        return message
    if outcome["status"] == "refused":
        return f"not run, {error['type']}"
    return "sys.exit" if error["type"] == "SystemExit" else f"{outcome['status']} {error['type']}"


def render_in_subprocess(trace: bytes, **fields: Any) -> bytes:
    """Have the page's own code render a trace, in a separate process with V8. Raises RuntimeError.

    fields: fields of `DrawRequest`
    """
    packed = gzip.compress(trace, 1)
    request = DrawRequest(size=len(packed), seconds=TIMEOUT, **fields).model_dump_json().encode()
    inherited = os.environ.get("PYTHONPATH")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(PACKAGE_FOLDER.parent), *([inherited] if inherited else [])])
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", RENDERER_MODULE], input=request + b"\n" + packed, capture_output=True,
            timeout=TIMEOUT, env=environment, cwd=PACKAGE_FOLDER.parent, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"it took more than {TIMEOUT:.0f} seconds") from None
    _, _, rest = done.stdout.partition(b"\n")  # the first line says that it has started
    head, _, body = rest.partition(b"\n")
    if not head:
        raise RuntimeError(
            done.stderr.decode(errors="replace").strip() or "the process that explains ended without a word"
        )
    reply = DrawReply.model_validate_json(head)
    if reply.failed is not None:
        raise RuntimeError(reply.failed)
    if reply.steps is not None:
        raise RuntimeError(f"there is no such step: the run has {reply.steps}, counted from 0")
    return bytes(body[: reply.size])
