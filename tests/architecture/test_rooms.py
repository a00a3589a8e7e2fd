"""A folder is a room whose files a reader can look over: none has too many, and an installation has all of the
engine's."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_FILES = 25
"""Python files of one folder, `__init__.py` among them."""


def test_no_folder_has_too_many_files() -> None:
    files = [path for room in ("gradbox", "server", "tests") for path in (ROOT / room).rglob("*.py")]
    stored = [ROOT / "tests/examples", ROOT / "tests/golden", ROOT / "server/store/migrations/versions"]
    folders = [path.parent for path in files if not any(path.is_relative_to(folder) for folder in stored)]
    sizes = {str(folder.relative_to(ROOT)): folders.count(folder) for folder in {*folders}}
    assert len(sizes) > 50
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_an_installation_has_every_room_of_the_engine() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    rooms = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "gradbox").rglob("__init__.py")}
    assert len(rooms) > 10
    assert rooms == {name for name in packages if not name.startswith("gradbox.assets")}
