"""Inserts calls of the recorder into a program's syntax tree, and lists its statements.

CPython compiles and runs the result; nothing is interpreted. The inserted names contain a space, so no program can use
them. Every inserted node has the position of the statement it belongs to: tracebacks and warnings keep their lines, and
a frame's instruction leads to the running statement (`ProgramStatements.statement_at`).
"""

import ast
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from gradbox.language.name_scopes import NameScope
from gradbox.language.statement_syntax import StatementSyntax
from gradbox.language.tree import SyntaxNodes
from gradbox.recorder import effects
from gradbox.recorder.stack import to_program_line
from gradbox.wire.records import StatementRecord

(
    STEP_HOOK,
    HEAD_HOOK,
    CALL_HOOK,
    RETURN_HOOK,
    VALUE_HOOK,
    YIELD_HOOK,
    RESUME_HOOK,
    CAUGHT_HOOK,
    LOOP_HOOK,
    LAMBDA_HOOK,
) = (f" {name}" for name in ("step", "head", "call", "return", "value", "yield", "resume", "caught", "loop", "lambda"))
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
PLAIN_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom)
"""The most frequent kinds of statements. They have a single step, which comes after them."""

FOLDED_DISPLAYS = (ast.List, ast.Set)
"""Displays that CPython turns into a tuple or a frozenset if a `for` iterates over them, and only there. A set of
another size has another order."""

LOOP_STATEMENT_KINDS = ("For", "AsyncFor", "While")
SIMPLE_STATEMENT_KINDS = (
    "Assign",
    "AugAssign",
    "AnnAssign",
    "Expr",
    "Return",
    "Raise",
    "Import",
    "ImportFrom",
    "Assert",
)
"""Kinds of statements that begin with an instruction of their own, except for a constant that nothing reads."""


class InstructionPosition(NamedTuple):
    """Where the text of an instruction begins and ends: lines from 1, columns in UTF-8 bytes; None if unknown."""

    line: int | None
    col: int | None
    end_line: int | None
    end_col: int | None


