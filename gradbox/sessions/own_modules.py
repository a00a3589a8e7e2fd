"""The modules of the person's own project: which of their files are stepped without being named, and how many."""

import linecache
import re
from collections.abc import Sequence
from importlib.util import decode_source
from pathlib import Path

from gradbox.notebook.notebook_cells import cell_name
from gradbox.sessions.unstepped_code import is_installed_file

MAX_FILES, MAX_LINES = 40, 12_000
"""Files that are stepped beside the script, and the lines that all of them have together; a file that would be one too
many runs unstepped."""

PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What a folder holds that is the whole of somebody's project."""

TRAINING_WORDS = re.compile(r"\b(?:torch|lightning|transformers|accelerate|backward|optim\w*)\b")
"""A file without any of them does nothing with tensors that is worth a step."""

INSTALLATION_PARTS = {"site-packages", "dist-packages"}


def project_folder(path: str) -> Path:
    """The folder of the project that a script, or a folder, belongs to: the nearest one outwards that is marked as the
    whole of one, but for the home directory; without any the script's own."""
    resolved = Path(path).resolve()
    own = resolved if resolved.is_dir() else resolved.parent
    for folder in (own, *own.parents):
        if folder in (Path.home(), Path(folder.anchor)):
            break
        if any((folder / mark).exists() for mark in PROJECT_MARKS):
            return folder
    return own


def left_out_message(names: Sequence[str]) -> str:
    """What the user is told of files of the project that are not stepped, because they would be too many."""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    stepped = f"up to {MAX_FILES} files of the project with {MAX_LINES:,} lines are stepped"
    return f"{stepped}; not {shown}: name them with --also"


class OwnModules:
    """The files of a project of which a session may step more than it was told to. left_out: those that were too many.

    folder: of the project; None for no such files at all. Cells of the notebook that runs belong to it.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else f"{folder}/"
        self._sources: dict[str, str | None] = {}
        self._files = self._lines = 0
        self.left_out: list[str] = []

    def source_to_step(self, path: str) -> str | None:
        """The text of a file that is to be stepped; None where it is not the project's, not worth it, or one too
        many."""
        if path not in self._sources:
            self._sources[path] = self._take_file(path)
        return self._sources[path]

    def _take_file(self, path: str) -> str | None:
        if self._folder is None or not path.endswith(".py") or is_installed_file(path):
            return None
        if cell_name(path) is not None:
            return self._count_file(path, "".join(linecache.getlines(path)))
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
        if not TRAINING_WORDS.search(source):
            return None
        return self._count_file(resolved.name, source)

    def _count_file(self, name: str, source: str) -> str | None:
        """The text of a file that is worth it; None where it is one too many."""
        lines = source.count("\n") + 1
        if self._files >= MAX_FILES or self._lines + lines > MAX_LINES:
            self.left_out.append(name)
            return None
        self._files, self._lines = self._files + 1, self._lines + lines
        return source
