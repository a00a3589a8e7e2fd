"""What people paste, made into a program: indented fences, transcripts, notebook cells, exotic blanks.

Whatever already is a Python program stays as it is, but for an import that it forgot. Everything changed or left out
is a notice; nothing is guessed, and what still is no program is left for the parser to complain about.
"""

import ast
import builtins
import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from server.wire.trace import Notice

BLANKS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"

FORGOTTEN = {
    "torch": "import torch",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    "copy": "import copy",
    "math": "import math",
}
"""Names that articles use without their import; added only where the name is used like a module, `nn.Linear`."""

_PROMPT = re.compile(r"\s*(>>>|\.\.\.)( |$)")
_FIRST = re.compile(r"\s*>>>( |$)")
_CELL = re.compile(r"\s*In \[[\d* ]*\]: ?")
_MORE = re.compile(r"\s*\.\.\.+: ?")
_RESULT = re.compile(r"\s*Out\[[\d* ]*\]:")
_FENCE = re.compile(r"\s*(```|~~~)")
_LISTING = re.compile(r"\s*(\d+)[.:|]?(?: |\t|$)")
_MAGIC = re.compile(r"\s*[%!]")


@dataclass
class Line:
    """A line of the program and the pasted line, from 1, that it came from; None for one that was added."""

    text: str
    origin: int | None


@dataclass
class Pasted:
    """The program: `lines[k]` is the pasted line that line k+1 of `source` came from."""

    source: str
    lines: list[int | None]
    notices: list[Notice] = field(default_factory=list)


def normalise(text: str) -> Pasted:
    """The program in a pasted text. Never raises."""
    text = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    notices: list[Notice] = []
    lines = [Line(line, k + 1) for k, line in enumerate(_newlines(text).split("\n"))]
    _characters(lines, notices)
    if not parses(lines):
        for change in (_fences, _listing, _transcript, _cells, _magic, _dedent):
            changed = change(lines, notices)
            if changed is not lines:
                lines = changed
                if parses(lines):
                    break
    added = _imports(lines)
    notices = [notice.model_copy(update={"line": placed(lines, notice.line)}) for notice in notices]
    notices += [Notice(line=k + 1, kind="import", args={"text": lines[k].text}) for k in added]
    notices.sort(key=lambda notice: notice.line or 0)
    return Pasted("\n".join(line.text for line in lines), [line.origin for line in lines], notices)


def placed(lines: list[Line], origin: int | None) -> int | None:
    """The line of the program that a pasted line became, or the last one before it; None for an empty program."""
    if origin is None or not lines:
        return None
    before = [k for k, line in enumerate(lines, 1) if line.origin is not None and line.origin <= origin]
    return before[-1] if before else 1


