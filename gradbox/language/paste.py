"""Makes a program of pasted text: removes fences with indentation, transcript prompts, notebook cells, exotic blanks,
HTML and diffs.

Text that is a Python program already stays unchanged, except for a missing import. Everything changed or left out is
reported as a notice; nothing is guessed. A program with a mistake is left to the parser; other text, such as an error
message or a question, is reported as what it is (`gradbox/language/pasted_kind.py`).
"""

import ast
import itertools
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from gradbox.language.expected_output import expected_output_notices
from gradbox.language.names import KNOWN_IMPORTS, bound_names, import_insertion_line, missing_imports
from gradbox.language.pasted_kind import refusal_of_text_without_program
from gradbox.language.pasted_surroundings import (
    apply_pasted_diff,
    expand_mixed_tabs,
    extract_program_from_html,
    extract_program_from_shell_command,
    strip_quotation,
    strip_surrounding_text,
)
from gradbox.language.program_lines import ProgramLine, QuoteScan, split_lines, try_parse_lines
from gradbox.language.transcript import notebook_code_lines, strip_cell_prompts, strip_prompts
from gradbox.language.tree import SyntaxNodes
from gradbox.wire.program import Edit, Notice, Refusal, Repair

SPACE_CHARACTERS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
HIDDEN_CHARACTERS = "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufffe"
DIRECTION_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
NOTICE_KIND_BY_CHARACTER = {
    **dict.fromkeys(SPACE_CHARACTERS, "blanks"),
    **dict.fromkeys(HIDDEN_CHARACTERS, "hidden"),
    **dict.fromkeys(DIRECTION_CONTROLS, "turning"),
}

MAX_NOTICES = 200
"""Notices of one kind. The last one tells in `more` how many were left out."""

_FENCE_PATTERN = re.compile(r"\s*(`{3,}|~{3,})\s*([\w+-]*)")
_LINE_NUMBER_PATTERN = re.compile(r"\s*(\d{1,6})(?:\s?[.:|)])?(?: |\t|$)")
_MAGIC_PATTERN = re.compile(r"\s*(?:[%!]|\$ )")
_PYTHON_FENCES = ("python", "py", "python3", "py3", "pycon", "ipython", "pytorch", "torch")


@dataclass
class PastedProgram:
    """The program: `lines[k]` is the pasted line that line k+1 of `source` came from, None if it was added.

    nodes: the syntax tree of the source, if it was parsed already
    other: why text that is not a program is not run; its lines are then the source, unchanged
    """

    source: str
    lines: list[int | None]
    notices: list[Notice] = field(default_factory=list)
    nodes: SyntaxNodes | None = field(default=None, compare=False, repr=False)
    other: Refusal | None = None


def normalise_pasted_text(text: str) -> PastedProgram:
    """The program in a pasted text. Never raises."""
    notices: list[Notice] = []
    notebook = notebook_code_lines(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), notices)
    lines = _clean_characters(split_lines(text) if notebook is None else notebook, notices)
    tree = parse_program(lines)
    if tree is None:
        for change in (
            extract_program_from_html,
            apply_pasted_diff,
            strip_quotation,
            extract_program_from_shell_command,
            _strip_fences,
            _strip_line_numbers,
            strip_prompts,
            strip_cell_prompts,
            _strip_magic,
            _remove_shared_indentation,
            expand_mixed_tabs,
            strip_surrounding_text,
        ):
            changed = change(lines, notices)
            if changed is not lines:
                lines = changed
                if parse_program(lines) is not None:
                    break
        lines = lines or [ProgramLine("", None)]
        tree = try_parse_lines(lines)
    if notebook is None:
        original = split_lines(text)
        whole = "\n".join(line.text for line in original).encode("utf-8", "replace").decode()
        other = refusal_of_text_without_program(whole, lines, tree)
        if other is not None:
            return PastedProgram(whole, [line.origin for line in original], other=other)
    if tree is not None and not tree.body:
        notices.append(Notice(line=None, kind="empty"))
    nodes, at = None, 0
    added: list[ProgramLine] = []
    if tree is not None:
        nodes = SyntaxNodes(tree)
        notices += _expected_output_notices(lines, tree)
        notices += _notices_where_nothing_runs(tree)
        at, added = _add_missing_imports(lines, nodes)
    notices = _move_notices_to_program_lines(lines, notices)
    notices += [Notice(line=at + k + 1, kind="import", args={"text": line.text}) for k, line in enumerate(added)]
    notices.sort(key=lambda notice: notice.line or 0)
    return PastedProgram(
        "\n".join(line.text for line in lines),
        [line.origin for line in lines],
        _cap_notices_of_each_kind(notices),
        None if added else nodes,
    )


