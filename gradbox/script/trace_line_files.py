"""Writes the lines of a trace to a folder as they come, so that a process that is killed leaves those that it had."""

from pathlib import Path

HEADER, STEPS, END = "header", "steps", "end"
"""Names of the files in the folder."""

SCRIPT_FILE = "script"
"""The name of the script that ranks run."""

NOTE_FILE = "note"
"""The file with the script process's note about other processes that it started."""

LABEL_FILE = "label"
"""The file with the label of a recorded part, in that part's folder."""


class TraceLineFiles:
    """Writes the lines of one trace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._steps = (folder / STEPS).open("ab", buffering=0)

    def write_header(self, line: bytes) -> None:
        part = self._folder / (HEADER + ".part")
        part.write_bytes(line)
        part.replace(self._folder / HEADER)

    def write_step(self, line: bytes) -> None:
        self._steps.write(line)

    def write_header_and_outcome(self, first: bytes, last: bytes) -> None:
        """Write the first line in its final form, and the last line."""
        self.write_header(first)
        (self._folder / END).write_bytes(last)
        self._steps.close()


def read_trace_lines(folder: Path) -> tuple[list[bytes], bool]:
    """Read the lines that a process has left (none if it did not begin), and whether the last one tells how the program
    ended."""
    if not (folder / HEADER).exists():
        return [], False
    steps = (folder / STEPS).read_bytes().splitlines(keepends=True)
    if steps and not steps[-1].endswith(b"\n"):
        steps.pop()  # the process was killed within it
    lines = [(folder / HEADER).read_bytes(), *steps]
    has_end = (folder / END).exists()
    if has_end:
        lines.append((folder / END).read_bytes())
    return lines, has_end
