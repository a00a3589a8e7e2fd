"""Pasted texts become programs; programs stay as they are; nothing crashes on text that is neither."""

import ast
import json
import random
from pathlib import Path

import pytest

from gradbox.language.paste import MAX_NOTICES, PastedProgram, normalise_pasted_text
from tests.server.http.processor_time import compared_seconds

ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"
PASTES = sorted((ROOT / "tests/examples/pastes").glob("*.txt"))
PROGRAMS = sorted([*(ROOT / "tests/examples/programs").glob("*.py"), *(ROOT / "scenarios").glob("*.py")])


def notices_of(pasted: PastedProgram, kind: str) -> list[tuple[int | None, object]]:
    """(line, text) of the notices of a kind."""
    return [(notice.line, notice.args.get("text")) for notice in pasted.notices if notice.kind == kind]


def kinds(pasted: PastedProgram) -> set[str]:
    return {notice.kind for notice in pasted.notices}


def meaning(source: str) -> str:
    """What a program does: its tree without constants that stand alone."""
    tree = ast.parse(source)
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return ast.dump(tree)


@pytest.mark.skipif(not SEEDS.is_dir(), reason="../shared/seeds is missing: the articles' snippets were not normalised")
def test_every_snippet_of_the_articles_means_what_its_cleaned_program_means() -> None:
    snippets = json.loads((SEEDS / "snippets.json").read_text())
    for snippet in snippets:
        pasted = normalise_pasted_text((SEEDS / "snippets" / f"{snippet['id']}.txt").read_text())
        assert meaning(pasted.source) == meaning(snippet["program"]), snippet["id"]
    assert len(snippets) == 49


@pytest.mark.parametrize("path", PASTES, ids=lambda path: path.stem)
def test_a_pasted_text_means_what_its_program_means(path: Path) -> None:
    assert meaning(normalise_pasted_text(path.read_text()).source) == meaning(path.with_suffix(".py").read_text())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_comes_back_byte_for_byte(path: Path) -> None:
    source = path.read_text()
    pasted = normalise_pasted_text(source)
    assert pasted.source == source
    assert pasted.notices == []
    assert pasted.lines == list(range(1, source.count("\n") + 2))


def test_indentation_that_all_lines_share_comes_off() -> None:
    pasted = normalise_pasted_text("\n    x = 1\n    if x:\n        x = 2\n# at the margin\n    y = '''\na\n    b'''\n")
    assert pasted.source == "\nx = 1\nif x:\n    x = 2\n# at the margin\ny = '''\na\nb'''\n"
    assert [(notice.kind, notice.line) for notice in pasted.notices] == [("indentation", 2)]


def test_the_first_line_may_have_lost_its_indentation() -> None:
    assert normalise_pasted_text("x = 1\n    y = 2\n    z = 3").source == "x = 1\ny = 2\nz = 3"
    broken = "x = 1\n    y = 2\nz = 3"
    assert normalise_pasted_text(broken) == PastedProgram(broken, [1, 2, 3])


def test_blanks_outside_of_strings_become_plain_ones() -> None:
    pasted = normalise_pasted_text("x = 1\ny\u00a0=\u3000'a\u3000b'  #\u3000c\nz\u2003= '''\n\u3000'''\n")
    assert pasted.source == "x = 1\ny = 'a\u3000b'  #\u3000c\nz = '''\n\u3000'''\n"
    assert notices_of(pasted, "blanks") == [(2, None), (3, None)]


def test_ends_of_lines_and_a_byte_order_mark() -> None:
    pasted = normalise_pasted_text("\ufeffx = 1\r\ny = '''a\r\nb'''\rz = 2")
    assert (pasted.source, pasted.lines) == ("x = 1\ny = '''a\nb'''\nz = 2", [1, 2, 3, 4])