class ProgramStatements:
    """The table of statements by index; it also leads from a running instruction back to its statement.

    All attributes grow when modules with steps are imported.

    may_write_without_ops: the program may write a tensor's bytes without an operator
    exception_variable_names: names that are unbound without a statement that says so
    can_access_saved_tensors: see `effects.can_access_saved_tensors`
    """

    def __init__(self) -> None:
        self.rows: list[StatementRecord] = []
        self.effects: list[effects.StatementEffects] = []
        self.syntaxes: list[StatementSyntax] = []
        self._module_scope = NameScope("module")
        self.numpy_import_names: frozenset[str] = frozenset()
        self.exception_variable_names: frozenset[str] = frozenset()
        self.passes_mutating_methods = self.may_write_without_ops = self.can_access_saved_tensors = False
        self._loops: dict[tuple[int, bool], tuple[int, ...]] = {}
        self._statement_cache: dict[tuple[int, int], int | None] = {}  # (id of code, instruction) -> statement
        self._expression_cache: dict[tuple[int, int], tuple[int, int] | None] = {}
        self._positions: dict[int, tuple[CodeType, list[InstructionPosition]]] = {}  # id of code -> it, places

    def begin_file(self, nodes: SyntaxNodes, outer_names: Mapping[str, str | None] | None = None) -> None:
        """Begin the statements of a file with these nodes.

        outer_names: see `NameScope`
        """
        self._module_scope = NameScope("module", outer_names=outer_names)
        self.numpy_import_names = effects.numpy_import_names(nodes)
        self.exception_variable_names |= effects.exception_variable_names(nodes)
        self.passes_mutating_methods = self.passes_mutating_methods or effects.passes_mutating_methods(nodes)
        self.can_access_saved_tensors = self.can_access_saved_tensors or effects.can_access_saved_tensors(nodes)

    def add_statement(self, node: ast.stmt, parent: int | None, loop: int | None, line_offset: int = 0) -> int:
        """Add a statement to the table and return its index.

        parent, loop: the indices of the statement and of the loop that contain it, or None
        line_offset: lines of the program's source before the statement's file
        """
        self.rows.append(
            {
                "line": node.lineno + line_offset,
                "col": node.col_offset,
                "end_line": (node.end_lineno or node.lineno) + line_offset,
                "end_col": node.end_col_offset or node.col_offset,
                "kind": type(node).__name__,
                "parent": parent,
                "loop": loop,
            }
        )
        statement_effects = effects.statement_effects(node, self.numpy_import_names)
        if statement_effects.exposes_memory or statement_effects.may_change_anything:
            self.may_write_without_ops = True
        self.effects.append(statement_effects)
        scope = self._module_scope if parent is None else self.syntaxes[parent].inner_scope
        self.syntaxes.append(StatementSyntax(node, scope))
        return len(self.rows) - 1

    def enclosing_loops(self, i: int, include_self: bool) -> tuple[int, ...]:
        """The loops around statement i, outermost first, including i itself if `include_self` is true and i is a loop.

        They are kept as tuples: a new list at each statement would take the address of one that the program just freed.
        """
        cached = self._loops.get((i, include_self))
        if cached is None:
            loops = (i,) if include_self and self.rows[i]["kind"] in LOOP_STATEMENT_KINDS else ()
            loop = self.rows[i]["loop"]
            while loop is not None:
                loops = (loop, *loops)
                loop = self.rows[loop]["loop"]
            cached = self._loops[i, include_self] = loops
        return cached

    def statement_at(self, code: CodeType, instruction: int) -> int | None:
        """The innermost statement whose text contains the instruction at this offset of the code."""
        key = (id(code), instruction)
        if key not in self._statement_cache:
            self._statement_cache[key] = self._find_statement(code, instruction)
        return self._statement_cache[key]

    def expression_at(self, code: CodeType, instruction: int) -> tuple[int, int] | None:
        """The expression that the instruction at this offset of the code evaluates: the index of its statement, and the
        number of its node there."""
        key = (id(code), instruction)
        if key not in self._expression_cache:
            statement, place = self.statement_at(code, instruction), self._instruction_position(code, instruction)
            number = (
                None
                if statement is None or place is None or place.end_line is None or place.end_col is None
                else self.syntaxes[statement].expression_at(
                    place.line or 0, place.col or 0, place.end_line, place.end_col
                )
            )
            self._expression_cache[key] = None if statement is None or number is None else (statement, number)
        return self._expression_cache[key]

    def line_of_frame(self, frame: FrameType) -> int | None:
        """The line of the program's source that a frame executes. (`f_lineno` would search from the beginning of the
        code each time.)"""
        position = self._instruction_position(frame.f_code, frame.f_lasti)
        line = frame.f_lineno if position is None else position.line
        return None if line is None else to_program_line(frame.f_code, line)

    def positions_in_file(self, code: CodeType) -> list[InstructionPosition]:
        """Where the text of each instruction is in its file."""
        known = self._positions.get(
            id(code)
        )  # the hash of a code object is computed anew each time, of all that is in it
        if known is None:
            removed = self._removed_indent(code)
            known = self._positions[id(code)] = (
                code,
                [
                    InstructionPosition(line, _moved_column(col, removed), end_line, _moved_column(end_col, removed))
                    for line, end_line, col, end_col in code.co_positions()
                ],
            )
        return known[1]

    def _removed_indent(self, code: CodeType) -> int:
        """By how many columns the text was dedented when it was compiled from its file, if its lines did not move.

        This happens to a notebook's cell that its file stores as a function. All statements have to agree: what follows
        `case …:` has other instructions to its left.
        """
        first_columns: dict[int, int] = {}
        offset = to_program_line(code, 0)
        for line, _, col, _ in code.co_positions():
            if line is not None and col is not None:
                first_columns[line + offset] = min(col, first_columns.get(line + offset, col))
        leftmost: dict[int, StatementRecord] = {}
        for row in self.rows:
            if row["line"] in first_columns and (
                row["line"] not in leftmost or row["col"] < leftmost[row["line"]]["col"]
            ):
                leftmost[row["line"]] = row
        removed = {
            row["col"] - first_columns[line] for line, row in leftmost.items() if row["kind"] in SIMPLE_STATEMENT_KINDS
        }
        return max(removed.pop(), 0) if len(removed) == 1 else 0

    def _instruction_position(self, code: CodeType, instruction: int) -> InstructionPosition | None:
        """The place of the instruction at this offset of the code; None if it has none."""
        index, positions = instruction // 2, self.positions_in_file(code)
        if not 0 <= index < len(positions):
            return None
        return None if positions[index].line is None else positions[index]

    def _find_statement(self, code: CodeType, instruction: int) -> int | None:
        place = self._instruction_position(code, instruction)
        if place is None:
            return None
        position, best = (to_program_line(code, place.line or 0), place.col or 0), None
        for i, row in enumerate(self.rows):
            if (row["line"], row["col"]) <= position < (row["end_line"], row["end_col"]):
                best = i  # rows are in source order, so the last that holds the place is the innermost
        return best


