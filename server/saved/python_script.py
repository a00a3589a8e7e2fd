"""A saved program as a Python script, with its title, its address and its versions as comments."""

from server.store.comparison import load_header
from server.store.repository import SavedProgram


def python_script(program: SavedProgram, url: str) -> str:
    """The program without prompts and printed output. url: its permalink. It decompresses the beginning of the trace."""
    content, versions = program.content, program.versions
    source: str = load_header(program.trace)["program"]["source"]
    lines = [line for text in (content.title, content.description, content.note) for line in text.splitlines()]
    lines.append(url)
    lines.append(
        f"torch {versions.torch}, numpy {versions.numpy}, Python {versions.python}; "
        f"seed {content.settings.seed}, {content.settings.device}"
    )
    if content.settings.input:
        lines += ["input:", *content.settings.input.splitlines()]
    # the first line declares the encoding, so that no title can
    comments = "".join(f"# {printable(line)}\n" for line in ["coding: utf-8", *lines])
    return f"{comments}\n{source.rstrip(chr(10))}\n"


def printable(line: str) -> str:
    """The line with blanks for what moves a terminal's cursor, reverses the direction of text or ends a line."""
    return "".join(character if character.isprintable() else " " for character in line).rstrip()
