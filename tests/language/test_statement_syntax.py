"""What each statement mentions, as the trace has it: against Python's own parser and its own scopes."""

import ast
import json
import subprocess
import symtable
from pathlib import Path
from typing import Any

import pytest

from gradbox.language.statement_syntax import (
    MAX_LITERAL_ELEMENTS,
    MAX_NODES_OF_PROGRAM,
    MAX_NODES_OF_STATEMENT,
    statement_records,
)
from gradbox.language.tree import SyntaxNodes
from gradbox.recorder.instrument import ProgramStatements, instrument_tree
from gradbox.wire.program import MAX_NODE_TEXT, Program, Statement, StatementSyntax
from tests.support.explaining import NODE, ROOT

PROGRAMS = sorted(
    path
    for folder in ("scenarios", "tests/examples", "tests/golden")
    for path in (ROOT / folder).rglob("*.py")
    if "/own_" not in str(path)
)


def statements_of(source: str) -> list[Any]:
    _, statements = instrument_tree(SyntaxNodes(ast.parse(source)), ProgramStatements())
    return statement_records(source, statements.rows, statements.syntaxes)


def nodes_of(source: str, stmt: int = -1) -> list[tuple[str, str, Any, str | None]]:
    """Kind, text, value and path of each node of a statement."""
    statement = statements_of(source)[stmt]
    syntax = statement["syntax"]
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    base = starts[statement["line"] - 1] + statement["col"]
    return [
        (kind, source[base + start : base + end], syntax["values"].get(str(k)), syntax["paths"].get(str(k)))
        for k, (kind, start, end) in enumerate(zip(syntax["kinds"], syntax["starts"], syntax["ends"], strict=True))
    ]


@pytest.mark.parametrize(
    "source",
    [
        "print((中间).grad)",
        "é = 1; print(中间\\\n.grad)",
        "x = '😀'; print(中间 . grad)",
        "print(\n    # a comment\n    (中间\n    ).grad)",
    ],
)
def test_an_attribute_is_found_however_it_is_spelled(source: str) -> None:
    attribute = next(node for node in nodes_of(source) if node[0] == "Attribute")
    assert attribute[2] == "grad"
    assert attribute[1].endswith("grad")
    assert ("Name", "中间", "中间", None) in nodes_of(source)


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import torch", "torch.nn.functional.softmax(x)"),
        ("import torch as th", "th.nn.functional.softmax(x)"),
        ("import torch.nn.functional", "torch.nn.functional.softmax(x)"),
        ("import torch.nn.functional as F", "F.softmax(x)"),
        ("from torch import nn", "nn.functional.softmax(x)"),
        ("from torch.nn import functional as 函", "函.softmax(x)"),
        ("from torch.nn.functional import softmax as s", "s(x)"),
        ("from torch.nn.functional import *", "softmax(x)"),
        ("import torch\nF = torch.nn.functional", "F.softmax(x)"),
        ("def f():\n    global F\n    import torch.nn.functional as F", "F.softmax(x)"),
    ],
)
def test_a_call_is_known_by_the_path_that_is_imported(imports: str, call: str) -> None:
    nodes = nodes_of(f"{imports}\n{call}")
    root = next(node for node in nodes if node[0] == "Name")
    attributes = [node[2] for node in nodes if node[0] == "Attribute"]
    assert ".".join([root[3] or "", *reversed(attributes)]) == "torch.nn.functional.softmax"


@pytest.mark.parametrize(
    "source",
    [
        "import torch as x\nx = 1\nx.add",
        "try:\n    import cupy as x\nexcept ImportError:\n    import numpy as x\nx.add",
        "import torch as x\ndef f(x):\n    x.add",
        "import torch as x\n[x.add for x in y]",
        "import torch as x\n(lambda x: x.add)",
        "print = 1\nprint",
        "from torch import *\nprint",
    ],
)
def test_a_name_with_another_meaning_leads_nowhere(source: str) -> None:
    paths = [node[3] for node in nodes_of(source) if node[0] == "Name" and node[2] in ("x", "print")]
    assert paths == [None] * len(paths)
    assert paths


