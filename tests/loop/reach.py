"""What a change reaches: a graph of which file needs which, read from their text, and the tests on the way.

Edges are imports of Python and of TypeScript, `@import` of styles, and what stands in strings: modules (`python -m`,
entry points, hosts of tests), files and folders of the checkout, and bundles of the page, which are made of their first
module. Nothing is run, so a path that a program puts together from parts that are not constant is not seen.
"""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from pathlib import Path, PurePosixPath

MODULE = re.compile(r"(?:gradbox|server|tests|benchmarks)(?:\.\w+)+(?=:[\w.]+$|$)")
SCRIPT_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\bimport\(|URL\()\s*["'](\.{1,2}/[^"']+)["']""")
SCRIPT_PATH = re.compile(r"""["']((?:static|scenarios|tests|lessons|docs)/[\w./-]+)["']""")
STYLE_IMPORT = re.compile(r"""@import\s+["']([^"']+)["']""")
BUNDLE = re.compile(r"\b(\w+)\.(?:en\.|zh\.)?(?:js|css)\b")
PROGRAMS = ("tests/examples/", "scenarios/", "tests/golden/", "benchmarks/nets/")
"""Folders of programs, which are text to the project."""

PAGE_FIXTURES = {"site", "page", "chromium", "profile"}
PAGE = ("templates", "static/js/main.ts", "static/css/all.css", "server/app.py")
"""What a test needs that asks for one of these fixtures."""


@dataclass(frozen=True)
class Reached:
    """A file of tests.

    distance: steps from the change; a folder is as many further as it is levels above it
    through: the files on the way, from the change to before the test
    """

    file: str
    distance: int
    through: tuple[str, ...]

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")


@dataclass
class Graph:
    """files: of the checkout, relative to root."""

    root: Path
    files: frozenset[str]
    _modules: dict[str, str] = field(init=False)
    _folders: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._folders = frozenset(str(parent) for file in self.files for parent in PurePosixPath(file).parents) - {"."}
        python = [file for file in self.files if file.endswith(".py") and not file.startswith(PROGRAMS)]
        self._modules = {file[:-3].replace("/", ".").removesuffix(".__init__"): file for file in python}

    @cached_property
    def users(self) -> dict[str, set[str]]:
        """By file or folder, the files that need it."""
        users: dict[str, set[str]] = defaultdict(set)
        for file in self.files:
            for needed in self.needs(file):
                if needed != file:
                    users[needed].add(file)
        return users

    def needs(self, file: str) -> set[str]:
        """The files and folders that a file names."""
        if file.startswith(PROGRAMS) or not (self.root / file).is_file():
            return set()
        if file.endswith(".py"):
            return set(self._python_needs(file))
        if file.endswith((".ts", ".mjs")):
            text = (self.root / file).read_text()
            relative = (self._below(PurePosixPath(file).parent, path) for path in SCRIPT_IMPORT.findall(text))
            return {
                path for path in [*relative, *SCRIPT_PATH.findall(text)] if path in self.files or path in self._folders
            }
        if file.endswith(".css"):
            imported = STYLE_IMPORT.findall((self.root / file).read_text())
            return {self._below(PurePosixPath(file).parent, path) for path in imported} & self.files
        if file.startswith("templates/"):
            return set(self._bundles((self.root / file).read_text()))
        return set()

    def _python_needs(self, file: str) -> Iterator[str]:
        tree = ast.parse((self.root / file).read_text())
        if PurePosixPath(file).name.startswith("test_"):
            yield "tests/conftest.py"
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module or ""]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found = MODULE.match(node.value)
                names = [found[0]] if found else []
                yield from self._named(file, node.value)
            elif isinstance(node, ast.FunctionDef) and PAGE_FIXTURES & {argument.arg for argument in node.args.args}:
                names = []
                yield from PAGE
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                names = []
                yield from self._named(file, "/".join(constant_end(node)), is_path=True)
            else:
                continue
            for name in names:
                if name in self._modules:
                    yield self._modules[name]
                if f"{name}.__main__" in self._modules:
                    yield self._modules[f"{name}.__main__"]

    def _named(self, file: str, path: str, is_path: bool = False) -> Iterator[str]:
        """The file or folder that a string of a Python file means, if any: of the root, or beside the file or a folder
        above it."""
        if not path or len(path) > 200 or "\n" in path or path.startswith("."):
            return
        yield from self._bundles(path)
        is_path = is_path or "/" in path
        for folder in PurePosixPath(file).parents:
            candidate = str(folder / path)
            if candidate in self.files or (is_path and candidate in self._folders):
                yield candidate
                return

    def _bundles(self, text: str) -> Iterator[str]:
        for name in BUNDLE.findall(text):
            for source in (
                f"static/js/{name}.ts",
                "static/css/all.css" if name == "style" else f"static/css/{name}.css",
            ):
                if source in self.files:
                    yield source

    def _below(self, folder: PurePosixPath, path: str) -> str:
        parts: list[str] = []
        for part in (folder / path).parts:
            if part == "..":
                parts[-1:] = []
            elif part != ".":
                parts.append(part)
        return "/".join(parts)

    def reached_tests(self, changed: str) -> list[Reached]:
        """The files of tests that a changed file reaches, the nearest first; of equals, those of the same name and
        room."""
        folders = [str(folder) for folder in PurePosixPath(changed).parents][:-1]
        queue: list[tuple[int, str, tuple[str, ...]]] = [(0, changed, ())]
        queue += [(levels, folder, (changed,)) for levels, folder in enumerate(folders, 1)]
        reached, done = [], set[str]()
        while queue:
            distance, current, through = heappop(queue)
            if current in done:
                continue
            done.add(current)
            if is_test(current) and current != changed:
                reached.append(Reached(current, distance, through))
                continue
            users = self.users.get(current, set())
            if current.startswith("templates/"):  # whoever names their folder renders them
                users = users | self.users.get("templates", set())
            for user in users:
                if user not in done:
                    heappush(queue, (distance + 1, user, (*through, current)))
        return sorted(reached, key=lambda test: (test.distance - likeness(test.file, changed), test.file))


def constant_end(node: ast.expr) -> list[str]:
    """The constant parts at the end of a path that `/` puts together."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        right = constant_end(node.right)
        return [*constant_end(node.left), *right] if right else []
    return []


def is_test(file: str) -> bool:
    name = PurePosixPath(file).name
    return file.endswith(".test.ts") or (
        file.startswith("tests/") and name.startswith("test_") and name.endswith(".py")
    )


def likeness(test: str, changed: str) -> int:
    """How many steps nearer a test is for the name that it shares with the changed file, and for a room of the same
    name.

    A test whose name has the room's is nearer than another of that room.
    """
    name = PurePosixPath(test).name.removeprefix("test_").partition(".")[0]
    stem = PurePosixPath(changed).name.partition(".")[0]
    rooms = {*PurePosixPath(test).parts[1:-1]} & {*PurePosixPath(changed).parts[1:-1]} - {"js", "tests"}
    return 4 * (name == stem) + 2 * bool(rooms) + any(room in name for room in rooms)


def checkout_files(root: Path) -> frozenset[str]:
    """Those that git has, and new ones that it does not ignore."""
    return frozenset(_git(root, "ls-files", "--cached", "--others", "--exclude-standard"))


def changed_files(root: Path, base: str | None) -> list[str]:
    """What differs from where this branch left `base`, with what is not committed.

    base: by default the main branch
    """
    candidates: Iterable[str] = [base] if base else ["origin/main", "main", "origin/master", "master"]
    for candidate in candidates:
        found = subprocess.run(
            ["git", "merge-base", "HEAD", candidate], cwd=root, capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            start = found.stdout.strip()
            break
    else:
        if base:
            raise ValueError(f"git knows no {base}")
        start = "HEAD"
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({*_git(root, "diff", "--name-only", "--no-renames", start), *new})


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
