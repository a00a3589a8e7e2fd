"""The statements of files whose code runs uninstrumented: the blocks that contain them, and which statement an
instruction belongs to.

The rows are those that `instrument_tree` makes of the same text, so a trace is the same whichever way it was recorded.
"""

import ast
import dis
from bisect import bisect_right
from dataclasses import dataclass, field
from types import CodeType

from gradbox.recorder.instrument import FunctionNode, ProgramStatements

NO_STATEMENT = -1
"""The statement of an instruction that belongs to no text: the statement before goes on."""

SPECIAL_INSTRUCTION = -2
"""In `CodeTable.fast`: an instruction that may mean more than that its statement runs."""

_SUSPENSIONS = {1: "yield", 2: "yield from", 3: "await"}
"""What the argument of RESUME says about the instruction before it."""


@dataclass
class CodeTable:
    """For each instruction of one code object (by half its offset) the statement, and which instructions have a further
    meaning.

    statements_or_special: the statements, with SPECIAL_INSTRUCTION for special instructions
    resumes: what an instruction resumes, "" where the function begins
    yields: instructions by which a `yield` hands over its value
    endless_loop_starts: the first instruction of each `while True`, which has no test
    handler_ends: instructions that drop an exception that a handler took
    silent_before: for each statement, those right before it that have no instruction, like `global`
    """

    statements: list[int]
    statements_or_special: list[int] = field(default_factory=list)
    reraises: set[int] = field(default_factory=set)
    with_handlers: set[int] = field(default_factory=set)
    returns: set[int] = field(default_factory=set)
    yields: set[int] = field(default_factory=set)
    iterations: set[int] = field(default_factory=set)
    resumes: dict[int, str] = field(default_factory=dict)
    endless_loop_starts: dict[int, int] = field(default_factory=dict)
    handler_ends: set[int] = field(default_factory=set)
    silent_before: dict[int, tuple[int, ...]] = field(default_factory=dict)


_SET_BY_OPNAME = {
    "RERAISE": "reraises",
    "WITH_EXCEPT_START": "with_handlers",
    "RETURN_VALUE": "returns",
    "RETURN_CONST": "returns",
    "FOR_ITER": "iterations",
    "SEND": "iterations",
}