def test_invisible_characters_are_pointed_out() -> None:
    pasted = normalise_pasted_text("x\u200b = 1\nif x:  # \u202e} dne\n    y = 'a\u200bb'\nz = '\ud800'\n")
    assert pasted.source == "x = 1\nif x:  # \u202e} dne\n    y = 'a\u200bb'\nz = '?'\n"
    assert notices_of(pasted, "hidden") == [(1, None), (3, None), (4, None)]
    assert notices_of(pasted, "turning") == [(2, None)]


def test_a_transcript_keeps_its_statements_and_sets_aside_what_was_printed() -> None:
    pasted = normalise_pasted_text(
        "Python 3.11\n>>> for i in range(2):\n...     print(i)  # twice\n...\n0\n1\n>>>x = 3\n>>> x\n3\n\n>>> x /0\n"
        'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n    y = x / 0\nZeroDivisionError: z\n'  # noqa: E501
    )
    assert pasted.source == "for i in range(2):\n    print(i)  # twice\n\nx = 3\nx\nx /0"
    assert pasted.lines == [2, 3, 4, 7, 8, 11]
    assert [(line, str(text).split("\n")[0]) for line, text in notices_of(pasted, "printed")] == [
        (None, "Python 3.11"),
        (3, "0"),
        (5, "3"),
        (6, "Traceback (most recent call last):"),
    ]
    assert notices_of(pasted, "left_out") == []


def test_a_line_of_a_transcript_that_nobody_prints_is_left_out_with_a_repair() -> None:
    pasted = normalise_pasted_text("import torch\n>>> a = 1\nc>>> .zero_()\n>>> a\n1\nb = 2\n>>> a\n")
    assert pasted.source == "a = 1\na\na"
    left_out = [(notice.line, notice.args) for notice in pasted.notices if notice.kind == "left_out"]
    assert left_out == [
        (None, {"text": "import torch", "repair": "import torch"}),
        (1, {"text": "c>>> .zero_()", "repair": "c.zero_()"}),
        (2, {"text": "b = 2", "repair": "b = 2"}),
    ]


def test_what_print_printed_may_look_like_a_statement() -> None:
    pasted = normalise_pasted_text(">>> print('loss = 1')\nloss = 1\n")
    assert notices_of(pasted, "printed") == [(1, "loss = 1")]


def test_lines_that_go_on_without_dots_belong_to_their_statement() -> None:
    pasted = normalise_pasted_text(
        ">>> def f(x):\n        y = x\n        return y\n\n>>> f(1,\n  )\n  1\n>>> f([2,\n3])\n[2, 3]\n"
    )
    assert pasted.source == "def f(x):\n        y = x\n        return y\nf(1,\n  )\nf([2,\n3])"
    assert notices_of(pasted, "printed") == [(5, "  1"), (7, "[2, 3]")]


def test_prompts_in_a_docstring_make_no_transcript() -> None:
    broken = 'def f():\n    """\n    >>> f()\n    ```\n    1\n    """\n    retrun 1 1\n'
    assert normalise_pasted_text(broken) == PastedProgram(broken, list(range(1, 9)))


def test_long_hostile_texts_are_read_in_no_time() -> None:
    cell = json.dumps([f"x{k} = 'é'\n" for k in range(2000)])
    notebook = '{"cells": [{"cell_type": "code", "source": ' + cell + "}]}" + "\n" * 30_000
    quoted = "x = " + "'\u00a0' + " * 8000 + "(\u00a0"
    for text in (notebook, quoted):
        assert compared_seconds(lambda text=text: normalise_pasted_text(text)) < 1.5  # type: ignore[misc]


def test_a_notebook_beside_its_prompts() -> None:
    pasted = normalise_pasted_text(
        "In [1]: import torch\n\nIn [2]: for i in [1]:\n   ...:     print(i)\n   ...:\n1\n\nIn [3]: i\nOut[3]: 1\n"
    )
    assert pasted.source == "import torch\nfor i in [1]:\n    print(i)\n\ni"
    assert notices_of(pasted, "printed") == [(4, "1"), (5, "Out[3]: 1")]