def test_a_name_is_looked_up_as_python_does() -> None:
    source = "import torch as x\nclass A:\n    x = 1\n    def f(self):\n        return x.add\n"
    assert [node[3] for node in nodes_of(source) if node[0] == "Name"] == ["torch"]
    assert ("Name", "x", "x", "torch") in nodes_of("import torch as x\n[x for y in x for x in y]")  # the first one


def test_places_agree_with_python() -> None:
    """The text of each node parses to that node again; of f-strings Python 3.11 does not know the places."""
    checked = 0
    for path in PROGRAMS[::5]:
        source = path.read_text()
        for stmt in range(len(statements_of(source))):
            for kind, text, _, _ in nodes_of(source, stmt):
                if kind in ("Name", "Call", "Attribute", "BinOp", "Compare", "Lambda", "Subscript"):
                    try:
                        parsed = ast.parse(f"({text})", mode="eval").body
                    except SyntaxError:
                        parsed = ast.parse(text.strip("'\""), mode="eval").body
                    assert type(parsed).__name__ in (kind, "JoinedStr"), (path, text)
                    checked += 1
    assert checked > 5000


def test_every_program_is_valid_on_the_wire() -> None:
    for path in PROGRAMS[::7]:
        source = path.read_text()
        program = Program.model_validate({"source": source, "statements": statements_of(source)})
        assert all(statement.syntax is not None for statement in program.statements), path


def test_names_in_each_scope_are_those_of_symtable(tmp_path: Path) -> None:
    """What the page's functions say a function reads and binds is what CPython's compiler says."""
    sources = {str(path): path.read_text() for path in PROGRAMS}
    # with future annotations, symtable has a second scope for each function
    programs = {path: statements_of(text) for path, text in sources.items() if "import annotations" not in text}
    request = [{"source": sources[path], "statements": rows} for path, rows in programs.items()]
    (tmp_path / "programs.json").write_text(json.dumps(request))
    command = [*NODE, str(ROOT / "tests/language/scope_names.mjs"), str(tmp_path / "programs.json")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    compared = 0
    for (path, rows), scopes in zip(programs.items(), json.loads(done.stdout), strict=True):
        tables = {(table.get_name(), table.get_lineno()): table for table in function_tables(path)}
        for stmt, (read, bound) in scopes.items():
            row = rows[int(stmt)]
            name, line = ("top", 0) if stmt == "-1" else (row["syntax"]["values"]["0"], row["line"])
            table = tables[name, line]
            symbols = table.get_symbols()
            assigned = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported() or s.is_namespace()}
            by_walrus = {
                s.get_name() for child in expression_tables(table) for s in child.get_symbols() if s.is_assigned()
            }
            assert assigned <= set(bound) <= assigned | by_walrus, (path, name, line)
            own = {symbol.get_name() for symbol in symbols if symbol.is_referenced()} - {"__class__"}  # `super()`
            inner = {symbol.get_name() for child in expression_tables(table) for symbol in child.get_symbols()
                     if symbol.is_free() or symbol.is_global() or child.get_type() == "class"}  # fmt: skip
            assert own <= set(read), (path, name, line)
            assert set(read) - own <= inner | assigned, (path, name, line)  # it calls the name of `+=` no reference
            compared += 1
    assert compared > 2000


def function_tables(path: str) -> list[symtable.SymbolTable]:
    """The scopes of a program's module and of its functions."""
    pending = [symtable.symtable(Path(path).read_text(), path, "exec")]
    tables = []
    while pending:
        table = pending.pop()
        pending += table.get_children()
        if table.get_type() == "module" or (table.get_type() == "function" and table.get_name() not in UNNAMED):
            tables.append(table)
    return tables


