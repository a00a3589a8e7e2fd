"""What CONTRIBUTING, ARCHITECTURE and the guides for contributors name is there: paths, commands, and code in
backticks."""

import ast
import itertools
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from server.matrix.programs import MATRIX_ROWS

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("CONTRIBUTING.md", "ARCHITECTURE.md", "docs/adding-a-finding.md")
SPAN = re.compile(r"`([^`]+)`")
OF_READERS = {"setup.py", "train.py"}
"""Files that a reader may have."""
PLACEHOLDER = re.compile(r"<[a-z]+>|KIND|NAME|ROOM|FILE|ROLE|VARIANT|PROGRAM|\*")
"""For which a reader puts something in."""
EXAMPLE = "relu_twice"
"""The kind of docs/adding-a-finding.md, whose files that page has."""
SHOWN = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:make|npm|npx|node|python|pytest|gradbox|cp|pip)(?: |$)|\.venv/bin/python ")
FILE_NAME = re.compile(r"[\w.\-/<>*]+(?:/|\.(?:py|ts|mjs|json|toml|md|css|html|env|yaml))")
OF_THE_WORLD = {"backward()", "uid", "i", "step", "say(key, args)", "#"}
"""Words that ARCHITECTURE explains."""
CODE = ("*.py", "*.ts", "*.mjs", "*.json", "*.toml", "*.css", "Makefile")
IGNORED = {"node_modules", ".venv", "var", ".git", "dist", "golden", "examples", "contract"}


@cache
def project_files() -> list[Path]:
    """Every file of the project, by its path from the root."""
    return [path.relative_to(ROOT) for path in walk(ROOT)]


def walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in IGNORED and not path.is_symlink():
            yield from walk(path)
        elif path.is_file():
            yield path


@cache
def project_code() -> str:
    """The text of all code but this test's."""
    here = Path(__file__).relative_to(ROOT)
    files = [path for path in project_files() if path != here and any(path.match(pattern) for pattern in CODE)]
    return "\n".join((ROOT / path).read_text("utf-8") for path in files)


def paragraphs(text: str) -> list[str]:
    """A document's rules, steps of recipes and paragraphs, each with the lines that belong to it."""
    return re.split(r"\n\n|\n(?=\s*(?:[*|]|\d\.) )", SHOWN.sub("", text))


def pattern_of(text: str) -> str:
    """A regular expression for what stands in backticks, whose placeholders may be anything."""
    parts = PLACEHOLDER.split(text.replace("…", "PLACE"))
    return r"[\w./\-]+".join(re.escape(part) for part in parts)


def is_there(path: str, beside: list[str]) -> bool:
    """Whether a path exists: from the root, or below a folder that its paragraph names, or as a file's name alone."""
    wanted = re.compile(rf"(?:.*/)?{pattern_of(path.rstrip('/'))}(?:/.*)?")
    known = [str(file) for file in project_files()]
    if "/" in path:
        anywhere = [path, *(f"{folder}/{path}" for folder in beside)]
        return any(
            (ROOT / place).exists() or any(re.fullmatch(pattern_of(place), file) for file in known)
            for place in anywhere
        )
    return any(wanted.fullmatch(file) for file in known)


def misses_of_command(command: str) -> list[str]:
    """The parts of a command that are not there: targets, scripts, modules, paths."""
    words = command.split()
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return [word for word in words[1:2] if word not in targets]
    if words[:2] == ["npm", "run"]:
        return [word for word in words[2:3] if word not in json.loads((ROOT / "package.json").read_text())["scripts"]]
    modules = [after for before, after in itertools.pairwise(words) if before == "-m"]
    absent = [
        module
        for module in modules
        if module.split(".")[0] in ("server", "gradbox", "tests", "benchmarks")
        and not any((ROOT / f"{module.replace('.', '/')}{end}").exists() for end in (".py", "/__main__.py"))
    ]
    paths = [word for word in words if "/" in word and not word.startswith((".venv", "http"))]
    return absent + [
        path for path in paths if not PLACEHOLDER.search(path) and EXAMPLE not in path and not (ROOT / path).exists()
    ]


def misses(document: str) -> list[str]:
    """What a document names that is not there."""
    text = (ROOT / document).read_text("utf-8")
    absent = []
    for paragraph in paragraphs(text):
        spans = [" ".join(span.split()) for span in SPAN.findall(paragraph)]
        folders = [span for span in spans if "/" in span and (ROOT / span).is_dir()]
        files = [span for span in spans if (ROOT / span).is_file()]
        for span in (span for span in spans if span not in folders):
            if COMMAND.match(span):
                absent += misses_of_command(span)
            elif EXAMPLE in span:
                absent += [] if (ROOT / span).parent.is_dir() else [span]
            elif FILE_NAME.fullmatch(span) and not span.startswith(("/", "http")):
                if not is_there(span, [*folders, *(str(Path(file).parent) for file in files)]):
                    absent.append(span)
            elif not is_in_code(span, [*folders, *files]):
                absent.append(span)
    for shown in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        absent += [miss for line in shown.splitlines() for miss in misses_of_command(line.partition(" #")[0])]
    return absent