def _moved_column(col: int | None, removed: int) -> int | None:
    return None if col is None else col + removed


class Instrumenter:
    """Rewrites a tree in place.

    functions_only: the module's own statements get no steps, and run as part of its import
    """

    def __init__(self, statements: ProgramStatements, line_offset: int, functions_only: bool = False) -> None:
        self.statements, self.line_offset, self.functions_only = statements, line_offset, functions_only
        self.has_yields = False  # there is a `yield` in it

    def instrument_module(self, nodes: SyntaxNodes) -> ast.Module:
        self.has_yields = bool(nodes.of_kind(ast.Yield))
        self.statements.begin_file(nodes)
        if self.functions_only:
            self.instrument_functions(nodes.tree.body, None, None)
        else:
            nodes.tree.body = self.instrument_body(nodes.tree.body, None, None, head=True)
        if nodes.of_kind(ast.Lambda):
            LambdaTransformer(self).visit(nodes.tree)
        return nodes.tree

    def make_hook_call(self, name: str, i: int | None, position_of: Any, *arguments: ast.expr) -> ast.Call:
        place = position_of.lineno, position_of.col_offset, position_of.end_lineno, position_of.end_col_offset
        return _hook_call(name, i, arguments, *place)

    def make_hook_statement(self, name: str, i: int | None, position_of: Any, *arguments: ast.expr) -> ast.Expr:
        """The call of a hook as a statement. It is at the first column of `position_of`, whatever that spans."""
        line, col = position_of.lineno, position_of.col_offset
        call = _hook_call(name, i, arguments, line, col, line, col + 1)
        return ast.Expr(call, lineno=line, col_offset=col, end_lineno=line, end_col_offset=col + 1)

    def instrument_body(
        self, body: list[ast.stmt], parent: int | None, loop: int | None, head: bool = False
    ) -> list[ast.stmt]:
        """The statements with their steps. If `head` is true, a docstring and future imports have to stay first."""
        out: list[ast.stmt] = []
        deferred: list[ast.stmt] = []
        for k, node in enumerate(body):
            first = head and ((k == 0 and is_docstring(node)) or is_future_import(node))
            if not first and deferred:
                out, deferred = out + deferred, []
            i = self.statements.add_statement(node, parent, loop, self.line_offset)
            if first:
                if parent is None and is_docstring(node):
                    self.statements.effects[i].add_bound_name("__doc__")
                out.append(node)
                deferred.append(self.make_hook_statement(STEP_HOOK, i, node))
            else:
                out += self.instrument_statement(node, i, loop)
        return out + deferred

    def instrument_statement(self, node: ast.stmt, i: int, loop: int | None) -> list[ast.stmt]:
        """A statement with its calls of the recorder.

        i: its index
        loop: the index of the loop that contains it, or None
        """
        if type(node) in PLAIN_STATEMENTS and not self.has_yields:
            return [node, self.make_hook_statement(STEP_HOOK, i, node)]
        if isinstance(node, FunctionNode):
            self.instrument_function(node, i)
            return [node, self.make_hook_statement(STEP_HOOK, i, node)]
        if isinstance(node, ast.ClassDef):
            self.instrument_class_members(node, i)
            return [node, self.make_hook_statement(STEP_HOOK, i, node)]
        if self.has_yields:
            YieldTransformer(self, i).transform_own_expressions(node)
        if isinstance(node, ast.If):
            node.test = self.make_hook_call(HEAD_HOOK, i, node.test, node.test)
            node.body, node.orelse = (
                self.instrument_body(node.body, i, loop),
                self.instrument_body(node.orelse, i, loop),
            )
            return [node]
        if isinstance(node, ast.While):
            node.test = self.make_hook_call(HEAD_HOOK, i, node.test, node.test)
            node.body, node.orelse = self.instrument_body(node.body, i, i), self.instrument_body(node.orelse, i, loop)
            return [self.make_hook_statement(LOOP_HOOK, i, node), node]
        if isinstance(node, ast.For | ast.AsyncFor):
            node.body = [self.make_hook_statement(HEAD_HOOK, i, node), *self.instrument_body(node.body, i, i)]
            node.orelse = self.instrument_body(node.orelse, i, loop)
            before: list[ast.stmt] = []
            if isinstance(node, ast.AsyncFor) or isinstance(node.iter, FOLDED_DISPLAYS):
                before.append(self.make_hook_statement(LOOP_HOOK, i, node, *_constant_of_same_length(node.iter)))
            else:
                node.iter = self.make_hook_call(LOOP_HOOK, i, node.iter, node.iter)
            return [*before, node, self.make_hook_statement(STEP_HOOK, i, node)]
        if isinstance(node, ast.With | ast.AsyncWith):
            node.body = [self.make_hook_statement(HEAD_HOOK, i, node), *self.instrument_body(node.body, i, loop)]
            return [node, self.make_hook_statement(STEP_HOOK, i, node)]
        if isinstance(node, ast.Try | ast.TryStar):
            node.body, node.orelse = (
                self.instrument_body(node.body, i, loop),
                self.instrument_body(node.orelse, i, loop),
            )
            for handler in node.handlers:
                handler.body = [
                    self.make_hook_statement(CAUGHT_HOOK, None, handler),
                    *self.instrument_body(handler.body, i, loop),
                ]
            if node.finalbody:
                node.finalbody = [
                    self.make_hook_statement(CAUGHT_HOOK, None, node.finalbody[0]),
                    *self.instrument_body(node.finalbody, i, loop),
                ]
            # where a handler ends, the exception dies, and with it what its frames held
            return [node, self.make_hook_statement(STEP_HOOK, i, node)] if node.handlers else [node]
        if isinstance(node, ast.Match):
            node.subject = self.make_hook_call(HEAD_HOOK, i, node.subject, node.subject)
            for case in node.cases:
                case.body = self.instrument_body(case.body, i, loop)
            return [node]
        if isinstance(node, ast.Return):
            value = node.value or ast.copy_location(ast.Constant(None), node)
            node.value = self.make_hook_call(RETURN_HOOK, i, value, value)
            return [node]
        if isinstance(node, ast.Break | ast.Continue):
            return [self.make_hook_statement(STEP_HOOK, i, node), node]
        if isinstance(node, ast.Raise):
            return [node]
        if isinstance(node, ast.Expr):
            node.value = self.make_hook_call(VALUE_HOOK, i, node.value, node.value)
        return [node, self.make_hook_statement(STEP_HOOK, i, node)]

    def instrument_function(self, node: FunctionNode, i: int) -> None:
        call = self.make_hook_statement(CALL_HOOK, i, node)
        body = self.instrument_body(node.body, i, None, head=True)
        at = 1 if is_docstring(node.body[0]) else 0
        node.body = [*body[:at], call, *body[at:]]

    def instrument_functions(self, body: list[ast.stmt], parent: int | None, loop: int | None) -> None:
        """Statements without steps, except for the statements of functions that they define."""
        for node in body:
            i = self.statements.add_statement(node, parent, loop, self.line_offset)
            if isinstance(node, FunctionNode):
                self.instrument_function(node, i)
            elif isinstance(node, ast.ClassDef):
                self.instrument_class_members(node, i)
            else:
                inner = i if isinstance(node, ast.For | ast.AsyncFor | ast.While) else loop
                for name in ("body", "orelse", "finalbody"):
                    self.instrument_functions(getattr(node, name, []), i, inner if name == "body" else loop)
                for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                    self.instrument_functions(part.body, i, loop)

    def instrument_class_members(self, node: ast.ClassDef, i: int) -> None:
        """Instrument the methods in a class body, which itself runs as one statement."""
        for member in ast.iter_child_nodes(node):
            if isinstance(member, FunctionNode):
                self.instrument_function(member, self.statements.add_statement(member, i, None, self.line_offset))
            elif isinstance(member, ast.ClassDef):
                self.instrument_class_members(member, self.statements.add_statement(member, i, None, self.line_offset))


