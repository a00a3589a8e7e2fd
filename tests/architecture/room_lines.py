"""Holds every room to the lines that `[tool.gradbox.lines]` in pyproject.toml gives it.

`python -m tests.architecture.room_lines` prints each room's lines beside its budget with `--all`, and fails where one
has more.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
COUNTED = (".py", ".ts", ".mjs", ".css", ".html")
"""Code. What else a room's pattern names by its ending is counted too."""

REMEDY = "take the lines from another room, or change the table in a commit of its own that says why"


def budgets(root: Path = ROOT) -> dict[str, int]:
    """By room, the lines that it may have. A room is one or several patterns of paths; a file is in the first that has
    it."""
    table: dict[str, int] = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["gradbox"]["lines"]
    return table


def room_of(path: str, rooms: Iterable[str]) -> str | None:
    """The room that counts a file; None for one that no room counts."""
    for room in rooms:
        for pattern in room.split():
            if fnmatch(path, pattern) and (path.endswith(COUNTED) or Path(pattern).suffix == Path(path).suffix):
                return room
    return None


def lines_by_room(root: Path, paths: Iterable[str], rooms: Iterable[str]) -> dict[str, int]:
    """How many lines each room has now."""
    lines = dict.fromkeys(rooms, 0)
    for path in paths:
        room = room_of(path, lines)
        if room is not None:
            lines[room] += (root / path).read_bytes().count(b"\n")
    return lines


def sentences(lines: Mapping[str, int], allowed: Mapping[str, int]) -> list[str]:
    """What is wrong: a room with more lines than it may have, and one without a file."""
    over = [
        f"{room} has {lines[room]:,} lines, {lines[room] - most:,} more than it may: {REMEDY}"
        for room, most in allowed.items()
        if lines[room] > most
    ]
    return over + [f"{room} is a room without lines: take it out of the table" for room in allowed if not lines[room]]


def unplaced(paths: Iterable[str], rooms: Iterable[str]) -> list[str]:
    """Files of code that no room counts."""
    code = [path for path in paths if path.endswith(COUNTED)]
    return [f"no room of the table has {path}: give it one" for path in code if room_of(path, rooms) is None]


def main() -> int:
    allowed = budgets()
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    paths = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    paths = [path for path in paths if (ROOT / path).is_file()]
    lines = lines_by_room(ROOT, paths, allowed)
    if "--all" in sys.argv:
        for room, most in allowed.items():
            print(f"{lines[room]:7,} of {most:7,}  {room}")
    wrong = sentences(lines, allowed) + unplaced(paths, allowed)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
