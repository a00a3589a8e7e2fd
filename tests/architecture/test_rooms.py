"""A folder is a room whose files a reader can look over: none of our packages has too many files beside each other."""

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
