"""Pasted sessions: transcripts of an interpreter or a notebook, whose prompts are removed, and notebooks as JSON, whose
cells are joined.

Their printed output becomes notices.
"""

import ast
import json
import re
from typing import Any

from gradbox.language.program_lines import ProgramLine, QuoteScan, try_parse_lines
from gradbox.wire.program import Edit, Notice, Repair

_PROMPT_PATTERN = re.compile(r"\s*(?:(>>>)[ \t]*|(\.\.\.)(?: |\t|$))")
_CELL_PATTERN = re.compile(r"\s*In ?\[[\d* ]*\]: ?")
_CONTINUATION_PATTERN = re.compile(r"\s*\.\.\.+: ?")
_RESULT_PATTERN = re.compile(r"\s*Out ?\[[\d* ]*\]:")
_FRAME_PATTERN = re.compile(r'\s*File ".*", line \d+')


class TranscriptBuilder:
    """Collects statements, and for each the output that follows it.

    cell: it is a notebook, which displays only the last value of a cell
    """

    def __init__(self, notices: list[Notice], cell: bool = False) -> None:
        self.code_lines: list[ProgramLine] = []
        self._notices, self._is_cell = notices, cell
        self._printed: list[ProgramLine] = []
        self._may_print = False  # what the last statement printed may look like anything
        self._first_origin: int | None = None
        self._margin = ""
        self._after_left_out = False  # what printed it is no statement of the program

    def add_code(self, text: str, line: ProgramLine, continues: bool = False) -> None:
        """Add a line of code.

        text: without its prompt
        line: as pasted
        continues: whether it continues the code before it
        """
        self.add_printed_notice()
        if not continues:
            self._first_origin = line.origin
            self._margin = indentation(line.text)
        self.code_lines.append(ProgramLine(text, line.origin))
        self._after_left_out = continues and self._after_left_out
        self._may_print = (continues and self._may_print) or "print" in text

    def add_output(self, line: ProgramLine) -> None:
        if self._looks_like_code(line):
            self._add_left_out_notice(line)
        elif self._printed or not line.is_blank:
            self._printed.append(line)

    def add_printed_notice(self) -> None:
        """Add a notice with all that the last statement printed."""
        while self._printed and self._printed[-1].is_blank:
            self._printed.pop()
        if self._printed:
            at = self.code_lines[-1].origin if self.code_lines else self._printed[0].origin
            text = "\n".join(line.text.removeprefix(self._margin) for line in self._printed)
            args: dict[str, object] = {"text": text}
            if self.code_lines:
                args["from"] = self._first_origin
            if self._is_cell:
                args["cell"] = True
            if self._after_left_out:
                args["orphan"] = True
            self._notices.append(Notice(line=at, kind="printed", args=args))
        self._printed.clear()

    def finish_code_lines(self) -> list[ProgramLine]:
        self.add_printed_notice()
        self._notices.append(Notice(line=self.code_lines[0].origin if self.code_lines else None, kind="prompts"))
        return self.code_lines

    def _looks_like_code(self, line: ProgramLine) -> bool:
        """Whether the line is not output of an interpreter: it contains a prompt, or is a statement with an effect."""
        if ">>>" in line.text:
            return True
        if (
            self._may_print
            or line.is_blank
            or line.is_comment
            or (self._printed and _FRAME_PATTERN.match(self._printed[-1].text))
        ):
            return False
        if self._printed and self._printed[0].text.startswith("torch.return_types."):
            return False  # it prints `values=tensor(…),`
        tree = try_parse_lines([ProgramLine(line.text.strip(), None)])
        return tree is not None and not isinstance(tree.body[0], ast.Expr | ast.AnnAssign | ast.Pass)

    def _add_left_out_notice(self, line: ProgramLine) -> None:
        """Add a notice for a line that is left out. The repair joins pieces of one statement, like `c>>> .zero_()`."""
        self.add_printed_notice()
        self._after_left_out = True
        text = line.text.strip()
        before, prompt, after = text.partition(">>>")
        repair = before.rstrip() + after.lstrip() if prompt else text
        edit = Edit(line=line.origin or 1, col=0, end_line=line.origin or 1, end_col=len(line.text),
                    text=f"{indentation(line.text)}{'In [ ]:' if self._is_cell else '>>>'} {repair}")  # fmt: skip
        args = {"text": text, "repair": repair}
        repairs = [Repair(key="prompt", args=args, pasted=[edit])]
        self._notices.append(Notice(line=line.origin, kind="left_out", args=args, repairs=repairs))