def parses(lines: Iterable[Line]) -> ast.Module | None:
    try:
        return ast.parse("\n".join(line.text for line in lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _newlines(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _characters(lines: list[Line], notices: list[Notice]) -> None:
    """Blanks that Python does not take become plain ones, outside of strings; what can't be seen is pointed out."""
    if all(line.text.isascii() for line in lines):
        return
    inside = _quoted(lines)
    for number, line in enumerate(lines, 1):
        if line.text.isascii():
            continue
        kinds, out = set(), []
        for at, character in enumerate(line.text):
            kept = character
            if character in TURNING:
                kinds.add("turning")
                kept = character if inside(number, at) else ""
            elif character in HIDDEN:
                kinds.add("hidden")
                kept = character if inside(number, at) else ""
            elif character in BLANKS and not inside(number, at):
                kinds.add("blanks")
                kept = " "
            out.append(kept)
        line.text = "".join(out)
        notices.extend(Notice(line=line.origin, kind=kind) for kind in sorted(kinds))


def _quoted(lines: list[Line]) -> Callable[[int, int], bool]:
    """Tells whether a place (line from 1, column) lies in a string or a comment, by one walk over the text."""
    masks = {number: bytearray(len(line.text)) for number, line in enumerate(lines, 1) if not line.text.isascii()}

    def mark(number: int, begin: int, end: int) -> None:
        if number in masks:
            masks[number][begin:end] = b"\1" * (min(end, len(masks[number])) - begin)

    quote = ""
    for number, line in enumerate(lines, 1):
        text, at, start = line.text, 0, 0
        if len(quote) == 1:
            quote = ""
        while at < len(text):
            if quote:
                if text[at] == "\\":
                    at += 2
                elif text.startswith(quote, at):
                    at += len(quote)
                    mark(number, start, at)
                    quote = ""
                else:
                    at += 1
            elif text[at] == "#":
                mark(number, at, len(text))
                at = len(text)
            elif text[at] in "'\"":
                start, quote = at, text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
                at += len(quote)
            else:
                at += 1
        if len(quote) == 3:
            mark(number, start, len(text))
    return lambda number, at: bool(masks[number][at])


def _fences(lines: list[Line], notices: list[Notice]) -> list[Line]:
    """Of a Markdown text, what stands between its fences."""
    marks = [k for k, line in enumerate(lines) if _FENCE.match(line.text)]
    if not marks:
        return lines
    out: list[Line] = []
    for begin, end in zip(marks[::2], [*marks[1::2], len(lines)] if len(marks) % 2 else marks[1::2], strict=True):
        out += lines[begin + 1 : end]
    notices.append(Notice(line=lines[marks[0]].origin, kind="fences"))
    return out


def _listing(lines: list[Line], notices: list[Notice]) -> list[Line]:
    """Line numbers of a printed listing, where every line has one and they count up by one."""
    found = [(line, _LISTING.match(line.text)) for line in lines]
    numbers = [int(match[1]) for line, match in found if match is not None and len(match[1]) < 7]
    if len(numbers) < 2 or any(match is None and line.text.strip() for line, match in found):
        return lines
    if any(b - a != 1 for a, b in itertools.pairwise(numbers)):
        return lines
    notices.append(Notice(line=lines[0].origin, kind="listing"))
    return [Line(line.text[match.end() :] if match else "", line.origin) for line, match in found]


def _transcript(lines: list[Line], notices: list[Notice]) -> list[Line]:
    """The statements of an interpreter session; what it printed is kept in notices, to lay beside our own."""
    if not any(_FIRST.match(line.text) for line in lines):
        return lines
    out: list[Line] = []
    printed: list[Line] = []
    statement = False
    for line in lines:
        prompt = _PROMPT.match(line.text)
        if prompt is not None and (statement or prompt[1] == ">>>"):
            _printed(printed, out, notices)
            out.append(Line(line.text[prompt.end() :], line.origin))
            statement = True
        elif not line.text.strip():
            statement = False
            printed.append(line)
        elif out and statement and line.text.strip().startswith("#"):
            out.append(Line(line.text.strip(), line.origin))
        else:
            statement = False
            _left_out(line, notices) if odd(line.text) else printed.append(line)
    _printed(printed, out, notices)
    notices.append(Notice(line=next((line.origin for line in out), None), kind="prompts"))
    return out


def _printed(printed: list[Line], out: list[Line], notices: list[Notice]) -> None:
    texts = [line.text for line in printed]
    while texts and not texts[-1].strip():
        texts.pop()
    if texts and out:
        notices.append(Notice(line=out[-1].origin, kind="printed", args={"text": "\n".join(texts)}))
    printed.clear()


def _left_out(line: Line, notices: list[Notice]) -> None:
    """A line that is neither prompt nor output; where two pieces were torn apart the repair puts them together."""
    before, prompt, after = line.text.strip().partition(">>>")
    repair = before.rstrip() + after.lstrip() if prompt else before
    notices.append(Notice(line=line.origin, kind="left_out", args={"text": line.text.strip(), "repair": repair}))


def odd(text: str) -> bool:
    """Not what an interpreter prints: it holds a prompt, or is a statement that does something."""
    if ">>>" in text:
        return True
    tree = parses([Line(text.strip(), None)])
    if tree is None or not tree.body:
        return False
    return not isinstance(tree.body[0], ast.Expr | ast.AnnAssign | ast.Pass)


def _cells(lines: list[Line], notices: list[Notice]) -> list[Line]:
    """Notebook prompts: `In [3]:` off, `Out[3]:` and what follows it out."""
    if not any(_CELL.match(line.text) for line in lines):
        return lines
    out: list[Line] = []
    code = False
    for line in lines:
        cell, more = _CELL.match(line.text), _MORE.match(line.text)
        if cell is not None:
            out.append(Line(line.text[cell.end() :], line.origin))
            code = True
        elif code and more is not None:
            out.append(Line(line.text[more.end() :], line.origin))
        elif _RESULT.match(line.text) or not code:
            code = False
            if line.text.strip() and out:
                notices.append(Notice(line=out[-1].origin, kind="printed", args={"text": line.text.strip()}))
        elif line.text.strip():
            out.append(line)
    notices.append(Notice(line=next((line.origin for line in out), None), kind="prompts"))
    return out


def _magic(lines: list[Line], notices: list[Notice]) -> list[Line]:
    """Lines for the notebook or the shell: `%matplotlib inline`, `!pip install torch`."""
    magic = [line for line in lines if _MAGIC.match(line.text)]
    if not magic:
        return lines
    for line in magic:
        notices.append(Notice(line=line.origin, kind="magic", args={"text": line.text.strip()}))
    return [Line("", line.origin) if _MAGIC.match(line.text) else line for line in lines]


def _dedent(lines: list[Line], notices: list[Notice]) -> list[Line]:
    """The indentation that all lines share; the first line may have lost its own when it was copied."""
    shared = margin(lines)
    out = [Line(line.text[shared:], line.origin) for line in lines]
    if not shared:  # then perhaps only the first line lost its own
        rest = margin(lines[1:])
        out = [*lines[:1], *(Line(line.text[rest:], line.origin) for line in lines[1:])]
        if not rest or not parses(out):
            return lines
    notices.append(Notice(line=next((line.origin for line in lines if line.text.strip()), None), kind="indentation"))
    return out


def margin(lines: list[Line]) -> int:
    """Blanks that every line that holds anything begins with."""
    return min((len(line.text) - len(line.text.lstrip(" 	")) for line in lines if line.text.strip()), default=0)


def _imports(lines: list[Line]) -> range:
    """Put the imports that the program forgot on top of it; their lines, from 0."""
    tree = parses(lines)
    if tree is None:
        return range(0)
    bound = set(dir(builtins))
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.add(node.value.id)
    bare = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    missing = [name for name in FORGOTTEN if name in used and name not in bound]
    if "torch" not in missing and "torch" not in bound and bare & {"tensor"} - bound:
        missing.insert(0, "torch")
    at = _top(tree)
    for k, name in enumerate(missing):
        lines.insert(at + k, Line(FORGOTTEN[name], None))
    return range(at, at + len(missing))


def _top(tree: ast.Module) -> int:
    """The line, from 0, before which an import may be put: after a docstring and imports from the future."""
    at = 0
    for k, node in enumerate(tree.body):
        text = (
            k == 0
            and isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if not text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        at = node.end_lineno or at
    return at