def is_in_code(span: str, places: list[str]) -> bool:
    """Whether code has what stands in backticks, word for word, in one of the files and folders that its paragraph
    names, or elsewhere where it is more than a word. Of a call what stands before its arguments counts."""
    if span in OF_THE_WORLD or span.startswith(("/", "#", ".", "@", '"', "--")):
        return True
    text = span.partition("(")[0] + "(" if re.fullmatch(r"[\w.]+\([\w, ]*\)", span) else span
    wanted = re.compile(rf"(?<!\w){pattern_of(text)}")
    return any(wanted.search(text_of(place)) for place in places) or bool(wanted.search(project_code()))


@cache
def text_of(place: str) -> str:
    path = ROOT / place
    return "\n".join(
        file.read_text("utf-8") for file in ([path] if path.is_file() else walk(path)) if file.suffix in (".py", ".ts")
    )


OTHER_DOCUMENTS = [
    str(path)
    for path in project_files()
    if path.suffix == ".md" and path.parts[0] != "server" and path.name != "CHANGELOG.md"
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_is_there(document: str) -> None:
    assert misses(document) == []


@pytest.mark.parametrize(
    "text",
    [
        "`static/js/marks/absent.ts`", "`specimen_traces.ts`", "`self._context.observation.append(event)`", "`make brew`",  # noqa: E501
        "`npm run absent`", "`python -m tests.absent`", "`pytest tests/absent.py -k NAME`", "`absent_function`",
    ],
)  # fmt: skip
def test_what_is_not_there_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(f"* {text} does it.\n")
    assert len(misses(str(tmp_path / "page.md"))) == 1


@pytest.mark.parametrize("document", [name for name in OTHER_DOCUMENTS if name not in DOCUMENTS])
def test_files_and_commands_of_other_documents_are_there(document: str) -> None:
    spans = [" ".join(span.split()) for span in SPAN.findall(SHOWN.sub("", (ROOT / document).read_text("utf-8")))]
    paths = {
        span
        for span in spans
        if re.fullmatch(r"[\w.\-/]+\.(?:py|ts|mjs)|(?:gradbox|server|tests|static|benchmarks)/\S+", span)
    }
    assert sorted(path for path in paths - OF_READERS if not is_there(path, [])) == []
    commands = [span for span in spans if span.startswith(("make ", "npm run ", "python -m "))]
    assert [command for command in commands if misses_of_command(command)] == []


def test_what_npm_run_types_reads_is_what_contributing_says() -> None:
    (folder,) = re.findall(r"After a change of `([\w/]+)` run `npm run types`", " ".join(contributing().split()))
    assert f"from {folder.replace('/', '.')} import" in (ROOT / "static/types.mjs").read_text()


def contributing() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def architecture() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def table_folders() -> Iterator[str]:
    """The folders of ARCHITECTURE's table. A name alone stands beside the one before it."""
    section = architecture().partition("## Folders")[2].partition("## ")[0]
    for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE):
        last = ""
        for name in SPAN.findall(row):
            last = name if "/" in name or not last or (ROOT / name).exists() else f"{Path(last).parent}/{name}"
            yield last


def test_the_table_of_folders_is_complete_and_names_no_other() -> None:
    named = set(table_folders())
    assert [name for name in named if "*" not in name and not (ROOT / name).exists()] == []
    holding = {path.parent for path in project_files() if path.suffix in (".py", ".ts")}
    rooms = {
        "/".join(folder.parts[: 3 if folder.parts[:2] == ("static", "js") else 2])
        for folder in holding
        if folder.parts[:1] in (("gradbox",), ("server",)) or folder.parts[:2] == ("static", "js")
    }
    folders = {path.parts[0] for path in project_files() if len(path.parts) > 1}
    top = {name for name in folders if not name.startswith(".") and not name.endswith(".egg-info")}
    above = {"static", "static/js", "server", "deploy", "docs"}
    assert sorted((rooms | top) - named - above - {"static/js/tests"}) == []


def test_torch_is_imported_only_where_architecture_says() -> None:
    (sentence,) = re.findall(r"Only ([^.]*(?:\.py[^.]*)?) import\s+torch\.", architecture())
    allowed = SPAN.findall(sentence)
    importing = [
        str(path)
        for path in project_files()
        if path.parts[0] in ("gradbox", "server") and path.suffix == ".py" and imports_torch(path)
    ]
    assert [path for path in importing if not path.startswith(tuple(allowed))] == []
    assert [place for place in allowed if not any(path.startswith(place) for path in importing)] == []


def imports_torch(path: Path) -> bool:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] == "torch" for name in names)


def test_the_matrix_has_as_many_ways_as_the_readme_says() -> None:
    assert f"what {len(MATRIX_ROWS)} ways to copy" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    "document", [str(path) for path in project_files() if path.suffix == ".md" and path.parts[0] != "server"]
)
def test_links_lead_to_files(document: str) -> None:
    text = SHOWN.sub("", (ROOT / document).read_text("utf-8"))
    folder = (ROOT / document).parent
    targets = [link.partition("#")[0] for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", text)]
    assert [target for target in targets if target and not (folder / target).exists()] == []
