"""A program as the fixes see it: its statements by line, and edits that keep the reader's own text."""

import ast
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gradbox.language.edits import ProgramEdits, apply_edits
from gradbox.language.names import ImportedModules
from gradbox.language.program_lines import parse_without_warnings
from gradbox.language.tree import SyntaxNodes, walk_tree

_NODES_WITHOUT_NEED_OF_BRACKETS = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.Dict,
)


@dataclass(frozen=True)
class Hint:
    """What a finding says about a fix.

    kind: of the edit
    line: where, from 1
    facts: names, sizes and other lines, by meaning
    names: what the finding is about
    """

    kind: str
    line: int
    facts: dict[str, str | int] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def name(self) -> str:
        """The name that the edit is about; "" for none."""
        return str(self.facts.get("name") or self.facts.get("x") or "")

    def other_line(self) -> int:
        """The other line that the edit needs; 0 for none."""
        return int(self.facts.get("to") or self.facts.get("second") or self.facts.get("use_line") or 0)


@dataclass(frozen=True)
class LineEdit:
    """One line replaced.

    line: from 1
    old: its text
    new: what stands there instead, None where it is removed; several lines where some are added
    """

    line: int
    old: str
    new: str | None


@dataclass(frozen=True)
class Fix:
    """A changed program.

    kind: of the edit; it selects the fix's sentence
    args: the arguments of that sentence
    """

    kind: str
    source: str
    edits: tuple[LineEdit, ...]
    args: dict[str, str | int]


