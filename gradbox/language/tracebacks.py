"""Pasted error messages: where one is in a text, and what it says about the program that raised it.

Recognized forms are those of Python, with markers and notes, of IPython and Jupyter, of pytest, with prefixes of
loggers and ranks, with terminal colours; or the last line alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_COLOURS_PATTERN = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\[(?:\d{1,2};)+\d{1,2}m|\[0m")
_PREFIX_PATTERN = re.compile(
    r"^(?:\s*>+ (?!\s*\d)|\[rank\d+\]:? ?|\d{4}-\d\d-\d\d[ T][\d:.,]+ (?:\S+ ){0,3}?- ?|E {3,}(?=\S))"
)
_OF_PYTEST_PATTERN = re.compile(r"^E {3,}\S")
_HEAD_PATTERN = re.compile(r"\bTraceback \(most recent call last\)")
_FRAME_PATTERN = re.compile(r'^\s*File "?(?P<file>[^"\n]+?)"?, line (?P<line>\d+)(?:, in (?P<name>.+))?\s*$')
_CELL_FRAME_PATTERN = re.compile(
    r"^\s*(?:Cell |Input )?In ?\[(?P<cell>[\d ]*)\](?:, (?:in )?| ?in )?(?:line (?P<line>\d+))?.*$"
)
_NOTEBOOK_FRAME_PATTERN = re.compile(
    r"^(?:File )?(?P<file><ipython-input-[^>]+>|[~/.\w][^\s:(]*\.py)(?::(?P<line>\d+))?(?:,? in (?P<name>.+))?\s*$"
)
_ARROW_PATTERN = re.compile(r"^-+>\s?(?P<line>\d+)\s(?P<code>.*)$")
_LISTED_PATTERN = re.compile(r"^\s+\d+(?:\s.*)?$")
_PYTEST_FRAME_PATTERN = re.compile(r"^(?P<file>\S+\.py):(?P<line>\d+): (?P<error>\w+)\s*$")
_ERROR_PATTERN = re.compile(
    r"^\s*(?:\S+\.py:\d+: )?(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|StopIteration))"
    r"(?:: (?P<message>.*)|:?\s*)$"
)
_MARKS_PATTERN = re.compile(r"^\s*[~^]+\s*$")
_LINKS = ("The above exception was the direct cause", "During handling of the above exception")
_LIBRARY_PATTERN = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python3|[/\\]torch[/\\]|^<frozen|importlib")
_NO_ERROR_TYPES = ("Exception",)


@dataclass(frozen=True)
class TracebackFrame:
    """A frame in a traceback.

    line: in its file; None if it isn't given
    code: of that line; "" if it isn't shown
    """

    file: str
    line: int | None
    code: str

    @property
    def is_library(self) -> bool:
        """Whether the frame does not belong to the reader's own code."""
        return bool(_LIBRARY_PATTERN.search(self.file))


@dataclass(frozen=True)
class PastedError:
    """An error as it was pasted.

    first, last: its lines in the text, from 0
    frames: outermost first
    """

    type: str
    message: str
    first: int
    last: int
    frames: tuple[TracebackFrame, ...] = ()

    @property
    def innermost_own_frame(self) -> TracebackFrame | None:
        """The innermost frame of the reader's own code."""
        return next((frame for frame in reversed(self.frames) if not frame.is_library), None)


def line_without_colours_and_prefixes(text: str) -> str:
    """A line without terminal colours and without the prefixes of loggers, mails or pytest."""
    return _PREFIX_PATTERN.sub("", _COLOURS_PATTERN.sub("", text))