class StatementTable:
    """The statements of one file, and its code objects. A part of a statement is named after its field: "body",
    "orelse", "finalbody", "handlers0", "cases1".

    statements: the table of all files, in which this one's rows begin at `first`
    """

    def __init__(self, tree: ast.Module, statements: ProgramStatements, first: int = 0) -> None:
        self._statements, self._rows, self._first = statements, statements.rows, first
        self._nodes: list[ast.stmt] = []
        self._block_of: list[tuple[int, str] | None] = []
        self._previous: dict[int, int] = {}
        self._functions: dict[tuple[str, int], ast.stmt] = {}
        self._add_block(tree.body, None)
        self._starts = sorted((statement_start(node), first + k) for k, node in enumerate(self._nodes))
        self._enclosing: dict[int, tuple[tuple[int, str], ...]] = {}
        self._tables: dict[CodeType, CodeTable] = {}

    def syntax_node(self, i: int) -> ast.stmt:
        """The syntax tree of statement i, with the line numbers of the file."""
        return self._nodes[i - self._first]

    def statement_kind(self, i: int) -> str:
        return self._rows[i]["kind"]

    def statement_line(self, i: int) -> int:
        """The line of the program's source on which statement i begins."""
        return self._rows[i]["line"]

    def part_line(self, i: int, part: str) -> int:
        """The line of the program's source on which a handler or another part of statement i begins."""
        number = part.lstrip("abcdefghijklmnopqrstuvwxyz")
        child = getattr(self.syntax_node(i), part.removesuffix(number))[int(number or 0)]
        line: int = child.lineno
        return line + self.statement_line(i) - self.syntax_node(i).lineno

    def enclosing_blocks(self, i: int) -> tuple[tuple[int, str], ...]:
        """The blocks around a statement within its function, innermost first: the statement that each belongs to, and
        the part of it."""
        path = self._enclosing.get(i)
        if path is None:
            block = self._block_of[i - self._first]
            path = self._enclosing[i] = () if block is None else (block, *self.enclosing_blocks(block[0]))
        return path

    def enclosing_statements(self, i: int) -> list[int]:
        """The statements around statement i within its function, innermost first."""
        return [parent for parent, _ in self.enclosing_blocks(i)]

    def is_function_of_file(self, code: CodeType) -> bool:
        """Whether code belongs to a function whose statements have rows."""
        return (code.co_name, code.co_firstlineno) in self._functions

    def function_line(self, code: CodeType) -> int:
        """The line of the file on which the function begins, after its decorators."""
        return self._functions[code.co_name, code.co_firstlineno].lineno

    def code_table(self, code: CodeType) -> CodeTable:
        """The table of one code object of the file."""
        table = self._tables.get(code)
        if table is None:
            table = self._tables[code] = self._make_code_table(code)
        return table

    def statement_at(self, line: int, col: int) -> int:
        """The innermost statement at a position of the file."""
        k = bisect_right(self._starts, ((line, col), len(self._rows))) - 1
        i: int | None = self._starts[k][1] if k >= 0 else None
        while i is not None:
            node = self.syntax_node(i)
            if (line, col) < (node.end_lineno or 0, node.end_col_offset or 0):
                return i
            i = self._rows[i]["parent"]
        return NO_STATEMENT

    def _add_block(self, body: list[ast.stmt], block: tuple[int, str] | None) -> None:
        before = NO_STATEMENT
        for node in body:
            i = self._add_statement(node, block)
            self._previous[i], before = before, i

    def _add_statement(self, node: ast.stmt, block: tuple[int, str] | None) -> int:
        i = self._append_node(node, block)
        if isinstance(node, FunctionNode):
            self._add_function(node)
        elif isinstance(node, ast.ClassDef):
            self._add_methods(node)
        else:
            for part in ("body", "orelse", "handlers", "cases", "finalbody"):  # the order of `instrument_statement`
                children = getattr(node, part, [])
                if part in ("handlers", "cases"):
                    for k, child in enumerate(children):
                        self._add_block(child.body, (i, f"{part}{k}"))
                else:
                    self._add_block(children, (i, part))
        return i

    def _append_node(self, node: ast.stmt, block: tuple[int, str] | None) -> int:
        self._nodes.append(node)
        self._block_of.append(block)
        return self._first + len(self._nodes) - 1

    def _add_function(self, node: FunctionNode) -> None:
        self._functions[node.name, statement_start(node)[0]] = node
        self._add_block(node.body, None)

    def _add_methods(self, node: ast.ClassDef) -> None:
        for member in ast.iter_child_nodes(node):
            if isinstance(member, FunctionNode):
                self._append_node(member, None)
                self._add_function(member)
            elif isinstance(member, ast.ClassDef):
                self._add_methods(member)

    def _make_code_table(self, code: CodeType) -> CodeTable:
        table = CodeTable([NO_STATEMENT if line is None or col is None else self.statement_at(line, col)
                           for line, col, *_ in self._statements.positions_in_file(code)])  # fmt: skip
        instructions = list(dis.get_instructions(code))
        before = NO_STATEMENT
        for instruction in instructions:
            k = instruction.offset // 2
            if instruction.opname in _SET_BY_OPNAME:
                getattr(table, _SET_BY_OPNAME[instruction.opname]).add(k)
            elif instruction.opname == "RESUME":
                table.resumes[k] = _SUSPENSIONS.get((instruction.arg or 0) & 3, "")
                if table.resumes[k] == "yield":
                    table.yields.update((before, k))  # a frame that waits is at the one, since Python 3.13 at the other
            before = k
        self._add_endless_loops(table)
        find_handler_ends(table, instructions)
        self._add_statements_without_instruction(table)
        table.statements_or_special = list(table.statements)
        for k in (*table.reraises, *table.with_handlers, *table.endless_loop_starts, *table.handler_ends):
            table.statements_or_special[k] = SPECIAL_INSTRUCTION
        return table

    def _add_statements_without_instruction(self, table: CodeTable) -> None:
        """Add statements without an instruction, each before the next one that has some."""
        present = set(table.statements)
        for i in present - {NO_STATEMENT}:
            silent: list[int] = []
            before = self._previous.get(i, NO_STATEMENT)
            while (
                before != NO_STATEMENT and before not in present and may_have_no_instruction(self.syntax_node(before))
            ):
                silent.insert(0, before)
                before = self._previous.get(before, NO_STATEMENT)
            if silent:
                table.silent_before[i] = tuple(silent)

    def _add_endless_loops(self, table: CodeTable) -> None:
        """Add loops like `while True`, which have no instruction of their own if a jump goes straight to the body."""
        for k, i in enumerate(table.statements):
            for loop, part in self.enclosing_blocks(i) if i != NO_STATEMENT else ():
                node = self.syntax_node(loop)
                is_endless = part == "body" and isinstance(node, ast.While) and is_always_true(node.test)
                if is_endless and loop not in table.endless_loop_starts.values():
                    table.endless_loop_starts[k] = loop


def statement_start(node: ast.stmt) -> tuple[int, int]:
    """The position where a statement begins, including its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([(node.lineno, node.col_offset), *((d.lineno, d.col_offset) for d in decorators)])


def is_always_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def may_have_no_instruction(node: ast.stmt) -> bool:
    """Whether a statement may have no instruction: it declares names, or is a constant."""
    return isinstance(node, ast.Global | ast.Nonlocal) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def find_handler_ends(table: CodeTable, instructions: list[dis.Instruction]) -> None:
    """Find where handlers drop their exception, and where a `finally` that raised passes it on; that belongs to no
    text."""
    names = [instruction.opname for instruction in instructions]
    for n, name in enumerate(names):
        if names[n : n + 3] == ["COPY", "POP_EXCEPT", "RERAISE"]:
            for passing in instructions[n : n + 3]:
                table.statements[passing.offset // 2] = NO_STATEMENT
        if name != "POP_EXCEPT" or names[n + 1] == "RERAISE" or names[n - 2 : n] == ["RERAISE", "POP_TOP"]:
            continue  # what passes an exception on, and a `with` that took one
        table.handler_ends.add(instructions[n].offset // 2)