def _notices_where_nothing_runs(tree: ast.Module) -> list[Notice]:
    """A notice if a program only imports, or only defines what nothing calls."""
    defined = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    others = [node for node in tree.body if node not in defined and not isinstance(node, ast.Import | ast.ImportFrom)]
    if not tree.body or any(
        not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant) for node in others
    ):
        return []
    if not defined:
        return [Notice(line=tree.body[-1].lineno, kind="imports")] if len(others) < len(tree.body) else []
    last = next((node for node in reversed(defined) if isinstance(node, ast.ClassDef)), defined[-1])
    return [Notice(line=last.lineno, kind="uncalled", args={"name": last.name})]


def parse_program(lines: list[ProgramLine]) -> ast.Module | None:
    """The syntax tree if Python accepts the lines as they are. (It would accept `In [3]: x = 1` as an annotation, which
    is excluded.)"""
    tree = try_parse_lines(lines)
    if tree is None:
        return None
    targets = [node.target for node in tree.body if isinstance(node, ast.AnnAssign)]
    cell = any(
        isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in ("In", "Out")
        for node in targets[:9]
    )
    return tree if not cell or bound_names(SyntaxNodes(tree)) & {"In", "Out"} else None


def _move_notices_to_program_lines(lines: list[ProgramLine], notices: list[Notice]) -> list[Notice]:
    """The notices with program lines instead of pasted lines: the line itself or the last one before it, None before
    the first."""
    numbered = [(line.origin, k) for k, line in enumerate(lines, 1) if line.origin is not None]
    origins = [origin for origin, _ in numbered]
    out = []
    for notice in notices:
        at = bisect_right(origins, notice.line) if notice.line is not None else 0
        if notice.kind in NOTICE_KIND_BY_CHARACTER.values() and (not at or origins[at - 1] != notice.line):
            continue  # of a line that is not in the program
        changed: dict[str, Any] = {"line": numbered[at - 1][1] if at else None}
        if "from" in notice.args:
            changed["args"] = {
                **notice.args,
                "from": numbered[max(bisect_right(origins, notice.args["from"]), 1) - 1][1],
            }
        if notice.repairs:
            changed["repairs"] = [with_line_insertion(repair, lines, changed["line"]) for repair in notice.repairs]
        out.append(notice.model_copy(update=changed))
    return out


def with_line_insertion(repair: Repair, lines: list[ProgramLine], line: int | None) -> Repair:
    """A repair with an edit that inserts the line into the program, after this one or at the beginning."""
    text = repair.args["repair"]
    at = len(lines[line - 1].text) if line else 0
    edit = Edit(line=line or 1, col=at, end_line=line or 1, end_col=at, text=f"\n{text}" if line else f"{text}\n")
    return repair.model_copy(update={"edits": [edit]})


def _cap_notices_of_each_kind(notices: list[Notice]) -> list[Notice]:
    counts: Counter[str] = Counter()
    last: dict[str, Notice] = {}
    out = []
    for notice in notices:
        counts[notice.kind] += 1
        if counts[notice.kind] <= MAX_NOTICES:
            out.append(notice)
            last[notice.kind] = notice
    for kind, count in counts.items():
        if count > MAX_NOTICES:
            last[kind].args = {**last[kind].args, "more": count - MAX_NOTICES}
    return out


