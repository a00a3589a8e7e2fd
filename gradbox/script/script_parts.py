"""Which parts of a script are recorded: what `--lines`, `--iterations` and `--after` select, and which loops train."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

LOOP_TYPES = (ast.For, ast.AsyncFor, ast.While)
Function = ast.FunctionDef | ast.AsyncFunctionDef
BACKWARD_NAMES, STEP_NAMES = {"backward", "autograd.grad"}, {"step"}


def training_loops(tree: ast.Module) -> Iterator[ast.stmt]:
    """The innermost loops that call `backward()` and, if any loop does, also an optimizer's `step()`.

    A loop counts as calling what the functions that it calls do, if they are in the same file; methods are matched by
    name alone.
    """
    functions: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, Function):
            functions.setdefault(node.name, []).append(node)
    callees = {name: called_names(nodes) for name, nodes in functions.items()}
    to_backward, to_step = functions_reaching(callees, BACKWARD_NAMES), functions_reaching(callees, STEP_NAMES)
    loops = [node for node in ast.walk(tree) if isinstance(node, LOOP_TYPES)]
    calls = {loop: called_names(loop.body) for loop in loops}
    candidates = [loop for loop in loops if calls[loop] & to_backward]
    candidates = [loop for loop in candidates if calls[loop] & to_step] or candidates
    holders = {name for name, nodes in functions.items() if any(contains_any_node(node, candidates) for node in nodes)}
    to_loop = functions_reaching(callees, holders)
    for loop in candidates:
        if (
            not contains_any_node(loop, [other for other in candidates if other is not loop])
            and not calls[loop] & to_loop
        ):
            yield loop


def called_names(nodes: Iterable[ast.AST]) -> set[str]:
    """The names of what is called in these nodes; functions that they only define do not count."""
    names: set[str] = set()
    waiting = list(nodes)
    roots = set(map(id, waiting))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef) and id(node) not in roots:
            continue
        if isinstance(node, ast.Call):
            names |= short_callee_names(node.func)
        waiting += ast.iter_child_nodes(node)
    return names


def short_callee_names(function: ast.expr) -> set[str]:
    """The names by which a callee is known: its last name, and its last two names."""
    if isinstance(function, ast.Name):
        return {function.id}
    if not isinstance(function, ast.Attribute):
        return set()
    owner = function.value
    before = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return {function.attr, f"{before}.{function.attr}"}


def functions_reaching(callees: dict[str, set[str]], targets: set[str]) -> set[str]:
    """The targets and the functions that call one of them, directly or through others."""
    functions = set(targets)
    while True:
        more = {name for name, called in callees.items() if called & functions} - functions
        if not more:
            return functions
        functions |= more


def contains_any_node(node: ast.AST, others: Iterable[ast.AST]) -> bool:
    """Whether a node contains one of the others, at any depth."""
    inside = set(map(id, ast.walk(node)))
    return any(id(other) in inside for other in others)


MAX_RECORDINGS = 20
"""The most recordings of one run. No later one is made."""

Definition = Function | ast.ClassDef
CompoundStatement = (*LOOP_TYPES, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


@dataclass(frozen=True)
class PartOptions:
    """The options of the command.

    lines: the first and the last line, both included
    iterations: numbers from 0
    after: an expression; once it is true the next iteration is recorded
    rounds: iterations are training rounds of the process, in any loop
    until: an expression; every round is recorded, and once it is true the last ones are kept
    """

    lines: tuple[int, int] | None = None
    iterations: tuple[int, ...] = ()
    after: str | None = None
    rounds: bool = False
    until: str | None = None

    @property
    def is_any_option_given(self) -> bool:
        return self.lines is not None or bool(self.iterations) or self.after is not None or self.until is not None


@dataclass(frozen=True)
class ScriptPart:
    """Consecutive statements of one block: `block[start:stop]`.

    enclosing: the statement that the block belongs to; None for a block of a function or of the module
    loop: the loop, if the part is an iteration of one
    """

    block: list[ast.stmt]
    start: int
    stop: int
    enclosing: ast.stmt | None
    loop: ast.stmt | None = None

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of the part."""
        last = self.block[self.stop - 1]
        return first_line_with_decorators(self.block[self.start]), last.end_lineno or last.lineno


def choose_parts(tree: ast.Module, source: str, options: PartOptions, file_name: str) -> list[ScriptPart]:
    """The parts of a script that its options select. Raises ValueError, which names the option and the lines, if there
    is no such part or more than one may be meant.

    tree, source: of the script
    file_name: the name of the script's file, for messages
    """
    if options.lines is None:
        option = "--iterations" if options.iterations else "--after"
        return [iteration_part(only_matching_loop(list(training_loops(tree)), all_loops(tree.body), option, file_name))]
    first, last = options.lines
    option = f"--lines {first}:{last}" if last > first else f"--lines {first}"
    count = len(source.splitlines())
    if first > count:
        raise ValueError(f"{option}: {file_name} has {count} line{'' if count == 1 else 's'}")
    parts = sorted(parts_in_lines(tree.body, None, first, last), key=lambda part: part.lines)
    if not parts:
        raise ValueError(f"{option}: there is no statement in these lines of {file_name}")
    if not options.iterations and options.after is None:
        return parts
    loops = [loop for part in parts for loop in outermost_loops(part.block[part.start : part.stop])]
    if not loops:
        return parts
    training = [loop for loop in training_loops(tree) if loop in loops]
    chosen = training if len(loops) > 1 and len(training) == 1 else loops
    return [iteration_part(only_matching_loop(chosen, loops, option, file_name))]


