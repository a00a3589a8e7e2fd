"""The syntax tree of each statement, as the trace stores it, so that no reader of a trace has to parse Python again.

Kinds and fields are those of Python's `ast`, with the exceptions that `gradbox.wire.program.StatementSyntax` lists. A
block is represented by its head alone; a class also by those statements of its body that have no row of their own.
"""

import ast
import math
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from gradbox.language.name_scopes import NameScope
from gradbox.language.tree import fields_with_nodes
from gradbox.wire.program import MAX_NODE_TEXT
from gradbox.wire.records import StatementRecord, StatementSyntaxRecord

MAX_NODES_OF_STATEMENT = 2000
MAX_NODES_OF_PROGRAM = 40_000
"""Nodes listed for all statements together. A statement that would exceed this gets no syntax tree."""

MAX_LITERAL_ELEMENTS = 32
"""Elements of a list, tuple or set that are listed if only literals follow: `torch.tensor([0.1, …])`."""

MAX_STRING = 200
"""A longer string's value is not listed."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_KINDS_WITHOUT_PLACE = (ast.comprehension, ast.withitem, ast.match_case)
_EXPRESSIONS_THAT_CALL = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.AugAssign)
_HAS_PLACES_IN_STRINGS = sys.version_info >= (3, 12)
"""Before, Python doesn't know each place in an f-string."""
_BLOCK_FIELDS = ("body", "orelse", "finalbody")
_FIELDS_OF_NAME: dict[type[ast.AST], str] = {
    ast.arg: "arg", ast.keyword: "arg", ast.FunctionDef: "name", ast.AsyncFunctionDef: "name", ast.ClassDef: "name",
    ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name", ast.MatchMapping: "rest",
}  # fmt: skip
"""The field that holds the name of such a node. Each binds its name, except a keyword."""

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Invert: "~", ast.Not: "not", ast.UAdd: "+", ast.USub: "-", ast.And: "and", ast.Or: "or", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip

_NodeToAdd = tuple[ast.AST, str, int, NameScope]
"""A node, the field of its parent that holds it, its parent's number, and the scope in which it runs."""


