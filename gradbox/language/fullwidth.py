"""Full-width punctuation, as a Chinese keyboard types it, in the place of Python's: one repair for all of it."""

from gradbox.language.repair_draft import MAX_EDITS
from gradbox.wire.program import Edit, Repair

PUNCTUATION = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if not chr(code - 0xFEE0).isalpha()},
    "。": ".", "、": ",", "【": "[", "】": "]", "《": "<", "》": ">", "—": "-", "–": "-", "−": "-", "×": "*", "÷": "/",
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "＂": '"', "＇": "'", "「": '"', "」": '"',
}  # fmt: skip
"""Each character and what Python has in its place."""

_CLOSING_QUOTES = {"“": '”"', "”": '”"', "„": '”“"', "‘": "’'", "’": "’'", "「": "」", "＂": '＂"', "＇": "＇'"}
"""What may close a string that one of these opens, the likeliest first."""


def punctuation_repair(source: str) -> Repair | None:
    """Replaces all of it that stands in code; None where there is none. What stands in strings and comments is kept."""
    if source.isascii():
        return None
    lines = source.split("\n")
    edits, replaced = [], dict.fromkeys("")
    quote = ""
    for number, line in enumerate(lines, 1):
        text, quote, characters = replace_in_line(line, quote)
        if text != line:
            replaced |= dict.fromkeys(characters)
            first = next(at for at, (old, new) in enumerate(zip(line, text, strict=True)) if old != new)
            last = next(at for at in range(len(line), 0, -1) if line[at - 1] != text[at - 1])
            edits.append(Edit(line=number, col=first, end_line=number, end_col=last, text=text[first:last]))
    if not 0 < len(edits) <= MAX_EDITS:
        return None
    return Repair(key="punctuation", args={"text": " ".join(list(replaced)[:8])}, edits=edits)


def replace_in_line(line: str, quote: str) -> tuple[str, str, list[str]]:
    """The line in Python's punctuation, as long as before; the quotes that it ends inside of; what was replaced.

    quote: those that it begins inside of, `'''` or `\"\"\"`.
    """
    out, replaced, at = list(line), [], 0
    while at < len(line):
        character = line[at]
        if quote:
            if line.startswith(quote, at):
                at += len(quote)
                quote = ""
            else:
                at += 2 if character == "\\" else 1
        elif character == "#":
            break
        elif character in "'\"":
            quote = character * (3 if line.startswith(character * 3, at) else 1)
            at += len(quote)
        elif character in _CLOSING_QUOTES and (end := closing_quote_column(line, at)) > at:
            out[at] = out[end] = "'" if '"' in line[at + 1 : end] else '"'
            replaced += [character, line[end]] if line[end] in PUNCTUATION else [character]
            at = end + 1
        else:
            if character in PUNCTUATION:
                out[at] = PUNCTUATION[character]
                replaced.append(character)
            at += 1
    return "".join(out), quote if len(quote) == 3 else "", replaced


def closing_quote_column(line: str, at: int) -> int:
    """The column of the quote that closes the string opened at a column; -1 where the line has none."""
    ends = (line.find(character, at + 1) for character in _CLOSING_QUOTES[line[at]])
    return next((end for end in ends if end > at), -1)