def find_error(lines: list[str]) -> PastedError | None:
    """The last error in a text; None if there is none.

    A line like `ValueError: …` alone is an error. A line of a program never is: no statement has words after a colon.
    """
    plain = [line_without_colours_and_prefixes(line) for line in lines]
    errors = [k for k, line in enumerate(plain) if is_error_line(line)]
    starts = [k for k, line in enumerate(plain) if _HEAD_PATTERN.search(line) or _FRAME_PATTERN.match(line)]
    if not errors and not starts:
        return None
    first = min([*starts[:1], *errors[:1]])
    if any(_OF_PYTEST_PATTERN.match(line) for line in lines):
        first = 0  # it shows the function before
    speaking = [k for k in errors if (match := _ERROR_PATTERN.match(plain[k])) is not None and match["message"]]
    at = max(speaking or errors, default=None)
    frames = tuple(_frames(plain[first : at + 1 if at is not None else len(plain)]))
    if at is None:
        return PastedError("", "", first, len(plain) - 1, frames)
    while first and (set(plain[first - 1].strip()) == {"-"} or _ERROR_HEAD_PATTERN.match(plain[first - 1])):
        first -= 1
    match = _ERROR_PATTERN.match(plain[at])
    kind, message = (match["type"], match["message"] or "") if match is not None else ("", plain[at].strip())
    last = at
    while last + 1 < len(plain) and plain[last + 1].strip() and not is_error_line(plain[last + 1]):
        if _PYTEST_FRAME_PATTERN.match(plain[last + 1]) or not _continues_message(plain[last + 1]):
            break
        last += 1
        message += f" {plain[last].strip()}"
    if any(_OF_PYTEST_PATTERN.match(line) for line in lines):
        last = len(lines) - 1  # a summary follows
    return PastedError(kind.rpartition(".")[2], " ".join(message.split()), first, last, frames)


_ERROR_HEAD_PATTERN = re.compile(r"^\w+(?:Error|Exception)\s{2,}Traceback")
_CODE_START_PATTERN = re.compile(r"^(?:(?:import|from|def|class|for|while|if|with|return|print)\b|\w+(?:\.\w+)* ?[=(])")


def _continues_message(line: str) -> bool:
    """Whether a line continues a long error message."""
    return not _CODE_START_PATTERN.match(line) and not line.startswith(("#", "```", "~~~"))


def is_error_line(line: str) -> bool:
    """Whether a line can be the last one of a traceback: a type that ends in `Error`, a colon and words."""
    match = _ERROR_PATTERN.match(line)
    if match is None:
        return False
    name = match["type"].rpartition(".")[2]
    return name not in _NO_ERROR_TYPES or bool(match["message"])


def _frames(lines: list[str]) -> Iterable[TracebackFrame]:
    file, named = "", False
    for k, line in enumerate(lines):
        match = _FRAME_PATTERN.match(line)
        following = lines[k + 1].strip() if k + 1 < len(lines) else ""
        if match is not None:
            file, named = match["file"], True
            code = (
                ""
                if _FRAME_PATTERN.match(following) or is_error_line(following) or _MARKS_PATTERN.match(following)
                else following
            )
            if not any(_ARROW_PATTERN.match(later) for later in lines[k + 1 : k + 8]):
                yield TracebackFrame(file, int(match["line"]), code)
        elif (cell := _CELL_FRAME_PATTERN.match(line)) is not None:
            file, named = f"In [{cell['cell'].strip()}]", True
        elif (head := _NOTEBOOK_FRAME_PATTERN.match(line)) is not None and not is_error_line(line):
            file, named = head["file"], True
        elif (arrow := _ARROW_PATTERN.match(line)) is not None and named:
            yield TracebackFrame(file, int(arrow["line"]), arrow["code"].strip())
        elif (test := _PYTEST_FRAME_PATTERN.match(line)) is not None:
            yield TracebackFrame(test["file"], int(test["line"]), "")


def line_indices_outside_tracebacks(lines: list[str]) -> list[int]:
    """The indices of the lines outside of tracebacks."""
    kept: list[int] = []
    inside = False
    for k, text in enumerate(lines):
        line = line_without_colours_and_prefixes(text)
        if (
            _HEAD_PATTERN.search(line)
            or (_FRAME_PATTERN.match(line) and not inside)
            or (set(line.strip()) == {"-"} and len(line) > 20)
        ):
            inside = True
        if is_error_line(line):
            inside = False
            continue
        if inside or line.startswith(_LINKS) or (_LISTED_PATTERN.match(line) and k and not kept):
            continue
        kept.append(k)
    return kept