class SourceLines:
    """Source text, indexed by line and UTF-8 byte offset as `ast` gives them."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._is_ascii = source.isascii()
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def character_column(self, line: int, offset: int) -> int:
        """Return the column in characters. line: from 1; offset: in UTF-8 bytes."""
        text = self._lines[line - 1]
        if self._is_ascii or text.isascii():
            return offset
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore"))

    def character_position(self, line: int, offset: int) -> int:
        """Return the position in characters of the source."""
        return self._starts[line - 1] + self.character_column(line, offset)

    def character_span(self, node: Any, line_offset: int, base: int) -> tuple[int, int]:
        """Return where a node begins and ends, in characters from `base`. line_offset: lines before its file."""
        line, end_line = node.lineno + line_offset, node.end_lineno + line_offset
        if self._is_ascii:
            return (
                self._starts[line - 1] + node.col_offset - base,
                self._starts[end_line - 1] + node.end_col_offset - base,
            )
        return self.character_position(line, node.col_offset) - base, self.character_position(
            end_line, node.end_col_offset
        ) - base


class StatementSyntax:
    """The nodes of one statement, parents before children.

    inner_scope: the scope in which the body of a function or class runs; for other statements, their own scope.
    """

    def __init__(self, root: ast.stmt, scope: NameScope) -> None:
        self._root, self.inner_scope = root, scope
        self._nodes: list[ast.AST] = []
        self._fields: list[str] = []
        self._parents: list[int] = []
        self._node_values: dict[int, str | int | float | bool | None] = {}
        self._names: list[tuple[int, NameScope, str]] = []
        self._paths: dict[int, str] = {}
        self._defaults: dict[int, ast.expr] = {}  # by the `id` of a parameter
        self._expressions: dict[tuple[int, ...], int] | None = None
        self._record: StatementSyntaxRecord | None = None
        stack: list[_NodeToAdd] = [(root, "", -1, scope)]
        while stack:
            stack += reversed(self._add_node(*stack.pop()))
        self.count = len(self._nodes)

    def expression_at(self, line: int, col: int, end_line: int, end_col: int) -> int | None:
        """The number of the expression that has this place in the file, if it is one that may call an operation.

        line, end_line: counted from 1
        col, end_col: in UTF-8 bytes
        """
        if self._expressions is None:
            self._expressions = self._expressions_by_place()
        # the place of a call of a method begins, where the expression spans several lines, with the method's name
        return self._expressions.get((line, col, end_line, end_col), self._expressions.get((end_line, end_col)))

    def _expressions_by_place(self) -> dict[tuple[int, ...], int]:
        """The numbers of expressions by their places, and of a call over several lines also by its end."""
        numbers: dict[tuple[int, ...], int] = {}
        in_strings: set[int] = set()
        for number, node in enumerate(self._nodes):
            if self._parents[number] in in_strings or isinstance(node, ast.JoinedStr):
                in_strings.add(number)
            if not isinstance(node, _EXPRESSIONS_THAT_CALL) or (number in in_strings and not _HAS_PLACES_IN_STRINGS):
                continue
            end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
            numbers[node.lineno, node.col_offset, *end] = number
            if isinstance(node, ast.Call) and node.lineno < end[0]:
                numbers[end] = number
        return numbers

    def to_record(self, lines: SourceLines, line: int) -> StatementSyntaxRecord:
        """Return the tree as the trace stores it. Call it when all scopes of the file are known.

        line: the statement's first line in `lines`.
        """
        if self._record is not None:
            return self._record
        spans = self._spans(lines, line)
        self.expression_at(0, 0, 0, 0)  # while the nodes are there
        for number, scope, name in self._names:
            path = scope.dotted_path_of_name(name)
            if path is not None:
                self._paths[number] = path
        self._record = {
            "kinds": [type(node).__name__ for node in self._nodes],
            "fields": self._fields,
            "parents": self._parents,
            "starts": [start for start, _ in spans],
            "ends": [end for _, end in spans],
            "values": {str(number): value for number, value in self._node_values.items()},
            "paths": {str(number): path for number, path in self._paths.items()},
        }
        self._nodes, self._names = [], []
        return self._record

    def _spans(self, lines: SourceLines, line: int) -> list[tuple[int, int]]:
        """Return where each node begins and ends, in characters from the statement's start."""
        nodes, parents = self._nodes, self._parents
        base = lines.character_position(line, self._root.col_offset)
        line_offset = line - self._root.lineno
        spans: list[tuple[int, int]] = []
        placeless: list[int] = []
        for number, node in enumerate(nodes):
            if isinstance(node, _KINDS_WITHOUT_PLACE):
                placeless.append(number)
                spans.append((0, 0))
            else:
                spans.append(lines.character_span(node, line_offset, base))
        for number in reversed(placeless):  # from its first part to its last
            inside = takewhile(lambda k, number=number: parents[k] >= number, range(number + 1, len(nodes)))  # type: ignore[misc]
            inner = [spans[k] for k in inside if parents[k] == number]
            spans[number] = min(start for start, _ in inner), max(end for _, end in inner)
        for number in range(1, len(nodes)):
            if isinstance(nodes[parents[number]], ast.JoinedStr | ast.FormattedValue):
                start, end = spans[parents[number]]
                if not start <= spans[number][0] <= spans[number][1] <= end:
                    spans[number] = start, end  # see _HAS_PLACES_IN_STRINGS
        return spans

    def _append_row(self, node: ast.AST, field: str, parent: int) -> int:
        self._nodes.append(node)
        self._fields.append(field)
        self._parents.append(parent)
        return len(self._nodes) - 1

    def _add_node(self, node: ast.AST, field: str, parent: int, scope: NameScope) -> list[_NodeToAdd]:
        """Add a row for a node and return its children."""
        number = self._append_row(node, field, parent)
        kind = type(node)
        if kind is ast.Name:
            name: str = node.id  # type: ignore[attr-defined]
            self._node_values[number] = name
            if type(node.ctx) is ast.Load:  # type: ignore[attr-defined]
                self._names.append((number, scope, name))
            else:
                scope.bind(name)
            return []
        if kind is ast.Attribute:
            self._node_values[number] = node.attr  # type: ignore[attr-defined]
            return [(node.value, "value", number, scope)]  # type: ignore[attr-defined]
        if kind is ast.Constant:
            if _is_listed_literal(node.value):  # type: ignore[attr-defined]
                self._node_values[number] = node.value  # type: ignore[attr-defined]
            return []
        name_field = _FIELDS_OF_NAME.get(kind)
        if name_field is not None and getattr(node, name_field) is not None:
            self._node_values[number] = getattr(node, name_field)
            if kind is not ast.keyword:
                scope.bind(self._node_values[number])  # type: ignore[arg-type]
        return self._children_of_node(node, number, parent, scope)

    def _children_of_node(self, node: ast.AST, number: int, parent: int, scope: NameScope) -> list[_NodeToAdd]:
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.AugAssign):
            self._node_values[number] = _OPERATORS[type(node.op)]
        elif isinstance(node, ast.Compare):
            self._node_values[number] = ",".join(_OPERATORS[type(op)] for op in node.ops)
        elif isinstance(node, ast.Assign) and (second_name := _alias_assignment(node)) is not None:
            scope.bind_alias(second_name[0], scope, second_name[1])
            return [(node.targets[0], "targets", number, NameScope("function")), (node.value, "value", number, scope)]
        elif isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) > MAX_LITERAL_ELEMENTS:
            elements = _elements_before_literals(node.elts)
            if len(elements) < len(node.elts):
                self._node_values[number] = len(node.elts) - len(elements)
            return [(element, "elts", number, scope) for element in elements]
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            both = [((key, "keys"), (value, "values")) for key, value in pairs]
            return [(part, name, number, scope) for pair in both for part, name in pair if part is not None]
        elif isinstance(node, ast.NamedExpr):
            target_scope = scope.scope_outside_comprehensions()
            return [(node.target, "target", number, target_scope), (node.value, "value", number, scope)]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            return self._add_imported_names(node, number, scope)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            self._node_values[number] = ",".join(node.names)
            (scope.declare_global if isinstance(node, ast.Global) else scope.declare_nonlocal)(node.names)
        elif isinstance(node, ast.Lambda):
            inner_scope = NameScope("function", scope)
            return [*self._parameter_nodes(node.args, number, inner_scope), (node.body, "body", number, inner_scope)]
        elif isinstance(node, _Comprehension):
            inner_scope = NameScope("comprehension", scope)
            return _children(node, number, inner_scope, ())
        elif isinstance(node, ast.comprehension):
            is_first = self._nodes[parent].generators[0] is node  # type: ignore[attr-defined]
            outer = scope.outer if is_first else scope  # CPython computes the first iterable outside
            assert outer is not None
            return [(node.target, "target", number, scope), (node.iter, "iter", number, outer),
                    *((test, "ifs", number, scope) for test in node.ifs)]  # fmt: skip
        elif isinstance(node, ast.arg):
            assert scope.outer is not None
            parts = (("annotation", node.annotation), ("default", self._defaults.get(id(node))))
            return [(part, field, number, scope.outer) for field, part in parts if part is not None]
        elif isinstance(node, _Definition | ast.ClassDef):
            return self._children_of_definition(node, number, scope)
        has_rows = number == 0 or (parent == 0 and isinstance(node, ast.ExceptHandler | ast.match_case))
        return _children(node, number, scope, _BLOCK_FIELDS if has_rows else ())

    def _add_imported_names(self, node: ast.Import | ast.ImportFrom, number: int, scope: NameScope) -> list[_NodeToAdd]:
        prefix = ""
        if isinstance(node, ast.ImportFrom):
            self._node_values[number] = prefix = "." * node.level + (node.module or "")
            prefix += "" if prefix.endswith(".") else "."
        for alias in node.names:
            listed = self._append_row(alias, "names", number)
            is_starred = alias.name == "*"
            is_whole = bool(prefix or alias.asname)
            self._node_values[listed] = name = alias.asname or (alias.name if is_whole else alias.name.split(".")[0])
            self._paths[listed] = path = (
                prefix.rstrip(".") if is_starred else prefix + (alias.name if is_whole else name)
            )
            if is_starred:
                scope.bind_star_import(path)
            else:
                scope.bind_import(name, path)
        return []

    def _children_of_definition(
        self, node: _Definition | ast.ClassDef, number: int, scope: NameScope
    ) -> list[_NodeToAdd]:
        inner_scope = NameScope("class" if isinstance(node, ast.ClassDef) else "function", scope)
        for parameter in getattr(node, "type_params", ()):
            inner_scope.bind(parameter.name)
        out: list[_NodeToAdd] = [(part, "decorator_list", number, scope) for part in node.decorator_list]
        if isinstance(node, ast.ClassDef):
            out += [(part, "bases", number, scope) for part in node.bases]
            out += [(part, "keywords", number, scope) for part in node.keywords]
        else:
            out += self._parameter_nodes(node.args, number, inner_scope)
            out += [(node.returns, "returns", number, scope)] if node.returns is not None else []
        if number == 0:
            self.inner_scope = inner_scope
        if number > 0 or isinstance(node, ast.ClassDef):
            body = (
                node.body
                if number
                else [part for part in node.body if not isinstance(part, _Definition | ast.ClassDef)]
            )
            out += [(part, "body", number, inner_scope) for part in body]
        return out

    def _parameter_nodes(self, args: ast.arguments, number: int, inner_scope: NameScope) -> list[_NodeToAdd]:
        """Return the parameters in written order, and store their defaults in `_defaults`."""
        positional = [*((arg, "posonlyargs") for arg in args.posonlyargs), *((arg, "args") for arg in args.args)]
        keyword_only = [(arg, "kwonlyargs") for arg in args.kwonlyargs]
        with_defaults = [arg for arg, _ in positional[len(positional) - len(args.defaults) :]]
        self._defaults |= {id(arg): value for arg, value in zip(with_defaults, args.defaults, strict=True)}
        self._defaults |= {
            id(arg): value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None
        }
        starred = [(args.vararg, "vararg")] if args.vararg is not None else []
        twice_starred = [(args.kwarg, "kwarg")] if args.kwarg is not None else []
        return [
            (arg, field, number, inner_scope) for arg, field in (*positional, *starred, *keyword_only, *twice_starred)
        ]


