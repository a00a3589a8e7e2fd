"""The builder's cards: put together they are the program to the character, and what is done with them stays Python."""

import ast
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import random_library_programs, random_programs
from tests.support.explaining import NODE

ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared/seeds/snippets.json"
FOLDERS = ("scenarios", "tests/examples/programs", "tests/examples/silent", "benchmarks/nets")
EDITS = 1000
SHAPES = (
    "",
    "\n",
    "x = 1",
    "\n\n# nothing\n",
    "if a: b = 1\nelif c:\n\tb = 2\n\telse_ = 3\nelse: pass\n",
    "def f():\n\t'''a\n\tb\n'''\n\treturn 1; x = 2\n",
    "x = [1,\n  2]; y = '''q\n  r'''\n",
    "try:\n  pass\nexcept* E:\n  pass\nelse:\n  x = 1\nfinally:\n  y = 2",
    "@a\n@b(\n 1)\nasync def f():\n    async with x as y: await y\n    async for z in y:\n        yield z\n",
    "match x:\n    case [1, *_]: pass\n    case {'a': b} if b:\n        # note\n        c = b\n    case _:\n        "
    "pass\n",
    "x = 1 + \\\n    2\nwhile x:\n    if y: break\n    # z = 1\n    continue\n",
    "class A:\n    x: int = 1\n    def f(self):\n        # for i in x:\n        #     y = 1\n        pass\n\n\n",
    "from __future__ import annotations\nimport torch\nwith a, b as c:\n    for i in c:\n        pass\n    else:\n    "
    "    d = f'{i!r:>{3}}'\n",
    "def f(\n",
    "x = )\n  y = 1\nfor",
    "    indented = 1\nx = 2\n",
)


def sources() -> list[str]:
    """Programs of every kind, as the editor has them."""
    files = [path.read_text() for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))]
    generated = [random_programs.program(seed) for seed in range(150)]
    generated += [random_library_programs.program(seed) for seed in range(50)]
    return [text.replace("\r\n", "\n") for text in [*SHAPES, *files, *generated, *seeds()]]


def seeds() -> list[str]:
    """The articles' programs, where they are beside the checkout."""
    if not SEEDS.exists():
        return []
    return [seed["program"] for seed in json.loads(SEEDS.read_text())]


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    programs = sources()
    whole = [source for source in programs if parses(source)]
    command = [*NODE, str(ROOT / "tests/builder/card_edits.mjs")]
    answers: dict[str, Any] = {}
    for name, request in {
        "read": {"programs": programs, "edits": 0, "seed": 1},
        "edited": {"programs": whole, "edits": EDITS, "seed": 7},
    }.items():
        done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        answers[name] = json.loads(done.stdout)
    return {"programs": programs, **answers}


def parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def test_joining_the_cards_gives_back_the_program(asked: dict[str, Any]) -> None:
    assert len(asked["programs"]) > 500
    assert asked["read"]["together"] == asked["programs"]


def test_a_program_stays_valid_python_after_every_edit_of_cards(asked: dict[str, Any]) -> None:
    after = asked["edited"]["after"]
    assert len(after) >= EDITS
    broken = [(edit["name"], edit["line"], edit["before"], edit["text"]) for edit in after if not parses(edit["text"])]
    assert broken == []
    assert {edit["name"] for edit in after} == {
        "removeCard",
        "duplicateCard",
        "toggleComment",
        "moveCardUp",
        "moveCardDown",
        "moveCard",
        "insertStatements",
        "rewriteCard",
    }
    assert asked["edited"]["refused"] < EDITS / 2, "most of what a reader does is possible"


def test_the_editor_has_the_text_of_the_cards_and_takes_it_back(asked: dict[str, Any]) -> None:
    assert all(edit["same"] for edit in asked["edited"]["after"])
    assert all(edit["isTakenBack"] for edit in asked["edited"]["after"])


def test_rewriting_a_card_with_its_own_text_changes_nothing(asked: dict[str, Any]) -> None:
    rewritten = [edit for edit in asked["edited"]["after"] if edit["name"] == "rewriteCard"]
    assert rewritten and all(edit["text"] == edit["before"] for edit in rewritten)


def test_a_card_switched_off_and_on_is_the_same(asked: dict[str, Any]) -> None:
    undone = [
        edit for edit in asked["edited"]["after"] if edit["name"] == "toggleComment" and edit["undone"] is not None
    ]
    undone = [edit for edit in undone if not any(line.strip() == "pass" for line in edit["before"].split("\n"))]
    assert len(undone) > 30
    assert all(edit["undone"] == edit["before"] for edit in undone)
