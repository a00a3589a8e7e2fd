"""Fixes that ask torch for the same result in another way: a leaf of its own, a kept gradient, a hook that runs,
`apply` of a function."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.copies import tensor_parts
from gradbox.language.fixes.program import Fix, FixProgram, Hint, is_assignable, method


def retain_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `y.retain_grad()` after the statement that makes `y`."""
    statement = program.statement(hint.line)
    indent = program.indent(statement) if statement is not None else None
    if not isinstance(statement, ast.Assign) or indent is None:
        return
    made = [program.text(part) for target in statement.targets for part in tensor_parts(target)]
    wanted = [name for name in made if is_assignable(name) and (name == hint.name() or len(made) == 1)]
    named = [name for name in hint.names if name in made and is_assignable(name)]
    at = (statement.end_lineno or statement.lineno) + 1
    lines = [f"{indent}{name}.retain_grad()" for name in dict.fromkeys([*wanted, *named])]
    yield from program.with_lines(hint, program.inserted(at, lines), name=", ".join(dict.fromkeys([*wanted, *named])))


def leaf_of_result(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make a leaf with the result's numbers by `.detach().requires_grad_()`, then do the same for updates beside it."""
    statement = program.statement(hint.line)
    if not isinstance(statement, ast.Assign):
        return
    for statements in ([statement], program.siblings(statement)):
        work = program.edits()
        for other in statements:
            if isinstance(other, ast.Assign) and (other is statement or _is_update(other)):
                for part in tensor_parts(other.value):
                    work.replace_node(part, f"{program.operand(part)}.detach().requires_grad_()")
        yield from program.with_edits(hint, work)


def leaf_of_update(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """The same only for an update such as `params = [p - lr * p.grad for p in params]`."""
    statement = program.statement(hint.line)
    if statement is not None and any(
        isinstance(node, ast.Attribute) and node.attr == "grad" for node in program.own_nodes(statement)
    ):
        yield from leaf_of_result(program, hint)


def _is_update(statement: ast.Assign) -> bool:
    """Whether a statement is like `a = a - lr * a.grad`."""
    target = ast.unparse(statement.targets[0])
    return any(
        isinstance(node, ast.Attribute) and ast.unparse(node) == f"{target}.grad" for node in ast.walk(statement.value)
    )


def detach_used(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.detach()` for `x` where only its numbers are needed."""
    yield from program.with_method_behind_reads(hint, "detach")


def grad_on(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call `torch.set_grad_enabled(True)` before the statement."""
    statement = program.statement(hint.line)
    indent = program.indent(statement) if statement is not None else None
    if statement is not None and indent is not None:
        line = f"{indent}{program.torch()}.set_grad_enabled(True)"
        yield from program.with_lines(hint, program.inserted(statement.lineno, [line]))


def call_module(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `module(x)` for `module.forward(x)`."""
    work = program.edits()
    for call in program.calls(hint.line):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "forward":
            work.replace_node(call.func, program.text(call.func.value))
    yield from program.with_edits(hint, work)


def move_before(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement before the one at another line."""
    statement, before = program.statement(hint.line), program.statement(hint.to_line())
    if statement is None or before is None or statement is before or before.lineno > statement.lineno:
        return
    indent = program.indent(before)
    if indent is None or program.indent(statement) is None or program.shares_lines(statement):
        return
    first, last, at = statement.lineno - 1, statement.end_lineno or statement.lineno, before.lineno - 1
    own = [indent + line[statement.col_offset :] for line in program.lines[first:last]]
    lines = [*program.lines[:at], *own, *program.lines[at:first], *program.lines[last:]]
    yield from program.with_lines(hint, lines, to=hint.to_line())


def static_methods(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `@staticmethod` to forward and backward of a function, and write `Function.apply(…)` for a call of an
    instance."""
    name = hint.name()
    work = program.edits()
    for node in program.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and program.text(node.func.func) == name:
            work.replace_node(node.func, f"{name}.apply")
    heads = [
        item.lineno
        for node in program.nodes
        if isinstance(node, ast.ClassDef) and node.name == name
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name in ("forward", "backward") and not item.decorator_list
    ]
    for fixed in program.with_edits(hint, work):
        lines = fixed.source.split("\n")
        for line in sorted(heads, reverse=True):
            indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
            lines.insert(line - 1, f"{indent}@staticmethod")
        yield from program.with_lines(hint, lines)


def apply_function(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `Function.apply(x)` for `Function(x)`."""
    work = program.edits()
    for call in program.calls(hint.line):
        if program.text(call.func) == hint.name() and call.args:
            work.replace_node(call.func, f"{hint.name()}.apply")
    yield from program.with_edits(hint, work)


def clone_operand(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Copy what a write in place reads: `x -= x[0].clone()`."""
    statement = program.statement(hint.line)
    work = program.edits()
    if isinstance(statement, ast.AugAssign):
        work.replace_node(statement.value, f"{program.operand(statement.value)}.clone()")
    else:
        for call in program.calls(hint.line):
            if method(call).endswith("_") and call.args:
                work.replace_node(call.args[0], f"{program.operand(call.args[0])}.clone()")
                break
    yield from program.with_edits(hint, work)


def deepcopy_instead(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `copy.deepcopy(x)` for `copy.copy(x)`."""
    work = program.edits()
    for call in program.calls(hint.line):
        if program.modules.dotted_path(call.func) == "copy.copy" and isinstance(call.func, ast.Attribute):
            work.replace_node(call.func, f"{program.text(call.func.value)}.deepcopy")
    yield from program.with_edits(hint, work)


def save_for_backward(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `ctx.save_for_backward(y)` for `ctx.y = y`, and `ctx.saved_tensors[0]` where backward reads it.

    Only if the function saves nothing else.
    """
    statement = program.statement(hint.line)
    owner = next(
        (node for node in program.nodes if isinstance(node, ast.ClassDef)
         and node.lineno <= hint.line <= (node.end_lineno or 0)), None
    )  # fmt: skip
    if not isinstance(statement, ast.Assign) or owner is None or "save_for_backward" in program.text(owner):
        return
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, ast.Attribute):
        return
    work = program.edits()
    work.replace_node(statement, f"{program.text(target.value)}.save_for_backward({program.text(statement.value)})")
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute) and node.attr == target.attr and isinstance(node.ctx, ast.Load):
            work.replace_node(node, f"{program.text(node.value)}.saved_tensors[0]")
    yield from program.with_edits(hint, work)
