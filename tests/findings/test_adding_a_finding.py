"""docs/adding-a-finding.md, followed in a copy of the project: the three files that it shows are all that a kind
needs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/adding-a-finding.md").read_text("utf-8")
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "node_modules", "var", "dist", "__pycache__", ".*_cache")
KIND = "relu_twice"
FILE = re.compile(r"^`([\w/]+\.\w+)`, .*?^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "node_modules").exists(), reason="the page's packages are not installed"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the files of the page, and with nothing else that is new."""
    folder = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(ROOT, folder, ignore=NOT_COPIED, symlinks=True)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    files = FILE.findall(PAGE)
    assert len(files) == 3
    for path, text in files:
        assert (folder / path).parent.is_dir() and not (folder / path).exists(), path
        (folder / path).write_text(text, "utf-8")
    run(folder, "npm", "run", "build")
    return folder


def run(folder: Path, *command: str) -> str:
    """What a command writes there. It has to succeed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_kind_is_in_the_table_at_its_end(copy: Path) -> None:
    assert (copy / "static/js/findings/registry.ts").read_text().endswith("  ...reluTwice,\n];\n")
    run(copy, "npm", "test", "static/js/tests/findings/registry.test.ts", "static/js/tests/imports.test.ts")
    run(copy, "node_modules/.bin/tsc", "-p", ".")
    changed = ["static/js/findings/registry.ts", *(path for path, _ in FILE.findall(PAGE) if path.startswith("static"))]
    run(copy, "node_modules/.bin/biome", "check", *changed)


def test_its_tests_pass(copy: Path) -> None:
    (command,) = re.findall(r"^\.venv/bin/python (-m pytest .*)$", PAGE, re.MULTILINE)
    *parts, chosen = re.fullmatch(r'(-m pytest (?:\S+ )+-k) "(.*)"', command).groups()  # type: ignore[union-attr]
    said = run(copy, sys.executable, *parts[0].split(), chosen, "-vv", "-p", "no:cacheprovider")
    for test in ("takes_part", "same_sentences", "kind_of_finding_has_a_page"):
        assert re.search(rf"{test}\S* PASSED", said), said


def test_the_command_prints_its_page(copy: Path) -> None:
    said = run(copy, sys.executable, "-m", "gradbox", "about", KIND)
    assert "A relu is applied twice" in said and "    hidden = torch.relu(x)\n" in said and "relu_twice at" not in said


def test_a_scenario_from_the_template_passes_its_tests(copy: Path) -> None:
    write = "from tests.gallery.new_scenario import FOLDER, write_scenario; write_scenario(FOLDER, 'followed_recipe')"
    run(copy, sys.executable, "-c", write)
    said = run(copy, sys.executable, "-m", "pytest", "tests/gallery/test_scenario_files.py", "-k", "followed_recipe")
    assert re.search(r"\b5 passed\b", said), said