def whole_module_part(tree: ast.Module) -> ScriptPart:
    """A whole script as a part, except for what has to stay at its beginning. Raises ValueError for a script without
    statements."""
    start = 0
    while (
        start < len(tree.body)
        and is_definition_or_declaration(tree.body[start], start == 0)
        and not isinstance(tree.body[start], Definition)
    ):
        start += 1
    if start == len(tree.body):
        raise ValueError("the script has no statements")
    return ScriptPart(tree.body, start, len(tree.body), None)


def only_matching_loop(chosen: Sequence[ast.stmt], loops: Iterable[ast.stmt], option: str, file_name: str) -> ast.stmt:
    """The only loop that may be meant. Raises ValueError, which lists all of them, if it is not the only one."""
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(f"line {loop.lineno} ({loop_head_text(loop)})" for loop in (chosen or list(loops)))
    if chosen:
        raise ValueError(
            f"{option}: {file_name} has several loops: {listed}. Name the lines of one of them with --lines, "
            "or count the rounds of all with --rounds"
        )
    if listed:
        raise ValueError(
            f"{option}: no loop of {file_name} calls backward(); it has these: {listed}. Name the lines of one with "
            "--lines"
        )
    raise ValueError(f"{option}: there is no loop in {file_name}")


def loop_head_text(loop: ast.stmt) -> str:
    """The head of a loop as text."""
    if isinstance(loop, ast.While):
        return f"while {ast.unparse(loop.test)}:"
    assert isinstance(loop, ast.For | ast.AsyncFor)
    return f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}:"


def iteration_part(loop: ast.stmt) -> ScriptPart:
    """An iteration of a loop as a part."""
    block: list[ast.stmt] = loop.body  # type: ignore[attr-defined]
    return ScriptPart(block, 0, len(block), loop, loop)


def parts_in_lines(
    block: list[ast.stmt], enclosing: ast.stmt | None, first: int, last: int, inside_part: bool = False
) -> Iterator[ScriptPart]:
    """The parts of a block, and of nested blocks, that lie in these lines.

    A compound statement is included if its first line is, a simple one if any of its lines is. The body of a function
    or a method is a part of its own.

    inside_part: the block is inside a part already
    """
    indices: list[int] = []
    for k, statement in enumerate(block):
        inside = inside_part or head_overlaps_lines(statement, first, last)
        if isinstance(statement, Definition):
            yield from parts_of_definition(statement, first, last)
        else:
            for inner in blocks_of_statement(statement):
                yield from parts_in_lines(inner, statement, first, last, inside)
        if inside and not inside_part:
            indices.append(k)
        else:
            yield from part_of_statements(block, indices, enclosing)
            indices = []
    yield from part_of_statements(block, indices, enclosing)


def parts_of_definition(node: Definition, first: int, last: int) -> Iterator[ScriptPart]:
    """The parts of a function's body, or of the bodies of a class's methods."""
    if isinstance(node, Function):
        yield from parts_in_lines(node.body, None, first, last)
        return
    for member in node.body:
        if isinstance(member, Definition):
            yield from parts_of_definition(member, first, last)


def part_of_statements(block: list[ast.stmt], indices: list[int], enclosing: ast.stmt | None) -> Iterator[ScriptPart]:
    """The part that consists of these statements, without definitions and the like at its ends; nothing if none are
    left."""
    while indices and is_definition_or_declaration(block[indices[0]], indices[0] == 0):
        indices = indices[1:]
    while indices and is_definition_or_declaration(block[indices[-1]], False):
        indices = indices[:-1]
    if indices:
        yield ScriptPart(block, indices[0], indices[-1] + 1, enclosing)


def is_definition_or_declaration(statement: ast.stmt, is_first: bool) -> bool:
    """Whether a statement shows nothing or has to stay where it is: a definition, a docstring, `global`."""
    if is_first and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return is_future or isinstance(statement, Definition | ast.Global | ast.Nonlocal)


def head_overlaps_lines(statement: ast.stmt, first: int, last: int) -> bool:
    """Whether a statement lies in these lines, judged by its head if it has a body."""
    end = statement.end_lineno or statement.lineno
    if isinstance(statement, CompoundStatement):
        end = last_line_of_statement_head(statement)
    elif isinstance(statement, Definition):
        end = first_line_with_decorators(statement)
    return first_line_with_decorators(statement) <= last and end >= first


def last_line_of_statement_head(statement: ast.stmt) -> int:
    """The line on which the head of a compound statement ends."""
    ends = [statement.lineno]
    for name in ("test", "iter", "subject"):
        expression: ast.expr | None = getattr(statement, name, None)
        if expression is not None:
            ends.append(expression.end_lineno or expression.lineno)
    for item in getattr(statement, "items", ()):
        last: ast.expr = item.optional_vars or item.context_expr
        ends.append(last.end_lineno or last.lineno)
    return max(ends)


def first_line_with_decorators(statement: ast.stmt) -> int:
    """The line on which a statement begins: a decorated one with its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min(statement.lineno, *(decorator.lineno for decorator in decorators), statement.lineno)


def blocks_of_statement(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement, in order."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        children = getattr(statement, name, None)
        if not children:
            continue
        if name in ("handlers", "cases"):
            yield from (child.body for child in children)
        else:
            yield children


def outermost_loops(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The loops of a block that are in no other loop of it. Loops in functions don't count."""
    for statement in block:
        if isinstance(statement, LOOP_TYPES):
            yield statement
        elif not isinstance(statement, Definition):
            for inner in blocks_of_statement(statement):
                yield from outermost_loops(inner)


def all_loops(block: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The loops of a file, in the order of its lines."""
    loops = [node for statement in block for node in ast.walk(statement) if isinstance(node, LOOP_TYPES)]
    return sorted(loops, key=lambda loop: (loop.lineno, loop.col_offset))
