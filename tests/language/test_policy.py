"""What is refused and how it is said; what teaching code uses is not."""

import ast
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gradbox.language import policy, tree
from gradbox.language.determinism import nondeterministic_names
from gradbox.language.paste import normalise_pasted_text
from gradbox.language.policy import MAX_DEPTH, REFUSAL_REASONS, parse_and_check_program
from gradbox.recorder.instrument import instrument_tree
from gradbox.wire.program import Refusal

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "tests/examples/programs").glob("*.py"), *(ROOT / "scenarios").glob("*.py")])


def refused(source: str) -> list[Refusal]:
    return parse_and_check_program(source)[1]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_our_own_programs_are_accepted_unchanged(path: Path) -> None:
    nodes, refusals = parse_and_check_program(path.read_text())
    assert refusals == []
    assert nodes is not None
    assert ast.dump(nodes.tree) == ast.dump(ast.parse(path.read_text()))


@pytest.mark.parametrize(
    "source, key, what",
    [
        ("import sqlite3", "files", "import of 'sqlite3'"),
        ("import dbm.dumb as d", "files", "import of 'dbm.dumb'"),
        ("import os\nos.system('ls')", "processes", "'os.system'"),
        ("from socket import socket", "network", "import of 'socket'"),
        ("import subprocess", "processes", "import of 'subprocess'"),
        ("from torchvision import models", "missing", "import of 'torchvision'"),
        ("import matplotlib.pyplot as plt", "missing", "import of 'matplotlib.pyplot'"),
        ("import antigravity", "import", "import of 'antigravity'"),
        ("from . import helpers", "relative", "import of '.'"),
        ("import torch.distributed as dist", "processes", "import of 'torch.distributed'"),
        ("from numpy import memmap", "files", "'numpy.memmap'"),
        ("from torch.hub import load", "network", "import of 'torch.hub'"),
        ("import torch\ntorch.from_file('x', size=1)", "files", "'torch.from_file'"),
        ("open('x').fileno()", "files", "'fileno'"),
        ("import torch as t\nt.hub.load('a', 'b')", "network", "'torch.hub'"),
        ("import numpy as np\nnp.fromfile('x')", "files", "'numpy.fromfile'"),
        ("import torch\ntorch.cond(p, f, g, (x,))", "compiler", "'torch.cond'"),
        ("import torch._dynamo\ntorch._dynamo.explain(f)", "compiler", "'torch._dynamo.explain'"),
        ("import sys\nsys.modules['os']", "interpreter", "'sys.modules'"),
        ("eval('1')", "text", "'eval'"),
        ("f = exec", "text", "'exec'"),
        ("__import__('os')", "import", "'__import__'"),
        ("breakpoint()", "keyboard", "'breakpoint'"),
        ("().__class__.__base__.__subclasses__()", "interpreter", "'__subclasses__'"),
        ("def f(): pass\nf.__globals__", "interpreter", "'__globals__'"),
    ],
)
def test_what_is_not_available_says_what_and_why(source: str, key: str, what: str) -> None:
    (refusal,) = refused(source)
    assert (refusal.key, refusal.args["what"]) == (key, what)
    assert refusal.message == f"{what} is not available: {REFUSAL_REASONS[key]}"
    assert refusal.line == source.count("\n") + 1 or source.count("\n") == 2