def statement_records(
    source: str, rows: Sequence[StatementRecord], syntaxes: Sequence[StatementSyntax]
) -> list[StatementRecord]:
    """Return the trace's table of statements, with columns in characters instead of UTF-8 bytes."""
    lines = SourceLines(source)
    records: list[StatementRecord] = []
    count = 0
    for row, syntax in zip(rows, syntaxes, strict=True):
        col, end_col = (
            lines.character_column(row["line"], row["col"]),
            lines.character_column(row["end_line"], row["end_col"]),
        )
        record: StatementRecord = {**row, "col": col, "end_col": end_col}
        if syntax.count <= min(MAX_NODES_OF_STATEMENT, MAX_NODES_OF_PROGRAM - count):
            tree = syntax.to_record(lines, row["line"])
            if _longest_text(tree) <= MAX_NODE_TEXT:
                count += syntax.count
                record["syntax"] = tree
        records.append(record)
    return records


def _longest_text(tree: StatementSyntaxRecord) -> int:
    texts = (*tree["values"].values(), *tree["paths"].values())
    return max((len(text) for text in texts if isinstance(text, str)), default=0)


def _children(node: ast.AST, number: int, scope: NameScope, left_out: Sequence[str]) -> list[_NodeToAdd]:
    """Return the children of a node, except those in the fields `left_out`."""
    out: list[_NodeToAdd] = []
    for name in fields_with_nodes(node):
        value = getattr(node, name, None)
        if name in left_out and type(value) is list:
            continue
        if type(value) is list:
            out += [(part, name, number, scope) for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            out.append((value, name, number, scope))
    return out


def _is_listed_literal(value: object) -> bool:
    if type(value) is str:
        return len(value) <= MAX_STRING
    if type(value) is int:
        return abs(value) <= 2**53
    return value is None or type(value) is bool or (type(value) is float and math.isfinite(value))


def _alias_assignment(node: ast.Assign) -> tuple[str, tuple[str, ...]] | None:
    """Return `("nn", ("torch", "nn"))` for `nn = torch.nn`, and None for anything else."""
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return None
    attributes: list[str] = []
    value = node.value
    while isinstance(value, ast.Attribute):
        attributes.append(value.attr)
        value = value.value
    return (node.targets[0].id, (value.id, *reversed(attributes))) if isinstance(value, ast.Name) else None


def _elements_before_literals(elements: list[ast.expr]) -> list[ast.expr]:
    """Return the elements without the literals at the end, but at least the first MAX_LITERAL_ELEMENTS."""
    end = len(elements)
    while end > MAX_LITERAL_ELEMENTS and _is_literal(elements[end - 1]):
        end -= 1
    return elements[:end]


def _is_literal(element: ast.expr) -> bool:
    """Return whether an expression contains only constants, no name and no call."""
    stack = [element]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.UnaryOp):
            stack.append(node.operand)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            stack += node.elts
        elif not isinstance(node, ast.Constant):
            return False
    return True