def _clean_characters(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Replace blanks that Python does not accept, outside of strings; report invisible characters."""
    if all(line.text.isascii() for line in lines):
        return lines
    scan = QuoteScan(lines)
    out = []
    for k, line in enumerate(lines):
        if line.text.isascii():
            out.append(line)
            continue
        text = line.text.encode("utf-8", "replace").decode()  # half of a character can't be in a program
        kinds = {"hidden"} if text != line.text else set()
        marks = [
            (at, NOTICE_KIND_BY_CHARACTER[character])
            for at, character in enumerate(text)
            if character in NOTICE_KIND_BY_CHARACTER
        ]
        pieces, end = [], 0
        for at, kind in marks:
            inside = scan.is_quoted(k, at)
            if not inside or kind != "blanks":
                kinds.add(kind)
            if not inside:
                pieces += [text[end:at], " " * (kind == "blanks")]
                end = at + 1
        out.append(ProgramLine("".join([*pieces, text[end:]]), line.origin))
        notices.extend(Notice(line=line.origin, kind=kind) for kind in sorted(kinds))
    return out


def _strip_fences(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Extract from Markdown what is between its fences: those marked as Python, if there are any."""
    opened_before = QuoteScan(lines).opened_before
    blocks: list[tuple[str, list[ProgramLine]]] = []
    mark, first = "", None
    for line, begin in zip(lines, opened_before, strict=True):
        match = _FENCE_PATTERN.match(line.text)
        if not mark:
            if match is not None and len(begin) < 3:
                mark, first = match[1], first or line
                blocks.append((match[2].lower(), []))
        elif match is not None and match[1].startswith(mark) and not match[2]:
            mark = ""
        else:
            blocks[-1][1].append(line)
    if first is None:
        return lines
    python = [block for language, block in blocks if language in _PYTHON_FENCES]
    plain = [block for language, block in blocks if not language]
    notices.append(Notice(line=first.origin, kind="fences"))
    return [line for block in python or plain or [block for _, block in blocks] for line in dedent_lines(block)]


def _strip_line_numbers(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Remove the line numbers of a printed listing in which every line has one and they count up by one."""
    matches = [(k, _LINE_NUMBER_PATTERN.match(line.text)) for k, line in enumerate(lines) if not line.is_blank]
    numbers = [(k, int(match[1])) for k, match in matches if match is not None]
    if len(numbers) < 2 or len(numbers) < len(matches):
        return lines
    if any(n - m not in (1, k - j) or n <= m for (j, m), (k, n) in itertools.pairwise(numbers)):
        return lines
    ends = {k: match.end() for k, match in matches if match is not None}
    notices.append(Notice(line=lines[0].origin, kind="listing"))
    return [ProgramLine(line.text[ends.get(k, 0) :], line.origin) for k, line in enumerate(lines)]


def _strip_magic(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Remove lines for the notebook or the shell: `%matplotlib inline`, `!pip install torch`."""
    opened_before = QuoteScan(lines).opened_before
    magic = {k for k, line in enumerate(lines) if not opened_before[k] and _MAGIC_PATTERN.match(line.text)}
    if not magic:
        return lines
    for k in sorted(magic):
        notices.append(Notice(line=lines[k].origin, kind="magic", args={"text": lines[k].text.strip()}))
    return [ProgramLine("", line.origin) if k in magic else line for k, line in enumerate(lines)]


def _remove_shared_indentation(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Remove the indentation that all lines share. The first line may have lost its own when it was copied."""
    out = dedent_lines(lines)
    if out is lines:
        out = [*lines[:1], *dedent_lines(lines[1:])]
        if try_parse_lines(out) is None:
            return lines
    notices.append(Notice(line=next((line.origin for line in lines if not line.is_blank), None), kind="indentation"))
    return out


def dedent_lines(lines: list[ProgramLine]) -> list[ProgramLine]:
    """The lines without the blanks that all begin with, except for comments and the insides of strings."""
    opened_before = QuoteScan(lines).opened_before
    margins = [
        line.text[: len(line.text) - len(line.text.lstrip(" \t"))]
        for line, begin in zip(lines, opened_before, strict=True)
        if not line.is_blank and not line.is_comment and len(begin) < 3
    ]
    shared = common_prefix(min(margins, default=""), max(margins, default=""))
    if not shared:
        return lines
    return [
        ProgramLine(line.text.lstrip(" \t") if line.is_comment and not line.text.startswith(shared) and len(begin) < 3
             else line.text.removeprefix(shared), line.origin)
        for line, begin in zip(lines, opened_before, strict=True)
    ]  # fmt: skip


def common_prefix(first: str, second: str) -> str:
    """The common prefix of two texts."""
    return "".join(a for a, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _expected_output_notices(lines: list[ProgramLine], tree: ast.Module) -> list[Notice]:
    """Notices about what comments say is printed, at lines of the pasted text."""
    out = []
    for notice in expected_output_notices([line.text for line in lines], tree):
        last, first = lines[(notice.line or 1) - 1].origin, lines[notice.args["from"] - 1].origin
        out.append(notice.model_copy(update={"line": last, "args": {**notice.args, "from": first}}))
    return out


def _add_missing_imports(lines: list[ProgramLine], nodes: SyntaxNodes) -> tuple[int, list[ProgramLine]]:
    """Insert the missing imports. Returns where, from 0, and which."""
    at = import_insertion_line(nodes.tree)
    added = [ProgramLine(KNOWN_IMPORTS[name], None) for name in missing_imports(nodes)]
    lines[at:at] = added
    return at, added