class YieldTransformer(ast.NodeTransformer):
    """Adds steps around each `yield` in one statement's own expressions."""

    def __init__(self, instrument: Instrumenter, i: int) -> None:
        self.instrumenter, self.i = instrument, i

    def transform_own_expressions(self, node: ast.stmt) -> None:
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list):
                for k, part in enumerate(value):
                    if isinstance(part, ast.expr):
                        value[k] = self.visit(part)
                    elif isinstance(part, ast.withitem):
                        part.context_expr = self.visit(part.context_expr)

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        self.generic_visit(node)
        value = node.value or ast.copy_location(ast.Constant(None), node)
        node.value = self.instrumenter.make_hook_call(YIELD_HOOK, self.i, value, value)
        # `RESUME(i)` runs before the yield: what it returns waits on the frame's stack and dies with the generator
        return ast.copy_location(
            ast.Call(self.instrumenter.make_hook_call(RESUME_HOOK, self.i, node), [node], []), node
        )

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    def _leave_unchanged(self, node: Any) -> Any:
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _leave_unchanged


class LambdaTransformer(ast.NodeTransformer):
    """Adds a call of the recorder to each lambda that can do more than compute a new value from its arguments."""

    def __init__(self, instrument: Instrumenter) -> None:
        self.instrumenter = instrument

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self.generic_visit(node)
        if not effects.is_pure_lambda(node):
            call = self.instrumenter.make_hook_call(LAMBDA_HOOK, None, node.body)
            # `LAMBDA() or body`: the call returns None
            node.body = ast.copy_location(ast.BoolOp(ast.Or(), [call, node.body]), node.body)
        return node