def strip_prompts(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """The program in a transcript with `>>>`. Continuation lines may lack their `...`, as in IDLE."""
    scan = QuoteScan(lines)
    prompts = [_PROMPT_PATTERN.match(line.text) for line in lines]
    if not any(prompt and prompt[1] and len(scan.opened_before[k]) < 3 for k, prompt in enumerate(prompts)):
        return lines
    session = TranscriptBuilder(notices)
    statement = block = False  # right after a prompt; inside of what a colon opened
    depth = 0
    for line, prompt in zip(lines, prompts, strict=True):
        if prompt is not None and (prompt[1] or statement):
            text = line.text[prompt.end() :]
            depth = max(
                0, (0 if prompt[1] else depth) + QuoteScan([ProgramLine(text, None)]).depth - unmatched_closings(text)
            )
            block = opens_block(text) or bool(block and prompt[2])
            session.add_code(text, line, continues=bool(prompt[2]))
            statement = True
        elif statement and not line.is_blank and (depth or (block and line.text[0] in " \t") or line.is_comment):
            session.add_code(line.text.strip() if line.is_comment else line.text, line, continues=True)
            depth = max(0, depth + QuoteScan([line]).depth - unmatched_closings(line.text))
        else:
            statement = False
            session.add_output(line)
    return session.finish_code_lines()


def indentation(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def opens_block(text: str) -> bool:
    return text.partition("#")[0].rstrip().endswith(":")


def unmatched_closings(text: str) -> int:
    """The number of brackets that a line closes without having opened them."""
    depth = least = 0
    for character in text.partition("#")[0]:
        depth += (character in "([{") - (character in ")]}")
        least = min(least, depth)
    return -least


def strip_cell_prompts(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """The program in the cells of a notebook. Code beside `In [3]:` continues with `...:`; code below an empty prompt
    continues up to the next prompt."""
    if not any(_CELL_PATTERN.match(line.text) for line in lines):
        return lines
    session = TranscriptBuilder(notices, cell=True)
    after_code = after_empty_prompt = False
    for line in lines:
        cell, more = _CELL_PATTERN.match(line.text), _CONTINUATION_PATTERN.match(line.text)
        if cell is not None:
            text = line.text[cell.end() :]
            after_code, after_empty_prompt = bool(text.strip()), not text.strip()
            session.add_code(text, line)
        elif after_code and more is not None:
            session.add_code(line.text[more.end() :], line, continues=True)
        elif after_empty_prompt and not _RESULT_PATTERN.match(line.text):
            session.add_code(line.text, line, continues=True)
        else:
            after_empty_prompt = False
            after_code = after_code and line.is_blank
            session.add_output(line)
    return session.finish_code_lines()


_MAX_OUTPUT = 20_000
"""Characters of one cell's output that are kept."""

_MAX_SEARCHED = 200_000
"""Pasted lines that are searched for the origins of code lines, counting each search."""


def notebook_cells(text: str) -> list[dict[str, Any]] | None:
    """The cells of a notebook; None if the text is not a notebook."""
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


def notebook_code_lines(text: str, notices: list[Notice]) -> list[ProgramLine] | None:
    """The code cells of a notebook as lines, with a notice for each printed output; None if the text is not a
    notebook."""
    cells = notebook_cells(text)
    if cells is None:
        return None
    session = TranscriptBuilder(notices, cell=True)
    origins = _PastedLineFinder(text)
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    for cell in codes:
        lines = [
            ProgramLine(line, origins.find_next(line))
            for line in join_notebook_text(cell.get("source")).rstrip().split("\n")
        ]
        for number, line in enumerate(lines):
            session.add_code(line.text, line, continues=number > 0)
        if all(line.origin is not None or line.is_blank for line in lines):
            for output in list_or_empty(cell.get("outputs")):
                for text_line in cell_output_text(output).split("\n"):
                    session.add_output(ProgramLine(text_line, lines[-1].origin))
    session.add_printed_notice()
    notices.append(Notice(line=None, kind="notebook", args={"n": len(codes)}))
    return session.code_lines or [ProgramLine("", None)]


def list_or_empty(value: Any) -> list[Any]:
    """The value if it is a list; else an empty list."""
    return value if isinstance(value, list) else []


def join_notebook_text(text: Any) -> str:
    """A text that a notebook stores as a string or as a list of lines."""
    if isinstance(text, list):
        text = "".join(part for part in text if isinstance(part, str))
    return text.replace("\r\n", "\n").replace("\r", "\n") if isinstance(text, str) else ""


def cell_output_text(output: Any) -> str:
    """The text of an output: printed text, or the value with which a cell ended."""
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "stream" and output.get("name") == "stdout":
        return join_notebook_text(output.get("text"))[:_MAX_OUTPUT].rstrip("\n")
    data = output.get("data")
    if output.get("output_type") == "execute_result" and isinstance(data, dict):
        return join_notebook_text(data.get("text/plain"))[:_MAX_OUTPUT]
    return ""


class _PastedLineFinder:
    """Finds the pasted line that a line of code comes from."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._last = 1 if len(self._lines) > 1 else None
        self._left = _MAX_SEARCHED

    def find_next(self, line: str) -> int | None:
        """The next pasted line that contains this line as JSON; None for a blank line, and if there is none."""
        if self._last is None or not line.strip() or self._left < 0:
            return None
        forms = {json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]}
        for at in range(self._last, len(self._lines)):
            self._left -= 1
            if any(form in self._lines[at] for form in forms):
                self._last = at + 1
                return self._last
        return None