class FixProgram:
    """A program to fix."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.tree = parse_without_warnings(source)
        syntax_nodes = SyntaxNodes(self.tree)
        self.nodes, self.modules = list(syntax_nodes), ImportedModules(syntax_nodes)
        self.statements = [node for node in self.nodes if isinstance(node, ast.stmt)]

    def new_edits(self) -> ProgramEdits:
        return ProgramEdits(self.source, self.tree)

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement at a line."""
        around = [node for node in self.statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        return max(around, key=lambda node: (node.lineno, node.col_offset), default=None)

    def nodes_outside_blocks(self, statement: ast.stmt) -> list[ast.AST]:
        """The nodes of a statement, without the statements in its blocks."""
        inside = {id(node) for block in blocks(statement) for child in block for node in walk_tree(child)}
        return [node for node in walk_tree(statement) if id(node) not in inside]

    def calls_at(self, line: int) -> list[ast.Call]:
        """The calls in the statement at a line, the outermost first."""
        statement = self.statement_at(line)
        return (
            []
            if statement is None
            else [node for node in self.nodes_outside_blocks(statement) if isinstance(node, ast.Call)]
        )

    def source_text(self, node: ast.AST) -> str:
        """The source text of a node."""
        return ast.get_source_segment(self.source, node) or ast.unparse(node)

    def operand_text(self, node: ast.AST) -> str:
        """The source text of a node, in parentheses if a method or an operator would otherwise apply to only a part of
        it."""
        return (
            self.source_text(node)
            if isinstance(node, _NODES_WITHOUT_NEED_OF_BRACKETS)
            else f"({self.source_text(node)})"
        )

    def leading_blanks(self, statement: ast.stmt) -> str | None:
        """The blanks before a statement; None if something else precedes it on its line."""
        before = self.lines[statement.lineno - 1].encode()[: statement.col_offset].decode()
        return before if not before.strip() else None

    def torch_name(self) -> str:
        """The program's name for torch."""
        return self.modules.name_of_imported_module("torch", "torch")

    def enclosing_loop(self, line: int) -> ast.For | ast.While | None:
        """The innermost loop around a line."""
        loops = [
            node
            for node in self.statements
            if isinstance(node, ast.For | ast.While) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
        ]
        return max(loops, key=lambda node: node.lineno, default=None)

    def list_names(self) -> frozenset[str]:
        """The names that a list is assigned to."""
        pairs = [
            (target, node.value) for node in self.statements if isinstance(node, ast.Assign) for target in node.targets
        ]
        pairs += [
            (name, value)
            for target, values in pairs
            if isinstance(target, ast.Tuple) and isinstance(values, ast.Tuple)
            for name, value in zip(target.elts, values.elts, strict=False)
        ]
        return frozenset(
            name.id
            for name, value in pairs
            if isinstance(name, ast.Name) and isinstance(value, ast.List | ast.ListComp)
        )

    def containing_block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the block that contains a statement."""
        around = [self.tree.body, *(block for other in self.statements for block in blocks(other))]
        return next((block for block in around if any(other is statement for other in block)), [statement])

    def enclosing_function(self, node: ast.AST) -> ast.FunctionDef | None:
        """The innermost function around a node."""
        functions = [
            other
            for other in self.statements
            if isinstance(other, ast.FunctionDef)
            and other is not node
            and any(part is node for part in walk_tree(other))
        ]
        return max(functions, key=lambda other: other.lineno, default=None)

    def fix_from_edits(self, hint: Hint, work: ProgramEdits, **args: str | int) -> Iterator[Fix]:
        """The fix that consists of these edits, if there are any."""
        yield from self.fix_from_source(hint, apply_edits(self.source, work.sorted_edits()), **args)

    def fix_from_lines(self, hint: Hint, lines: Iterable[str], **args: str | int) -> Iterator[Fix]:
        yield from self.fix_from_source(hint, "\n".join(lines), **args)

    def fix_from_source(self, hint: Hint, source: str, **args: str | int) -> Iterator[Fix]:
        """The fix with this source; none if it is unchanged or not a valid program."""
        if source == self.source:
            return
        try:
            ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        edits = tuple(diff_lines(self.lines, source.split("\n")))
        yield Fix(hint.kind, source, edits, {"line": hint.line, "name": hint.name(), **args})

    def fix_calling_method_on_reads(self, hint: Hint, name: str) -> Iterator[Fix]:
        """The fix that calls a method on the hint's name where its statement reads it."""
        statement = self.statement_at(hint.line)
        if statement is None or not is_assignable(hint.name()):
            return
        work = self.new_edits()
        for node in self.nodes_outside_blocks(statement):
            is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
            if is_read and ast.unparse(node) == hint.name() and not isinstance(work.parent_of(node), ast.Attribute):
                work.replace_node(node, f"{self.source_text(node)}.{name}()")
        yield from self.fix_from_edits(hint, work)

    def lines_with_insertion(self, at: int, new: Iterable[str]) -> list[str]:
        """The lines with others inserted before line `at`, counted from 1."""
        return [*self.lines[: at - 1], *new, *self.lines[at - 1 :]]

    def lines_with_move(self, statement: ast.stmt, after: ast.stmt) -> list[str] | None:
        """The lines with a statement moved behind another; None if either shares its lines."""
        indent = self.leading_blanks(after)
        if (
            indent is None
            or self.leading_blanks(statement) is None
            or self.shares_lines(statement)
            or self.shares_lines(after)
        ):
            return None
        first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
        own = [indent + line[statement.col_offset :] for line in self.lines[first:last]]
        at = after.end_lineno or after.lineno
        rest = [line for k, line in enumerate(self.lines) if not first <= k < last or k >= at]
        if at <= first:
            return [*self.lines[:at], *own, *self.lines[at:first], *self.lines[last:]]
        return [*rest[: at - (last - first)], *own, *rest[at - (last - first) :]]

    def shares_lines(self, statement: ast.stmt) -> bool:
        """Whether another statement is on the same lines."""
        return any(
            other is not statement
            and not any(node is statement for node in walk_tree(other))
            and other.lineno <= (statement.end_lineno or 0)
            and statement.lineno <= (other.end_lineno or 0)
            for other in self.statements
        )


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
    for case in getattr(statement, "cases", ()):
        yield case.body


def diff_lines(old: list[str], new: list[str]) -> Iterator[LineEdit]:
    """The differences, by old line. Lines that are only new belong to the line that follows them, or to the end."""
    parts = [[line] for line in old]
    same = next((k for k, (left, right) in enumerate(zip(old, new, strict=False)) if left != right), len(old))
    start = max(0, min(same, len(old) - 1, len(new) - 1))
    opcodes = difflib.SequenceMatcher(None, old[start:], new[start:], autojunk=False).get_opcodes()
    for tag, *places in opcodes:
        i, i_end, j, j_end = (int(place) + start for place in places)
        if tag == "insert" and i < len(old):
            parts[i] = [*new[j:j_end], *parts[i]]
        elif tag == "insert":
            parts[-1] += new[j:j_end]
        elif tag != "equal":
            for k in range(i, i_end):
                at = min(j + k - i, j_end)
                parts[k] = new[at : j_end if k == i_end - 1 else min(at + 1, j_end)]
    for k, part in enumerate(parts):
        if part != [old[k]]:
            yield LineEdit(k + 1, old[k], "\n".join(part) if part else None)


def method_receiver(call: ast.Call) -> ast.expr | None:
    """The object on which a method is called."""
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def callee_name(call: ast.Call) -> str:
    """The last part of the called function's name."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def is_assignable(name: str) -> bool:
    """Whether a name, or a path of names, can stand on the left of `=`."""
    return bool(name) and all(part.isidentifier() for part in name.split("."))


def is_constant(node: ast.AST, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def written_target(statement: ast.stmt | None) -> ast.expr | None:
    """The target of a statement's write: `x` for `x += 1`, `x[0] = 1` and `x.zero_()`."""
    if isinstance(statement, ast.AugAssign):
        return without_subscripts_and_views(statement.target)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return without_subscripts_and_views(statement.targets[0])
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Call) and callee_name(value).endswith("_") and isinstance(value.func, ast.Attribute):
        return without_subscripts_and_views(value.func.value)
    return None


def without_subscripts_and_views(node: ast.expr) -> ast.expr:
    """`x` for `x[0][1]` and for `x.data[0]`."""
    while isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in ("data", "T", "mT")):
        node = node.value
    return node