_LOAD_CONTEXT = ast.Load()


def _hook_call(
    name: str, i: int | None, arguments: Sequence[ast.expr], line: int, col: int, end_line: int, end_col: int
) -> ast.Call:
    """A call of a hook. All positions are passed to the constructors because `copy_location` is slower."""
    function = ast.Name(name, _LOAD_CONTEXT, lineno=line, col_offset=col, end_lineno=end_line, end_col_offset=end_col)
    passed = list(arguments)
    if i is not None:
        passed.insert(0, ast.Constant(i, lineno=line, col_offset=col, end_lineno=end_line, end_col_offset=end_col))
    return ast.Call(function, passed, [], lineno=line, col_offset=col, end_lineno=end_line, end_col_offset=end_col)


def _constant_of_same_length(display: ast.expr) -> tuple[ast.expr, ...]:
    """A constant of the same length as the list that a display makes, if that length is known."""
    if not isinstance(display, ast.List) or any(isinstance(element, ast.Starred) for element in display.elts):
        return ()
    stand_in: Any = (None,) * len(display.elts)
    return (ast.copy_location(ast.Constant(stand_in), display),)


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_future_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level


def instrument_tree(
    nodes: SyntaxNodes,
    statements: ProgramStatements | None = None,
    line_offset: int = 0,
    functions_only: bool = False,
) -> tuple[ast.Module, ProgramStatements]:
    """The tree with the recorder's calls, ready to compile, and the table of its statements.

    statements: the table of the program's other files, to which these statements are added
    line_offset: lines of the program's source before this file
    functions_only: see `Instrumenter`
    """
    work = Instrumenter(ProgramStatements() if statements is None else statements, line_offset, functions_only)
    return work.instrument_module(nodes), work.statements
