"""`docs/recipes.md`: each recipe is run as it stands there, with the packages that it needs."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.forks.forked_pytest import printed_by_pytest
from tests.forks.plain_python import call_beside_gradbox
from tests.notebook.test_own_code_notebook import executed_notebook
from tests.support.own_programs import ROOT, forked_python, gradbox_command

pytestmark = pytest.mark.slow
DOCUMENT = ROOT / "docs/recipes.md"


class Block(NamedTuple):
    """Code of the document.

    name: of its file; "" for commands and cells
    """

    language: str
    name: str
    code: str


def recipes() -> dict[str, list[Block]]:
    """The blocks of each heading."""
    sections = re.split(r"^##? (?!\w+\.py$)(.+)$", DOCUMENT.read_text("utf-8"), flags=re.MULTILINE)[1:]
    found: dict[str, list[Block]] = {}
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        found[heading] = [
            Block(language, (re.match(r"# (\w+\.py)\n", code) or ["", ""])[1], code)
            for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        ]
    return found


class Expected(NamedTuple):
    """What a recipe gives: files that it writes, and texts that it prints.

    status: of its last command
    package: that it needs
    python: the variable that names a Python with it
    """

    files: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    status: int = 0
    package: str = ""
    python: str = "GRADBOX_TRAINERS_PYTHON"


PICTURES = ("pictures/step-0.html", "pictures/step-100.html", "pictures/step-200.html")
EXPECTED = {
    "Ask what is wrong": Expected(texts=("Nothing wrong found", "loss 0.")),
    "Record some iterations": Expected(("run-iteration-0.html", "run-iteration-100.html")),
    "Record what follows a condition": Expected(("after.html",)),
    "Record the rounds before a NaN": Expected(tuple(f"last-round-{k}.html" for k in (97, 98, 99))),
    "Watch a loop": Expected(PICTURES),
    "TensorBoard": Expected(
        ("runs/gradbox/step-0.html", "runs/gradbox/step-50.html"), package="tensorboard"
    ),
    "Weights & Biases": Expected(
        texts=("Written to the run of wandb",), package="wandb", python="GRADBOX_NOTEBOOKS_PYTHON"
    ),
    "Lightning": Expected(
        ("pictures/batch-0.html", "pictures/batch-3.html", "rounds-round-0.html", "rounds-round-3.html"),
        package="lightning",
    ),
    "The Trainer of transformers": Expected(
        ("pictures/step-0.html", "pictures/step-2.html"), ("round 2",), package="transformers"
    ),
    "One rank of several": Expected(texts=("rank 1", "round 2")),
    "A failing test": Expected(
        texts=("gradbox call", ".detach()", "<- cause"), status=1
    ),
    "A test that the model trains": Expected(texts=("1 passed",)),
}  # fmt: skip
SAMPLE = {"Watch a loop", "A failing test"}
"""Recipes of each pytest."""

PYTEST_OPTIONS = ("-p", "no:cacheprovider", "-p", "no:schemathesis")


def run_line(line: str, folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """What a command of the document does.

    python: stands for the one on the reader's path
    """
    name, *arguments = shlex.split(line)
    commands = {
        "gradbox": gradbox_command(python),
        "python": [python],
        "pytest": [python, "-m", "pytest", *PYTEST_OPTIONS],
    }
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "WANDB_SILENT": "true", "COLUMNS": "80"}
    return subprocess.run(
        [*commands[name], *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def run_forked(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The same in forks, which import nothing anew."""
    name, *arguments = shlex.split(line)
    if name == "python":
        return forked_python(folder, *arguments)
    status, said = call_beside_gradbox(printed_by_pytest, str(folder), [*PYTEST_OPTIONS, *arguments])
    return subprocess.CompletedProcess(line, status, said, "")


def python_with(expected: Expected) -> str:
    """A Python that has the package; skips the test where none is known."""
    if not expected.package:
        return sys.executable
    python = os.environ.get(expected.python, sys.executable)
    if subprocess.run([python, "-c", f"import {expected.package}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{expected.package} is not installed; {expected.python} names a Python that has it")
    return python


def test_each_recipe_is_run() -> None:
    with_code = {heading for heading, blocks in recipes().items() if any(block.language == "sh" for block in blocks)}
    assert with_code == EXPECTED.keys()


@pytest.mark.parametrize(
    "heading",
    [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.exhaustive) for name in EXPECTED],
)
def test_a_recipe_does_what_it_says(heading: str, tmp_path: Path) -> None:
    expected, found = EXPECTED[heading], recipes()
    python = python_with(expected)
    for block in (*found["Recipes"], *found[heading]):
        if block.name:
            (tmp_path / block.name).write_text(block.code)
    said, status = "", 0
    for line in [line for block in found[heading] if block.language == "sh" for line in block.code.splitlines()]:
        done = run_forked(line, tmp_path) if heading in SAMPLE else run_line(line, tmp_path, python)
        said, status = said + done.stdout + done.stderr, done.returncode
    assert status == expected.status, said
    for text in expected.texts:
        assert text in said, said
    for name in expected.files:
        assert (tmp_path / name).read_text("utf-8").startswith("<!doctype html>"), said


def test_the_cells_of_the_recipe_for_notebooks_run(tmp_path: Path) -> None:
    cells = [block.code.rstrip("\n") for block in recipes()["In a notebook"]]
    folder = executed_notebook(tmp_path, [f"import os\nos.chdir({str(tmp_path)!r})", *cells])
    outputs = [cell["outputs"] for cell in json.loads((folder / "run.ipynb").read_text("utf-8"))["cells"]]
    assert not [output for cell in outputs for output in cell if output["output_type"] == "error"]
    assert "Nothing wrong found" in "".join(outputs[4][0]["text"])
    assert (folder / "cell.html").read_text("utf-8").startswith("<!doctype html>")
