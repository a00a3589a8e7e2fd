"""Removes what was pasted around a program: a page's HTML, diff markers, sentences, errors, and mixed indentation."""

import ast
import re

from gradbox.language.pasted_kind import (
    INSTALL_LINE_PATTERN,
    SHELL_LINE_PATTERN,
    can_only_be_sentence,
    classify_line,
    is_diff,
)
from gradbox.language.program_lines import ProgramLine, QuoteScan, try_parse_lines
from gradbox.language.tracebacks import line_indices_outside_tracebacks
from gradbox.wire.program import Notice

_TAG_PATTERN = re.compile(
    r"</?(?:pre|code|p|div|span|br|html|body|li|ul|a|em|strong|h[1-6]|table|td|tr)\b[^<>]*/?>", re.IGNORECASE
)
# by hand, since the standard library's parser would then be among the modules that the program finds imported
_ENTITY_PATTERN = re.compile(r"&(lt|gt|amp|quot|apos|nbsp|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
_CHARACTER_OF_ENTITY = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "nbsp": " "}
_MARKUP_PATTERN = re.compile(r"<!--.*?-->|<!\w[^<>]*>|<(?P<end>/?)(?P<tag>[a-zA-Z][\w-]*)(?:\s[^<>]*)?/?>", re.DOTALL)
_BLOCK_TAGS = frozenset("p div br li tr h1 h2 h3 h4 h5 h6 pre blockquote td".split())  # noqa: SIM905 - a list of words