def test_a_notebook_under_its_prompts() -> None:
    pasted = normalise_pasted_text("In [1]:\nx = 1\n\nx + 1\nOut[1]:\n2\nIn [ ]:\ny = 2\n")
    assert pasted.source == "\nx = 1\n\nx + 1\n\ny = 2\n"
    assert notices_of(pasted, "printed") == [(4, "Out[1]:\n2")]


def test_cells_that_python_would_take_for_annotations() -> None:
    assert normalise_pasted_text("In [1]: x = 1\nIn [2]: x.y\n").source == "x = 1\nx.y"
    own = "In = {}\nIn [1]: int = 1\n"
    assert normalise_pasted_text(own) == PastedProgram(own, [1, 2, 3])


def test_magic_is_left_out_and_lines_that_go_on_are_not() -> None:
    pasted = normalise_pasted_text("%matplotlib inline\n!pip install torch\nx = (7\n% 4)\n")
    assert pasted.source == "\n\nx = (7\n% 4)\n"
    assert notices_of(pasted, "magic") == [(1, "%matplotlib inline"), (2, "!pip install torch")]


@pytest.mark.parametrize("between", [" ", ". ", ": ", " | ", "\t", ")  "])
def test_listing_numbers_come_off(between: str) -> None:
    text = "\n".join(f"{n:>2}{between}{code}" for n, code in enumerate(["if 1:", "    x = 2", "y = 3"], 8))
    pasted = normalise_pasted_text(text)
    assert (pasted.source, kinds(pasted)) == ("if 1:\n    x = 2\ny = 3", {"listing"} | kinds(pasted) & {"indentation"})


def test_a_listing_may_skip_blank_lines_and_must_count_up() -> None:
    assert normalise_pasted_text("1 x = 1\n\n3 y = 2").source == "x = 1\n\ny = 2"
    for text in ("1 x = 1\n3 y = 2", "2 x = 1\n1 y = 2", "1 x = 1\ny = 2"):
        assert normalise_pasted_text(text) == PastedProgram(text, [1, 2])


def test_the_python_fences_of_a_markdown_text_are_taken() -> None:
    pasted = normalise_pasted_text(
        "Look:\n```bash\npip install torch\n```\n```python\n  x = 1\n```\nThen:\n```py\ny = 2\n```\nEnd.\n"
    )
    assert (pasted.source, pasted.lines) == ("x = 1\ny = 2", [6, 10])
    assert "fences" in kinds(pasted)


def test_a_transcript_in_an_unclosed_fence() -> None:
    assert normalise_pasted_text("It's easy:\n\n```\n>>> x = 1\n>>> x\n1\n").source == "x = 1\nx"


@pytest.mark.parametrize(
    "text, imports",
    [
        ("x = torch.ones(1)\n", ["import torch"]),
        ("x = nn.Linear(1, 1)(torch.ones(1))\n", ["import torch", "from torch import nn"]),
        ("import torch.nn.functional as F\nx = torch.ones(1)\n", ["import torch"]),
        ("np.ones(1), F.relu, math.pi\n", ["import numpy as np", "import torch.nn.functional as F", "import math"]),
        ("tensor([1.])\n", ["import torch"]),
        ("def f(nn):\n    return nn.x\n", []),
        ("F = lambda: 1\nF.x = 2\n", []),
        ("from torch import *\nnn.Linear\n", []),
        ("F(1)\nnp\n", []),
        ("import torch as t\nt.ones(1)\n", []),
        ("try:\n    1\nexcept E as copy:\n    copy.args\n", []),
        ("match x:\n    case [*np]:\n        np.x\n    case {**math}:\n        math.x\n", []),
    ],
)
def test_an_import_that_was_forgotten_is_added_where_it_shows(text: str, imports: list[str]) -> None:
    pasted = normalise_pasted_text(text)
    assert pasted.source == "".join(f"{line}\n" for line in imports) + text
    assert notices_of(pasted, "import") == [(k, line) for k, line in enumerate(imports, 1)]
    assert pasted.lines == [None] * len(imports) + list(range(1, text.count("\n") + 2))


