"""Fixes that ask torch for the same result in another way: a leaf of its own, a kept gradient, a hook that runs,
`apply` of a function."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.copies import possible_tensors_in
from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, is_assignable


def add_retain_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `y.retain_grad()` after the statement that makes `y`."""
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    if not isinstance(statement, ast.Assign) or indent is None:
        return
    made = [program.source_text(part) for target in statement.targets for part in possible_tensors_in(target)]
    wanted = [name for name in made if is_assignable(name) and (name == hint.name() or len(made) == 1)]
    named = [name for name in hint.names if name in made and is_assignable(name)]
    at = (statement.end_lineno or statement.lineno) + 1
    lines = [f"{indent}{name}.retain_grad()" for name in dict.fromkeys([*wanted, *named])]
    yield from program.fix_from_lines(
        hint, program.lines_with_insertion(at, lines), name=", ".join(dict.fromkeys([*wanted, *named]))
    )


def make_result_a_leaf(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make a leaf with the result's numbers by `.detach().requires_grad_()`, then do the same for updates beside it."""
    statement = program.statement_at(hint.line)
    if not isinstance(statement, ast.Assign):
        return
    for statements in ([statement], program.containing_block(statement)):
        work = program.new_edits()
        for other in statements:
            if isinstance(other, ast.Assign) and (other is statement or _is_gradient_step(other)):
                for part in possible_tensors_in(other.value):
                    work.replace_node(part, f"{program.operand_text(part)}.detach().requires_grad_()")
        yield from program.fix_from_edits(hint, work)


def make_updated_parameters_leaves(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """The same only for an update such as `params = [p - lr * p.grad for p in params]`."""
    statement = program.statement_at(hint.line)
    if statement is not None and any(
        isinstance(node, ast.Attribute) and node.attr == "grad" for node in program.nodes_outside_blocks(statement)
    ):
        yield from make_result_a_leaf(program, hint)


def _is_gradient_step(statement: ast.Assign) -> bool:
    """Whether a statement is like `a = a - lr * a.grad`."""
    target = ast.unparse(statement.targets[0])
    return any(
        isinstance(node, ast.Attribute) and ast.unparse(node) == f"{target}.grad" for node in ast.walk(statement.value)
    )


def detach_where_used(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.detach()` for `x` where only its numbers are needed."""
    yield from program.fix_calling_method_on_reads(hint, "detach")


def enable_grad_before_statement(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call `torch.set_grad_enabled(True)` before the statement."""
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    if statement is not None and indent is not None:
        line = f"{indent}{program.torch_name()}.set_grad_enabled(True)"
        yield from program.fix_from_lines(hint, program.lines_with_insertion(statement.lineno, [line]))


def call_module_not_forward(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `module(x)` for `module.forward(x)`."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "forward":
            work.replace_node(call.func, program.source_text(call.func.value))
    yield from program.fix_from_edits(hint, work)


def move_before_line(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement before the one at another line."""
    statement, before = program.statement_at(hint.line), program.statement_at(hint.other_line())
    if statement is None or before is None or statement is before or before.lineno > statement.lineno:
        return
    indent = program.leading_blanks(before)
    if indent is None or program.leading_blanks(statement) is None or program.shares_lines(statement):
        return
    first, last, at = statement.lineno - 1, statement.end_lineno or statement.lineno, before.lineno - 1
    own = [indent + line[statement.col_offset :] for line in program.lines[first:last]]
    lines = [*program.lines[:at], *own, *program.lines[at:first], *program.lines[last:]]
    yield from program.fix_from_lines(hint, lines, to=hint.other_line())


def make_methods_static(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `@staticmethod` to forward and backward of a function, and write `Function.apply(…)` for a call of an
    instance."""
    name = hint.name()
    work = program.new_edits()
    for node in program.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Call)
            and program.source_text(node.func.func) == name
        ):
            work.replace_node(node.func, f"{name}.apply")
    heads = [
        item.lineno
        for node in program.nodes
        if isinstance(node, ast.ClassDef) and node.name == name
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name in ("forward", "backward") and not item.decorator_list
    ]
    for fixed in program.fix_from_edits(hint, work):
        lines = fixed.source.split("\n")
        for line in sorted(heads, reverse=True):
            indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
            lines.insert(line - 1, f"{indent}@staticmethod")
        yield from program.fix_from_lines(hint, lines)


def call_function_apply(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `Function.apply(x)` for `Function(x)`."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if program.source_text(call.func) == hint.name() and call.args:
            work.replace_node(call.func, f"{hint.name()}.apply")
    yield from program.fix_from_edits(hint, work)


def clone_operand_of_write(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Copy what a write in place reads: `x -= x[0].clone()`."""
    statement = program.statement_at(hint.line)
    work = program.new_edits()
    if isinstance(statement, ast.AugAssign):
        work.replace_node(statement.value, f"{program.operand_text(statement.value)}.clone()")
    else:
        for call in program.calls_at(hint.line):
            if callee_name(call).endswith("_") and call.args:
                work.replace_node(call.args[0], f"{program.operand_text(call.args[0])}.clone()")
                break
    yield from program.fix_from_edits(hint, work)


def use_deepcopy(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `copy.deepcopy(x)` for `copy.copy(x)`."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if program.modules.dotted_path(call.func) == "copy.copy" and isinstance(call.func, ast.Attribute):
            work.replace_node(call.func, f"{program.source_text(call.func.value)}.deepcopy")
    yield from program.fix_from_edits(hint, work)


def use_save_for_backward(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `ctx.save_for_backward(y)` for `ctx.y = y`, and `ctx.saved_tensors[0]` where backward reads it.

    Only if the function saves nothing else.
    """
    statement = program.statement_at(hint.line)
    owner = next(
        (node for node in program.nodes if isinstance(node, ast.ClassDef)
         and node.lineno <= hint.line <= (node.end_lineno or 0)), None
    )  # fmt: skip
    if not isinstance(statement, ast.Assign) or owner is None or "save_for_backward" in program.source_text(owner):
        return
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, ast.Attribute):
        return
    work = program.new_edits()
    work.replace_node(
        statement, f"{program.source_text(target.value)}.save_for_backward({program.source_text(statement.value)})"
    )
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute) and node.attr == target.attr and isinstance(node.ctx, ast.Load):
            work.replace_node(node, f"{program.source_text(node.value)}.saved_tensors[0]")
    yield from program.fix_from_edits(hint, work)
