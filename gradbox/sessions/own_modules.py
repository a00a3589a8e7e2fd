"""The modules of the user's own project: which of their files get steps without being named, and how many."""

import linecache
import re
from collections.abc import Sequence
from importlib.util import decode_source
from pathlib import Path

from gradbox.notebook.notebook_cells import cell_name
from gradbox.sessions.unstepped_code import is_installed_file

MAX_FILES, MAX_LINES = 40, 12_000
"""Files that get steps besides the script, and the total of their lines. A file beyond that runs without steps."""

PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""Files and folders that mark the root of a project."""

TRAINING_WORDS_PATTERN = re.compile(r"\b(?:torch|lightning|transformers|accelerate|backward|optim\w*)\b")
"""Words that suggest that a file does something with tensors. A file without any of them gets no steps."""

INSTALLATION_PARTS = {"site-packages", "dist-packages"}


def project_folder(path: str) -> Path:
    """The folder of the project to which a script or a folder belongs: the nearest enclosing one with a project mark,
    except for the home directory; without any, the script's own."""
    resolved = Path(path).resolve()
    own = resolved if resolved.is_dir() else resolved.parent
    for folder in (own, *own.parents):
        if folder in (Path.home(), Path(folder.anchor)):
            break
        if any((folder / mark).exists() for mark in PROJECT_MARKS):
            return folder
    return own


def too_many_files_message(names: Sequence[str]) -> str:
    """The message about project files that get no steps because there are too many."""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    stepped = f"up to {MAX_FILES} files of the project with {MAX_LINES:,} lines are stepped"
    return f"{stepped}; not {shown}: name them with --also"


class OwnModules:
    """The files of a project that may get steps without being named. The cells of the running notebook belong to it.

    folder: the project's folder; None for no such files at all
    left_out: files for which there was no room
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else f"{folder}/"
        self._sources: dict[str, str | None] = {}
        self._files = self._lines = 0
        self.left_out: list[str] = []

    def source_if_stepped(self, path: str) -> str | None:
        """The text of a file that gets steps; None if it is not in the project, not worth it, or one too many."""
        if path not in self._sources:
            self._sources[path] = self._read_file_to_step(path)
        return self._sources[path]

    def _read_file_to_step(self, path: str) -> str | None:
        if self._folder is None or not path.endswith(".py") or is_installed_file(path):
            return None
        if cell_name(path) is not None:
            return self._count_stepped_file(path, "".join(linecache.getlines(path)))
        resolved = Path(path).resolve()
        if not str(resolved).startswith(self._folder) or INSTALLATION_PARTS & set(resolved.parts):
            return None
        if any(
            (folder / "pyvenv.cfg").exists() for folder in resolved.parents if len(str(folder)) >= len(self._folder)
        ):
            return None
        try:
            source = decode_source(resolved.read_bytes())
        except (OSError, SyntaxError, UnicodeDecodeError):
            return None
        if not TRAINING_WORDS_PATTERN.search(source):
            return None
        return self._count_stepped_file(resolved.name, source)

    def _count_stepped_file(self, name: str, source: str) -> str | None:
        """Count a file that gets steps and return its text; None if it is one too many."""
        lines = source.count("\n") + 1
        if self._files >= MAX_FILES or self._lines + lines > MAX_LINES:
            self.left_out.append(name)
            return None
        self._files, self._lines = self._files + 1, self._lines + lines
        return source
