"""Who may import whom. The house stands on this."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "server").rglob("*.py"))
}
ENGINE = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "gradbox").rglob("*.py"))
}


ALL = {**MODULES, **ENGINE}


@cache
def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
            names.add(node.module)
    return names


def own_imports(path: Path) -> set[str]:
    return {name for name in imports(path) if name in ALL}


def test_the_contracts_of_the_rooms_are_kept() -> None:
    """Who may import whom stands in pyproject.toml, under tool.importlinter."""
    done = subprocess.run(
        ["lint-imports", "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_wire_needs_pydantic_and_nothing_else() -> None:
    for name, path in ALL.items():
        if name.startswith(("gradbox.wire", "server.wire")):
            outside = {imported.split(".")[0] for imported in imports(path)} - set(sys.stdlib_module_names)
            assert outside <= {"pydantic", "typing_extensions", "gradbox", "server"}, name


def test_there_is_no_import_cycle() -> None:
    packages = {"gradbox", "server"}
    below = {
        name: {imported for imported in own_imports(path) if imported not in {name, *packages}}
        for name, path in ALL.items()
    }
    done: set[str] = set()
    while len(done) < len(below):
        free = {name for name, needs in below.items() if name not in done and needs <= done}
        assert free, f"a cycle among {sorted(set(below) - done)}"
        done |= free


def test_an_import_in_a_function_says_why_it_is_late() -> None:
    """Ruff's PLC0415 refuses one that has no `noqa`; contracts see those that have one."""
    late = re.compile(r"noqa: PLC0415(?P<reason>.*)")
    reasons = [match["reason"] for path in ALL.values() for match in late.finditer(path.read_text())]
    assert len(reasons) > 5 and all(len(reason.split()) > 1 for reason in reasons)


IMPORTED_BY_NAME = {"gradbox": 1, "gradbox.command": 1, "server.worker.preload": 1, "server.worker.zygote": 1}
"""By module, how many imports name their module in a string, each with its reason beside it: no contract sees these."""


def names_imported_by(tree: ast.AST) -> int:
    """How many calls of a tree import a module, or load an entry point, by its name."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls]
    return sum(name in ("import_module", "__import__", "run_module", "entry_points") for name in names)


def test_a_module_is_imported_by_its_name_only_where_that_is_listed() -> None:
    found = {name: names_imported_by(ast.parse(path.read_text())) for name, path in ALL.items()}
    del found["gradbox.doctor"]  # it only asks whether pytest would find our plugin
    assert {name: count for name, count in found.items() if count} == IMPORTED_BY_NAME
    for name in IMPORTED_BY_NAME.keys() - {"gradbox.command"}:
        assert re.search(r"# by its name: \w+", ALL[name].read_text()), name
    hidden = "import importlib as i\ni.import_module('server.app')\n__import__('gradbox.run')"
    assert names_imported_by(ast.parse(hidden)) == 2, "one would be found"


def test_the_web_process_never_loads_torch() -> None:
    code = "import server.__main__, sys; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_import_gradbox_loads_next_to_nothing() -> None:
    code = "import sys; before = {*sys.modules}; import gradbox; print(*sorted({*sys.modules} - before))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    modules = loaded.stdout.split()
    assert {name for name in modules if name.startswith(("gradbox", "server", "torch"))} == {"gradbox"}
    assert len(modules) <= 20, modules


def test_trace_layout_marks_and_findings_know_no_document() -> None:
    files = [
        path
        for folder in ("trace", "layout", "marks", "findings")
        for path in (ROOT / "static/js" / folder).rglob("*.ts")
    ]
    assert files
    for path in files:
        code = re.sub(r"//.*|/\*.*?\*/", "", path.read_text(), flags=re.S)
        assert not re.search(r"\b(document|window|globalThis|navigator)\b\s*[.(\[]", code), path


def test_every_module_says_what_it_owns() -> None:
    for name, path in ALL.items():
        text = ast.get_docstring(ast.parse(path.read_text()))
        assert (text and text.split("\n")[0].endswith((".", ":", ",", ";"))) or len(text or "") > 40, name


IMPORTED = re.compile(r"^ *from ((?:server|gradbox|tests)[\w.]*) import ([\w, ]+)$", re.MULTILINE)


def defined_names(path: Path) -> set[str]:
    """What a module's own statements bind, in whatever block they are."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return names


def test_programs_in_strings_import_what_there_is() -> None:
    """When a module moves, nothing else finds them: mypy does not read them, and `make test` runs few of those of
    benchmarks, chaos and the images."""
    absent = []
    for path in [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/*.py")]:
        if path.is_relative_to(ROOT / "tests/examples/own_code") or path.name == "test_reach.py":
            continue  # scripts with modules of their own
        texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        for module, names in IMPORTED.findall("\n".join(text for text in texts if isinstance(text, str))):
            file = ROOT / module.replace(".", "/")
            source = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
            defined = defined_names(source) if source.exists() else set()
            for name in re.findall(r"(\w+)(?: as \w+)?(?:,|$)", names):
                if name not in defined and not (file / f"{name}.py").exists() and not (file / name).is_dir():
                    absent.append(f"{path.name}: {module}.{name}")
    assert absent == []


def test_a_clone_has_the_folders_that_an_installation_needs() -> None:
    """`make run` installs the project before the page is built; the rule makes what the repository does not have."""
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"].values()
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    rule = re.search(r"^\$\(VENV\)/\.python:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert rule is not None
    before_install = rule[1].partition("install")[0]
    missing = [folder for folder in folders if f"{folder}/" in ignored and f"mkdir -p {folder}\n" not in before_install]
    assert list(folders) and missing == []