@pytest.mark.parametrize(
    "source",
    [
        "input = 1\nprint(input)",
        "def f(open, *compile, **eval):\n    return open, compile, eval",
        "for exec in []:\n    exec",
        "import torch as input\ninput.ones(1)",
        "class breakpoint: pass\nbreakpoint()",
        "with x as open:\n    open",
        "try:\n    pass\nexcept E as input:\n    input",
        "[compile for compile in []]",
        "if (eval := 1):\n    eval",
        "match x:\n    case {'a': 1, **open}:\n        open",
        "globals(), locals(), vars(), dir(), id(1), getattr(1, 'real'), type('A', (), {}), super, memoryview, help",
        "x._version, x._base, x._saved_self, x._raw_saved_result, x._backward_hooks, self._x, f.__name__, x.__dict__",
        "x.cuda()\nx.load()\nx.save(1)\nself.open()\nmodel.compile(1)\nre.compile",
        "import torch, torch._inductor.config as c\nc.a = 1\ntorch._inductor.config.triton.b = 1\nfrom "
        "torch._inductor import config",
        "import torch.utils.checkpoint, torch.autograd.forward_ad as fw, numpy.linalg\nfrom torch.utils import data",
        "from torch import *\nfrom torch.optim.lr_scheduler import StepLR",
        "import sys\nsys.exit(sys.version, sys.getsizeof(1), sys.getrefcount(1), sys.argv)",
        "import io, os.path, pathlib, tempfile\nfrom os import makedirs\nopen('x')\nos.listdir('.')",
        "import torch, numpy as np\ntorch.save(torch.load('x'), 'y')\nnp.save('z', np.load('w'))",
        "async def f():\n    async with a as b:\n        async for c in d:\n            await c",
        "",
    ],
)
def test_modules_that_teaching_code_uses_are_accepted(source: str) -> None:
    tree, refusals = parse_and_check_program(source)
    assert tree is not None
    assert refusals == []


def test_all_refusals_come_at_once_in_order_with_columns_in_characters() -> None:
    refusals = refused(
        "x = '张量'; import os, dbm, math, socket\nif x:\n    y = [__import__(n) for n in '文' + eval('1')]\n"
    )
    assert [(refusal.line, refusal.col, refusal.end_col, refusal.args["what"]) for refusal in refusals] == [
        (1, 21, 24, "import of 'dbm'"),
        (1, 32, 38, "import of 'socket'"),
        (3, 9, 19, "'__import__'"),
        (3, 38, 42, "'eval'"),
    ]


def test_each_forbidden_use_is_refused_once() -> None:
    assert len(refused("import torch\ntorch.hub.load.x.y")) == 1
    assert len(refused("import torch.hub as h\nh.load")) == 1


@pytest.mark.parametrize(
    "source, line, col, part",
    [
        ("x = 1\ny = (2\nz = 3\n", 2, 4, "'(' was never closed"),
        ("x = 1\n\n  y = 2", 3, 1, "unexpected indent"),
        ("print（1）", 1, 5, "invalid character '（'"),
        ("x = '量' y", 1, 8, "invalid syntax"),
        ("x = '张量'; return 1", 1, 10, "'return' outside function"),
        ("return 1", 1, 0, "'return' outside function"),
        ("for x in y:\n    pass\nbreak", 3, 0, "'break' outside loop"),
        ("def f():\n    nonlocal x", 2, 4, "no binding for nonlocal 'x' found"),
        ("def f(a, a): pass", 1, 9, "duplicate argument 'a'"),
        ("from __future__ import braces", 1, 0, "not a chance"),
        ("a\nb = 'x\0'", 2, 0, "null bytes"),
        (
            "def f():\n" + "".join(f"{' ' * n}while x:\n" for n in range(1, 23)) + " " * 23 + "x",
            22,
            21,
            "nested blocks",
        ),
    ],
)
def test_a_syntax_error_has_pythons_words_and_place(source: str, line: int, col: int, part: str) -> None:
    tree, (refusal,) = parse_and_check_program(source)
    assert tree is None
    assert part in refusal.message
    assert refusal.key == "syntax"
    if sys.version_info >= (3, 13) and part == "nested blocks":  # seen a line later there
        with pytest.raises(SyntaxError) as error:
            compile(source, "<program>", "exec")
        line, col = error.value.lineno or 0, (error.value.offset or 1) - 1
    assert (refusal.line, refusal.col) == (line, col)


