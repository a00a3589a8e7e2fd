"""Inserts probes into a program, so that somebody is asked after every statement, in every function.

This knows nothing of the recorder, and gives its statements no numbers of the trace's: a probe is called with the place
of its statement. The names of probes have a blank in them, which no program can use.
"""

import ast
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple, TypeVar

AFTER, VALUE, LOOP, CAUGHT = " after", " value", " loop", " caught"
"""The probes: `after(place, kind)`; `value(place, kind, value)`, which returns the value; `loop(place)`, before the
first iteration; `caught()`, where a handler begins, or what is done at last."""

Node = TypeVar("Node", bound=ast.AST)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Place(NamedTuple):
    """Where a statement stands, as its row of the trace's table of statements says it."""

    line: int
    col: int
    end_line: int
    end_col: int
    kind: str


class Prober:
    """Rewrites a tree.

    places: of the statements with probes
    loops: by place, the loops around it, the outermost first
    """

    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")
        self.places: list[Place] = []
        self.loops: list[tuple[int, ...]] = []

    def body(self, nodes: Sequence[ast.stmt], loops: tuple[int, ...], head: bool = False) -> list[ast.stmt]:
        """Statements with their probes. Where `head` is true, a docstring and future imports stay first."""
        out: list[ast.stmt] = []
        late: list[ast.stmt] = []
        for position, node in enumerate(nodes):
            index = len(self.places)
            self.places.append(place_of(node, self.lines))
            self.loops.append(loops)
            if head and ((position == 0 and is_docstring(node)) or is_future_import(node)):
                out.append(node)
                late.append(probe(index, node))
            else:
                out += [*late, *self.statement(node, index, loops)]
                late = []
        return out + late

    def statement(self, node: ast.stmt, index: int, loops: tuple[int, ...]) -> list[ast.stmt]:
        """One statement with its probes."""
        after = probe(index, node)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.function(node, index)
            case ast.ClassDef():
                self.functions(node.body)
            case ast.If():
                node.test = probe_value(index, "head", node.test)
                node.body, node.orelse = self.body(node.body, loops), self.body(node.orelse, loops)
                return [node]
            case ast.While():
                node.test = probe_value(index, "head", node.test)
                node.body, node.orelse = self.body(node.body, (*loops, index)), self.body(node.orelse, loops)
                return [call_statement(LOOP, node, index), node]
            case ast.For() | ast.AsyncFor():
                node.iter = probe_value(index, "iter", node.iter) if isinstance(node, ast.For) else node.iter
                node.body = [probe(index, node, "head"), *self.body(node.body, (*loops, index))]
                node.orelse = self.body(node.orelse, loops)
                return [call_statement(LOOP, node, index), node, after]
            case ast.With() | ast.AsyncWith():
                node.body = [probe(index, node, "head"), *self.body(node.body, loops)]
            case ast.Try() | ast.TryStar():
                node.body, node.orelse = self.body(node.body, loops), self.body(node.orelse, loops)
                for handler in node.handlers:
                    handler.body = [call_statement(CAUGHT, handler.body[0]), *self.body(handler.body, loops)]
                if node.finalbody:
                    node.finalbody = [call_statement(CAUGHT, node.finalbody[0]), *self.body(node.finalbody, loops)]
                return [node, after] if node.handlers else [node]
            case ast.Match():
                node.subject = probe_value(index, "head", node.subject)
                for case in node.cases:
                    case.body = self.body(case.body, loops)
                return [node]
            case ast.Return():
                value = node.value or ast.copy_location(ast.Constant(None), node)
                node.value = probe_value(index, "return", value)
                return [node]
            case ast.Break() | ast.Continue():
                return [after, node]
            case ast.Raise():
                return [node]
            case ast.Expr():
                node.value = probe_value(index, "value", node.value)
        return [node, after]

    def function(self, node: FunctionNode, index: int) -> None:
        body = self.body(node.body, (), head=True)
        at = 1 if is_docstring(node.body[0]) else 0
        node.body = [*body[:at], probe(index, node, "call"), *body[at:]]

    def functions(self, body: Sequence[ast.stmt]) -> None:
        """Of the statements of a class, which have no probes, the methods."""
        for node in body:
            index = len(self.places)
            self.places.append(place_of(node, self.lines))
            self.loops.append(())
            if isinstance(node, FunctionNode):
                self.function(node, index)
            elif isinstance(node, ast.ClassDef):
                self.functions(node.body)


def probed(source: str, file: str) -> tuple[CodeType, Prober]:
    """The program with probes, ready to run, and what their numbers mean."""
    prober = Prober(source)
    tree = ast.parse(source)
    tree.body = prober.body(tree.body, (), head=True)
    return compile(tree, file, "exec"), prober


def place_of(node: ast.stmt, lines: Sequence[str]) -> Place:
    """Where a statement stands, in characters as a trace has it; a tree of Python's counts bytes."""
    end_line = node.end_lineno or node.lineno
    col, end_col = (
        len(lines[line - 1].encode()[:byte].decode())
        for line, byte in ((node.lineno, node.col_offset), (end_line, node.end_col_offset or node.col_offset))
    )
    return Place(node.lineno, col, end_line, end_col, type(node).__name__)


def probe(index: int, node: ast.stmt, kind: str = "statement") -> ast.stmt:
    return call_statement(AFTER, node, index, kind)


def probe_value(index: int, kind: str, value: ast.expr) -> ast.expr:
    call = ast.Call(ast.Name(VALUE, ast.Load()), [ast.Constant(index), ast.Constant(kind), value], [])
    return located(call, value)


def call_statement(name: str, node: ast.stmt, *arguments: Any) -> ast.stmt:
    call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(each) for each in arguments], [])
    statement = located(ast.Expr(call), node)
    for part in ast.walk(statement):
        if isinstance(part, ast.expr | ast.stmt):
            part.end_lineno, part.end_col_offset = part.lineno, part.col_offset + 1
    return statement


def located(node: Node, like: ast.AST) -> Node:
    """The node at the place of another, with its parts."""
    return ast.fix_missing_locations(ast.copy_location(node, like))


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_future_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level
