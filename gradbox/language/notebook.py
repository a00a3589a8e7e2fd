"""A pasted Jupyter notebook, which is a JSON document: the code of its cells, and what they printed."""

import json
from typing import Any

from gradbox.language.text import Line
from gradbox.language.transcript import TranscriptBuilder
from gradbox.wire.program import Notice

_MAX_OUTPUT = 20_000
"""Characters of one cell's output that are kept."""

_MAX_SEARCHED = 200_000
"""Lines that are looked at for where the lines of code come from, each as often as it is."""


def cells_of(text: str) -> list[dict[str, Any]] | None:
    """The cells of a notebook; None where the text is none."""
    if not text.lstrip().startswith("{") or '"cells"' not in text:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    cells = document.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) and "cell_type" in cell for cell in cells):
        return None
    return cells


def strip_notebook(text: str, notices: list[Notice]) -> list[Line] | None:
    """The code cells of a notebook as lines, with a notice for what each printed; None where the text is none."""
    cells = cells_of(text)
    if cells is None:
        return None
    session = TranscriptBuilder(notices, cell=True)
    origins = _OriginFinder(text)
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    for cell in codes:
        lines = [Line(line, origins.find(line)) for line in as_text(cell.get("source")).rstrip().split("\n")]
        for number, line in enumerate(lines):
            session.add_code(line.text, line, continues=number > 0)
        if all(line.origin is not None or line.blank for line in lines):
            for output in as_list(cell.get("outputs")):
                for text_line in output_text(output).split("\n"):
                    session.add_output(Line(text_line, lines[-1].origin))
    session.flush()
    notices.append(Notice(line=None, kind="notebook", args={"n": len(codes)}))
    return session.code_lines or [Line("", None)]


def as_list(value: Any) -> list[Any]:
    """The value, where it is a list; else nothing."""
    return value if isinstance(value, list) else []


def as_text(text: Any) -> str:
    """A text that a notebook holds as one string or as a list of lines."""
    if isinstance(text, list):
        text = "".join(part for part in text if isinstance(part, str))
    return text.replace("\r\n", "\n").replace("\r", "\n") if isinstance(text, str) else ""


def output_text(output: Any) -> str:
    """The text of an output: what was printed, or the value that a cell ended with."""
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "stream" and output.get("name") == "stdout":
        return as_text(output.get("text"))[:_MAX_OUTPUT].rstrip("\n")
    data = output.get("data")
    if output.get("output_type") == "execute_result" and isinstance(data, dict):
        return as_text(data.get("text/plain"))[:_MAX_OUTPUT]
    return ""


class _OriginFinder:
    """Finds the pasted line that a line of code comes from."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._last = 1 if len(self._lines) > 1 else None
        self._left = _MAX_SEARCHED

    def find(self, line: str) -> int | None:
        """The next pasted line that holds it as JSON; None for a blank one, and where none does."""
        if self._last is None or not line.strip() or self._left < 0:
            return None
        forms = {json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]}
        for at in range(self._last, len(self._lines)):
            self._left -= 1
            if any(form in self._lines[at] for form in forms):
                self._last = at + 1
                return self._last
        return None