UNNAMED = ("lambda", "listcomp", "setcomp", "dictcomp", "genexpr")


def expression_tables(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    """The scopes in a scope that are not those of functions with a name, and those in them.

    A class that reads a method of its own by name counts to the scope around it: the method has a row of its own.
    """
    out = [child for child in table.get_children() if child.get_name() in UNNAMED or child.get_type() == "class"]
    for child in list(out):
        out += expression_tables(child)
    return out


def test_a_long_statement_is_unknown_not_empty() -> None:
    long = " + ".join(["x"] * (MAX_NODES_OF_STATEMENT // 2 + 2))
    first, second = statements_of(f"y = {long}\nz = x")
    assert "syntax" not in first
    assert second["syntax"]["kinds"] == ["Assign", "Name", "Name"]


def test_statements_beyond_the_bound_of_a_program_are_unknown() -> None:
    statement = "y = " + " + ".join(["x"] * 600)
    rows = statements_of("\n".join([statement] * 60))
    listed = sum(len(row["syntax"]["kinds"]) for row in rows if "syntax" in row)
    assert listed <= MAX_NODES_OF_PROGRAM
    assert "syntax" in rows[0]
    assert "syntax" not in rows[-1]


def test_of_many_literals_the_first_are_listed() -> None:
    syntax = statements_of(f"t = torch.tensor([{', '.join(['-0.5'] * 5000)}])")[0]["syntax"]
    assert syntax["kinds"].count("Constant") == MAX_LITERAL_ELEMENTS
    assert 5000 - MAX_LITERAL_ELEMENTS in syntax["values"].values()
    with_name = statements_of(f"t = [{'0, ' * 900}last]")[0]["syntax"]
    assert "last" in with_name["values"].values()


def test_deep_and_odd_texts_are_listed() -> None:
    deep = "(" * 80 + "x" + ")" * 80
    assert ("Name", "x", "x", None) in nodes_of(f"y = {deep}")
    assert (
        nodes_of("async def f():\n    async with a as b, c: pass\n    async for d in e: await g\n", 1)[0][0]
        == "AsyncWith"
    )
    source = "match s:\n    case [A(b, c=d), *rest] | {'k': v, **others} if rest: pass\n"
    bound = [value for kind, _, value, _ in nodes_of(source, 0) if kind in ("MatchAs", "MatchStar", "MatchMapping")]
    assert {name for name in bound if name} == {"b", "d", "rest", "v", "others"}


@pytest.mark.parametrize(
    "source",
    [
        f"x = {'a' * (MAX_NODE_TEXT + 1)}",
        f"x = os.{'a' * 50_000}",
        f"import {'.'.join(['package'] * 200)} as p",
        f"def f({'名' * 2000}): pass",
        f"global {', '.join(f'name_{n}' for n in range(400))}",
    ],
    ids=["name", "attribute", "import", "parameter", "global"],
)
def test_a_statement_with_a_very_long_name_has_no_tree_and_its_trace_is_valid(source: str) -> None:
    first, *_, last = statements_of(f"{source}\ny = 1")
    assert "syntax" not in first
    assert "syntax" in last
    assert Statement.model_validate(first)


@pytest.mark.parametrize(
    "changes",
    [
        {"parents": [-1, 1]},
        {"parents": [0, 0]},
        {"starts": [0]},
        {"kinds": []},
        {"values": {"first": 1}},
        {"values": {"0": ["x"]}},
        {"kinds": ["x" * 100, "Name"]},
        {"ends": [1.5, 2]},
    ],
)
def test_an_invalid_tree_is_refused(changes: dict[str, Any]) -> None:
    valid = {"kinds": ["Expr", "Name"], "fields": ["", "value"], "parents": [-1, 0], "starts": [0, 0], "ends": [1, 1]}
    assert StatementSyntax.model_validate(valid)
    with pytest.raises(ValueError):
        StatementSyntax.model_validate({**valid, **changes})
