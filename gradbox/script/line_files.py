"""The lines of a trace in a folder, written as they come: a process that is killed leaves those that it had."""

from pathlib import Path

HEADER, STEPS, END = "header", "steps", "end"
"""Files of the folder."""

SCRIPT_FILE = "script"
"""The name of the script that ranks run."""

NOTE_FILE = "note"
"""What the script's process has to say of others that it started."""

LABEL_FILE = "label"
"""In the folder of a part of a run: how it is called."""


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
        """Write the first line as it is at the end, and the last."""
        self.write_header(first)
        (self._folder / END).write_bytes(last)
        self._steps.close()


def read_trace_lines(folder: Path) -> tuple[list[bytes], bool]:
    """The lines that a process has left, none where it did not begin, and whether the last is how the program ended."""
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