def extract_program_from_html(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Extract from HTML what is in `<pre>`, or else all of its text; replace entities, outside of HTML too."""
    text = "\n".join(line.text for line in lines)
    opened_before = QuoteScan(lines).opened_before
    if any(_TAG_PATTERN.match(line.text.lstrip()) and len(opened_before[k]) < 3 for k, line in enumerate(lines)):
        out = _HtmlCodeExtractor(text, [line.origin for line in lines]).program_lines()
    elif _ENTITY_PATTERN.search(text):
        out = [ProgramLine(decode_html_entities(line.text), line.origin) for line in lines]
        if try_parse_lines(out) is None:
            return lines
    else:
        return lines
    if not any(not line.is_blank for line in out):
        return lines
    notices.append(Notice(line=next((line.origin for line in out), None), kind="html"))
    return out


def decode_html_entities(text: str) -> str:
    """Replace HTML entities by their characters, and non-breaking blanks by blanks."""

    def character(match: re.Match[str]) -> str:
        name = match[1]
        if not name.startswith("#"):
            return _CHARACTER_OF_ENTITY[name]
        code = int(name[2:], 16) if name[1] == "x" else int(name[1:])
        return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else match[0]

    return _ENTITY_PATTERN.sub(character, text).replace("\xa0", " ")


class _HtmlCodeExtractor:
    """Collects the lines of code in a page.

    text: its HTML
    origins: of the lines that it is given
    """

    def __init__(self, text: str, origins: list[int | None]) -> None:
        self._origins = origins
        self._depth = self._blocks = 0
        self._lines: list[tuple[ProgramLine, bool]] = [(ProgramLine("", None), False)]
        end = 0
        for markup in _MARKUP_PATTERN.finditer(text):
            self._add_text(text[end : markup.start()], text.count("\n", 0, end))
            end = markup.end()
            if markup["tag"]:
                self._pass_tag(markup["tag"].lower(), bool(markup["end"]))
        self._add_text(text[end:], text.count("\n", 0, end))

    def _pass_tag(self, tag: str, ends: bool) -> None:
        if not ends:
            self._depth += tag == "pre"
            self._blocks += tag == "pre"
        if tag in _BLOCK_TAGS:
            self._break_line()
        if ends:
            self._depth = max(0, self._depth - (tag == "pre"))

    def _break_line(self) -> None:
        if self._lines[-1][0].text:
            self._lines.append((ProgramLine("", None), self._depth > 0))

    def _add_text(self, data: str, row: int) -> None:
        """Add text of the page, line by line.

        row: how many lines of the page precede it
        """
        if not data:
            return
        for k, part in enumerate(decode_html_entities(data).split("\n")):
            if k:
                self._lines.append((ProgramLine("", None), self._depth > 0))
            line, _ = self._lines[-1]
            origin = line.origin or (self._origins[row + k] if row + k < len(self._origins) else None)
            self._lines[-1] = (ProgramLine(line.text + part, origin), self._depth > 0)

    def program_lines(self) -> list[ProgramLine]:
        """The lines in `<pre>` if there is one, else all lines."""
        lines = [line for line, coded in self._lines if coded or not self._blocks]
        while lines and lines[-1].is_blank:
            lines.pop()
        while lines and lines[0].is_blank:
            lines.pop(0)
        return lines


_HEREDOC_PATTERN = re.compile(
    r"^\s*(?:[$%!>#]\s*)?(?:\S+=\S+ +)*(?:(?:python[\d.]*|py|cat|tee)\b.*)<<-?\s*(['\"]?)(?P<end>\w+)\1.*$"
)
_COMMAND_PATTERN = re.compile(
    r"^\s*(?:[$%!]\s*)?(?:python[\d.]*|py)\b[^'\"\n]* -c\s+(?P<quote>['\"])(?P<code>.*?)(?<!\\)(?P=quote)\s*(?:\n|$)",
    re.DOTALL,
)


def extract_program_from_shell_command(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Extract the program from a terminal command: between `<<EOF` and `EOF`, or after `python -c`."""
    out: list[ProgramLine] = []
    first = next((k for k, line in enumerate(lines) if (head := _HEREDOC_PATTERN.match(line.text)) is not None), None)
    if first is not None:
        head = _HEREDOC_PATTERN.match(lines[first].text)
        name = head["end"] if head is not None else ""
        end = next((k for k in range(first + 1, len(lines)) if lines[k].text.strip() == name), len(lines))
        out = lines[first + 1 : end]
    else:
        text = "\n".join(line.text for line in lines)
        command = _COMMAND_PATTERN.match(text.lstrip("\n"))
        if command is not None:
            first = len(text) - len(text.lstrip("\n"))
            code = re.sub(r"\\([\"\\$`])", r"\1", command["code"]) if command["quote"] == '"' else command["code"]
            out = [ProgramLine(line, lines[first + k].origin) for k, line in enumerate(code.split("\n"))]
    tree = try_parse_lines(out) if out else None
    if first is None or tree is None or not _has_call_or_statement(tree):
        return lines
    args = {"n": 1, "text": lines[first].text.strip()[:80]}
    notices.append(Notice(line=lines[first].origin, kind="around", args=args))
    return out


def strip_quotation(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Remove the `>` that a mail program puts before quoted lines, if most lines have it."""
    quoted = [bool(_QUOTED_PATTERN.match(line.text)) for line in lines]
    if sum(quoted) < 2 or sum(quoted) * 2 < sum(not line.is_blank for line in lines):
        return lines
    first = quoted.index(True)
    notices.append(Notice(line=lines[first].origin, kind="quoted"))
    # the line before names who wrote
    kept = [line for k, line in enumerate(lines) if k >= first or not line.text.rstrip().endswith((":", "："))]
    return [ProgramLine(_QUOTED_PATTERN.sub("", line.text), line.origin) for line in kept]


_QUOTED_PATTERN = re.compile(r"^(?!>>>)> ?(?:> (?!>))*")


def apply_pasted_diff(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """The program after a diff was applied, if the diff shows all of it."""
    if not is_diff([line.text for line in lines]):
        return lines
    out = []
    for line in lines:
        head = line.text.startswith(
            ("diff ", "index ", "--- ", "+++ ", "@@", "Index: ", "\\ No newline", "new file", "===")
        )
        if not head and not line.text.startswith("-"):
            out.append(ProgramLine(line.text[1:] if line.text[:1] in ("+", " ") else line.text, line.origin))
    tree = try_parse_lines(out)
    if tree is None or not tree.body:
        return lines
    notices.append(Notice(line=next((line.origin for line in out), None), kind="diff"))
    return out


def expand_mixed_tabs(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Replace tabs in indentation by blanks, if both are mixed."""
    if not any("\t" in line.text for line in lines):
        return lines
    for width in (4, 8):
        out = [
            ProgramLine(line.text[: len(line.text) - len(line.text.lstrip())].expandtabs(width) + line.text.lstrip(),
                        line.origin)
            for line in lines
        ]  # fmt: skip
        if try_parse_lines(out) is not None:
            notices.append(Notice(line=next(line.origin for line in lines if "\t" in line.text), kind="tabs"))
            return out
    return lines


def strip_surrounding_text(lines: list[ProgramLine], notices: list[Notice]) -> list[ProgramLine]:
    """Remove the sentences, errors and terminal lines that were pasted with a program.

    If what is left is not a program that does something, nothing is removed.
    """
    kept = set(line_indices_outside_tracebacks([line.text for line in lines]))
    opened_before = QuoteScan(lines).opened_before
    spoken = {
        k
        for k, line in enumerate(lines)
        if k not in kept or (line.text[:1] not in " \t" and not opened_before[k] and _is_not_program_text(line.text))
    }
    spoken |= _short_sentences_at_both_ends(lines, spoken)
    if not spoken:
        return lines
    out = [line for k, line in enumerate(lines) if k not in spoken]
    tree = try_parse_lines(out)
    if tree is None or not _has_call_or_statement(tree):
        return lines
    said = [lines[k] for k in sorted(spoken) if not lines[k].is_blank]
    args = {"n": len(said), "text": said[0].text.strip()[:80]}
    notices.append(Notice(line=said[0].origin, kind="around", args=args))
    return out


_SIGN_OFF_PATTERN = re.compile(
    r"^(?:Thanks|Thank you|Many thanks|Cheers|Best|Regards|(?:Best|Kind) regards)(?:[,.!]+(?: \w+)?)?\s*$"
)


def _is_not_program_text(text: str) -> bool:
    if _SIGN_OFF_PATTERN.match(text) or (text.rstrip().endswith(("?", "？")) and classify_line(text) == "prose"):
        return True
    return can_only_be_sentence(text) or bool(INSTALL_LINE_PATTERN.match(text) or SHELL_LINE_PATTERN.match(text))


def _short_sentences_at_both_ends(lines: list[ProgramLine], spoken: set[int]) -> set[int]:
    """Short sentences at the top and at the bottom, beside those that are removed already: a greeting, thanks."""
    out: set[int] = set()
    for order in (range(len(lines)), reversed(range(len(lines)))):
        run: list[int] = []
        for k in order:
            line = lines[k]
            if not (
                line.is_blank or k in spoken or (line.text[:1] not in " \t" and classify_line(line.text) == "prose")
            ):
                break
            run.append(k)
        if any(k in spoken for k in run):
            out |= {k for k in run if not lines[k].is_blank}
    return out - spoken


def _has_call_or_statement(tree: ast.Module) -> bool:
    """Whether a program has a call, or a statement that is not a bare expression."""
    return any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in tree.body)
