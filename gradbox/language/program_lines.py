"""Pasted text as lines that know their origin, and whether a line begins inside a string or brackets."""

import ast
import math
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_TOKEN_PATTERN = re.compile(r"""\\.|\"{3}|'{3}|["'#()\[\]{}]""")


@dataclass
class ProgramLine:
    """A line of the program and the pasted line, from 1, that it came from; None for an added line."""

    text: str
    origin: int | None

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def is_comment(self) -> bool:
        return self.text.lstrip().startswith("#")


def split_lines(text: str) -> list[ProgramLine]:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return [ProgramLine(line, k) for k, line in enumerate(text.split("\n"), 1)]


def parse_without_warnings(source: str) -> ast.Module:
    """Parse without the warnings that Python gives while parsing; the run gives them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, "<program>")


def is_parsable(source: str) -> bool:
    """Whether Python can parse a text."""
    try:
        parse_without_warnings(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def try_parse_lines(lines: Iterable[ProgramLine]) -> ast.Module | None:
    try:
        return parse_without_warnings("\n".join(line.text for line in lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class QuoteScan:
    """Scans a text, which need not be a program. `opened_before[k]` is what line k begins inside: "", the quotes of a
    string, or "(" for brackets."""

    def __init__(self, lines: Iterable[ProgramLine]) -> None:
        self.opened_before: list[str] = []
        self.depth = 0
        self._quote = ""
        self._spans: list[list[tuple[float, float]]] = []
        for line in lines:
            self._scan_line(line.text)

    def is_quoted(self, k: int, column: int) -> bool:
        """Whether a column of line k is in a string or a comment."""
        before = bisect_right(self._spans[k], (column, math.inf))
        return before > 0 and column < self._spans[k][before - 1][1]

    def _scan_line(self, text: str) -> None:
        self.opened_before.append(self._quote or "(" * bool(self.depth))
        spans: list[tuple[float, float]] = []
        at = begin = 0
        while match := _TOKEN_PATTERN.search(text, at):
            token, at = match[0], match.end()
            if self._quote:
                if token.startswith(self._quote):
                    at = match.start() + len(self._quote)
                    spans.append((begin, at))
                    self._quote = ""
            elif token == "#":
                spans.append((match.start(), len(text)))
                break
            elif token[0] in "\"'":
                self._quote, begin = token, match.start()
            elif token in "([{":
                self.depth += 1
            elif token in ")]}":
                self.depth = max(0, self.depth - 1)
        if len(self._quote) == 3:
            spans.append((begin, len(text)))
        elif not text.endswith("\\"):
            self._quote = ""
        self._spans.append(spans if not text.isascii() else [])
