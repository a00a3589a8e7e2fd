"""Several files as one source: their texts one after the other, and which lines are whose."""

from collections.abc import Iterable
from typing import NamedTuple

from gradbox.wire.program import ProgramFile


class FileText(NamedTuple):
    """A file of a program. name: as it is shown. path: where it lies, None where that is not told."""

    name: str
    path: str | None
    text: str


def join_files(files: Iterable[FileText]) -> tuple[str, list[ProgramFile]]:
    """The source of a trace of these files, with `\\n` for line breaks, and the lines that each has in it.

    The list is empty for a single file: its lines are those of the source.
    """
    texts: list[str] = []
    listed: list[ProgramFile] = []
    last_line = 0
    for name, path, text in files:
        unix = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
        first_line, last_line = last_line + 1, last_line + unix.count("\n") + 1
        texts.append(unix)
        listed.append(ProgramFile(name=name, path=path, first_line=first_line, last_line=last_line))
    return "\n".join(texts) + "\n", listed if len(listed) > 1 else []