SHAPES = {
    "sum": lambda n: "x = " + "+".join("1" * n),
    "attributes": lambda n: "x = x" + ".a" * n,
    "calls": lambda n: "x" + "()" * n,
    "not": lambda n: "x = " + "not " * n + "x",
    "lambda": lambda n: "x = " + "lambda: " * n + "x",
    "elif": lambda n: "if x: y\n" + "elif x: y\n" * n,
    "ifs": lambda n: "".join(f"{' ' * k}if x:\n" for k in range(min(n, 99))) + " " * 99 + "x",
    "functions": lambda n: "".join(f"{' ' * k}def f(x):\n" for k in range(min(n, 99))) + " " * 99 + "yield x",
    "classes": lambda n: "".join(f"{' ' * k}class f(x):\n" for k in range(min(n, 99))) + " " * 99 + "x = 1",
    "lists": lambda n: "x = " + "[" * min(n, 190) + "1" + "]" * min(n, 190),
    "conditional": lambda n: "x = " + "1 if x else " * n + "2",
    "strings": lambda n: "x = f'" + "{x:" * 1 + "}" + "'" + "%x" * n,
    "yields": lambda n: "def f():\n    x = " + "+".join(["(yield 1)"] * n),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_accepted_compiles_with_its_instruments(shape: str) -> None:
    make, least, most = SHAPES[shape], 1, 2 * MAX_DEPTH
    while least < most:  # the largest that is accepted
        n = (least + most + 1) // 2
        least, most = (n, most) if not refused(make(n)) else (least, n - 1)
    nodes, refusals = parse_and_check_program(make(least))
    assert nodes is not None
    assert refusals == []
    compile(instrument_tree(nodes)[0], "<program>", "exec")
    assert least >= 60


@pytest.mark.parametrize("shape", ["sum", "attributes", "calls", "not", "lambda", "elif", "conditional"])
@pytest.mark.parametrize("n", [MAX_DEPTH + 2, 3_000, 9_000])
def test_what_is_too_deep_is_refused_with_a_line(shape: str, n: int) -> None:
    source = "x = 1\n" + SHAPES[shape](n)
    tree, (refusal,) = parse_and_check_program(source)
    assert tree is None
    assert refusal.key == "deep"
    assert 1 <= refusal.line <= source.count("\n") + 1


@pytest.mark.parametrize(
    "source", ["-" * 65_000 + "1", "(" * 65_000, "'\ud800'", "x = " + "9" * 60_000, "\\", "\f" * 9]
)
def test_hostile_source_is_refused_or_accepted_but_never_raises(source: str) -> None:
    for refusal in refused(source):
        assert refusal.line == 1
        assert refusal.message


def test_the_number_of_refusals_is_bounded() -> None:
    assert len(refused("exec\n" * 5_000)) == policy.MAX_REFUSALS


def test_every_reason_is_used_and_every_use_has_a_reason() -> None:
    used = {
        *policy.UNAVAILABLE_MODULES.values(),
        *policy.FORBIDDEN_MEMBERS.values(),
        *policy.FORBIDDEN_BUILTINS.values(),
    }
    assert used | {"import", "relative"} == set(REFUSAL_REASONS)
    assert not policy.ALLOWED_MODULES & policy.UNAVAILABLE_MODULES.keys()


def test_no_warning_comes_from_checking() -> None:
    assert refused("x = '\\d'\nassert (x, 'always')\nx is 'd'\n") == []  # here warnings are errors


def test_the_page_knows_every_reason_in_the_same_words() -> None:
    folder = ROOT / "static/locales"
    english, chinese = (json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ("en", "zh"))
    for key, words in REFUSAL_REASONS.items():
        assert english[f"why_{key}"] == words
        assert chinese[f"why_{key}"] != words


def test_a_program_is_parsed_and_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()
    for module, name in ((ast, "parse"), (tree, "nodes_by_depth")):
        counted(monkeypatch, module, name, counts)
    pasted = normalise_pasted_text("import torch\nx = torch.ones(2)  # tensor([1., 1.])\nf = lambda y: y + x\nf(x)\n")
    nodes, refusals = parse_and_check_program(pasted.source, pasted.nodes, is_compiled_next=True)
    assert nodes is not None
    assert refusals == []
    assert nondeterministic_names(nodes) == []
    _, statements = instrument_tree(nodes)
    assert [row["kind"] for row in statements.rows] == ["Import", "Assign", "Assign", "Expr"]
    assert counts == {"parse": 1, "nodes_by_depth": 1}


def counted(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, counts: Counter[str]) -> None:
    """Have the calls of a function counted."""
    function = getattr(module, name)

    def count_call(*args: Any, **kwargs: Any) -> Any:
        counts[name] += 1
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, count_call)