def test_an_added_import_stands_after_a_docstring_and_imports_from_the_future() -> None:
    text = '"""A\ndocstring."""\nfrom __future__ import annotations\ntorch.ones(1)\n'
    pasted = normalise_pasted_text(text)
    assert pasted.source.split("\n")[3] == "import torch"
    assert pasted.lines == [1, 2, 3, None, 4, 5]


def test_lines_of_notices_are_lines_of_the_program() -> None:
    pasted = normalise_pasted_text("text\n```python\n>>> x = torch.ones(1)\n>>>\u00a0x\n1\n```\n\u3000more")
    assert pasted.source == "import torch\nx = torch.ones(1)\nx"
    assert pasted.lines == [None, 3, 4]
    assert notices_of(pasted, "blanks") == [(3, None)]
    assert notices_of(pasted, "printed") == [(3, "1")]


def test_the_number_of_notices_of_a_kind_is_bounded() -> None:
    pasted = normalise_pasted_text("%x\n" * (MAX_NOTICES + 5) + "x = 1")
    assert len(pasted.notices) == MAX_NOTICES
    assert pasted.notices[-1].args["more"] == 5


def test_no_warning_comes_from_parsing() -> None:
    source = "x = '\\d'\nx is 'd'\n"  # here warnings are errors
    assert normalise_pasted_text(source).source == source


HOSTILE = {
    "prompts": ">>> " * 16_000,
    "empty prompts": ">>> \n" * 13_000,
    "session": ">>> x\n1\n" * 8_000,
    "torn session": ">>> a\nc>>> .z()\n" * 4_000,
    "open bracket": ">>> (\n" + "a\n" * 30_000,
    "nulls": "\0" * 65_000,
    "half characters": "\ud800\n" * 20_000,
    "wide blanks": "\u3000x\n" * 15_000,
    "bidi": "\u202e" * 20_000,
    "brackets": "(" * 65_000,
    "minus": "-" * 65_000 + "1",
    "attributes": "x" + ".a" * 30_000,
    "sum": "x = " + "+".join("1" * 30_000),
    "quotes": "'''\n" * 16_000 + "(",
    "fences": "```python\nx = 1\n```\nprose\n" * 2_000 + "(",
    "numbers": "\n".join(f"{n} x = (" for n in range(6_000)),
    "cells": "In [1]: x\nOut[1]: 3\n" * 3_000,
    "form feeds": "\f" * 65_000,
    "tabs": "\t" * 65_000 + "x",
    "staircase": "\n".join(" " * n + "if x:" for n in range(350)),
    "digits": "x = " + "9" * 60_000,
    "backslashes": "\\\n" * 30_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_taken_quickly(name: str) -> None:
    taken: list[PastedProgram] = []
    assert compared_seconds(lambda: taken.append(normalise_pasted_text(HOSTILE[name]))) < 2
    (pasted,) = taken
    assert len(pasted.lines) == pasted.source.count("\n") + 1


def test_fuzzed_text_never_raises_and_keeps_its_lines() -> None:
    dice = random.Random(0)
    pieces = [
        *">(['\"#\\:\n\n  \t\0\f\u3000\u200b\u202e\ud800\ufeff\r",
        ">>> ",
        "... ",
        "In [1]: ",
        "Out[1]: ",
        "```",
        "'''",
    ]
    pieces += [
        "x = 1",
        "def f():",
        "    ",
        "return",
        "%x",
        "!y",
        "1 ",
        "2 ",
        "torch.ones",
        "tensor(1.)",
        "```python\n",
        "\n\n",
    ]
    for _ in range(1500):
        text = "".join(dice.choices(pieces, k=dice.randrange(1, 40)))
        pasted = normalise_pasted_text(text)
        assert len(pasted.lines) == pasted.source.count("\n") + 1
        origins = [line for line in pasted.lines if line is not None]
        assert origins == sorted(set(origins))
        assert all(notice.line is None or 1 <= notice.line <= len(pasted.lines) for notice in pasted.notices), text
        pasted.source.encode()
