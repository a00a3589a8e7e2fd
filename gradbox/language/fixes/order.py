"""Fixes that move, remove or add a statement."""

import ast
from collections.abc import Iterator

from gradbox.language.edits import ProgramEdits
from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, is_assignable, method_receiver
from gradbox.language.tree import walk_tree


def comment_out_statement(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Turn the statement into a comment."""
    statement = program.statement_at(hint.line)
    if statement is not None and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
        work = program.new_edits()
        work.comment_out_statement(statement)
        yield from program.fix_from_edits(hint, work)


def comment_out_only_return(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Turn the only `return` of a function, such as a hook, into a comment, so that its result replaces nothing."""
    for function in program.statements:
        if not isinstance(function, ast.FunctionDef) or function.name != hint.name() or len(function.body) < 2:
            continue
        last = function.body[-1]
        returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
        if isinstance(last, ast.Return) and returns == [last]:
            work = program.new_edits()
            work.comment_out_statement(last)
            yield from program.fix_from_edits(hint, work)


def clear_stored_tensor_before(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Insert `model.features = None` before the statement that can't handle the stored value."""
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    if statement is not None and indent is not None and "." in hint.name() and is_assignable(hint.name()):
        yield from program.fix_from_lines(
            hint, program.lines_with_insertion(statement.lineno, [f"{indent}{hint.name()} = None"])
        )


def clear_list_each_round(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Insert `losses.clear()` at the beginning of the round in which the backward stands."""
    loop = program.enclosing_loop(hint.line)
    indent = program.leading_blanks(loop.body[0]) if loop is not None else None
    if loop is not None and indent is not None and is_assignable(hint.name()):
        yield from program.fix_from_lines(
            hint, program.lines_with_insertion(loop.body[0].lineno, [f"{indent}{hint.name()}.clear()"])
        )


def move_after_line_or_remove(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement behind the one at another line, or only remove it if the same statement is there already."""
    statement, after = program.statement_at(hint.line), program.statement_at(hint.other_line())
    if statement is None or after is None or statement is after:
        return
    text = program.source_text(statement)
    if any(other.lineno > after.lineno and program.source_text(other) == text for other in program.statements):
        yield from comment_out_statement(program, hint)
    lines = program.lines_with_move(statement, after)
    if lines is not None:
        yield from program.fix_from_lines(hint, lines, to=hint.other_line())


def move_zero_grad_later(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the reset behind the line that needs the gradients, or behind the last statement of its block."""
    yield from move_after_line_or_remove(program, hint)
    statement = program.statement_at(hint.line)
    if statement is not None:
        last = program.containing_block(statement)[-1]
        yield from move_after_line_or_remove(
            program, Hint(hint.kind, hint.line, {**hint.facts, "to": last.lineno}, hint.names)
        )


def repeat_forward_after_update(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Repeat the forward statement after the update that changed what it had saved."""
    statement, after = program.statement_at(hint.line), program.statement_at(hint.other_line())
    indent = program.leading_blanks(after) if after is not None else None
    if statement is None or after is None or indent is None or after.lineno <= statement.lineno:
        return
    if not isinstance(statement, ast.Assign) or program.shares_lines(statement) or program.shares_lines(after):
        return
    if program.enclosing_function(statement) is not program.enclosing_function(after):
        return
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    own = [indent + line[statement.col_offset :] for line in program.lines[first:last]]
    yield from program.fix_from_lines(
        hint, program.lines_with_insertion((after.end_lineno or after.lineno) + 1, own), to=hint.other_line()
    )


def move_step_after_backward(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call `optimizer.step()` after the last backward."""
    yield from move_after_line_or_remove(program, hint)


def insert_zero_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Reset gradients before a backward adds to them, or after a step that is taken less often: by the optimizer if
    there is one, else by `x.grad = None`."""
    statement, line = program.statement_at(hint.line), hint.line
    step = program.statement_at(hint.other_line())
    if statement is not None and step is not None and is_accumulation_step(program, step, statement):
        statement, line = step, (step.end_lineno or step.lineno) + 1
    indent = program.leading_blanks(statement) if statement is not None else None
    if statement is None or indent is None:
        return
    resets = [f"{name}.zero_grad()" for name in optimizer_names(program)]
    for name in (hint.name(), *hint.names):
        tensor = name.removesuffix(".grad")
        if is_assignable(tensor):
            resets.append(f"{tensor}.grad = None")
    for reset in dict.fromkeys(resets):
        yield from program.fix_from_lines(hint, program.lines_with_insertion(line, [indent + reset]), reset=reset)


def is_accumulation_step(program: FixProgram, step: ast.stmt, backward: ast.stmt) -> bool:
    """Whether a step is under an `if` after the backward in its block, so that it uses the sum of several backwards."""
    return any(
        isinstance(other, ast.If) and any(node is step for node in walk_tree(other))
        for other in program.containing_block(backward)
    )


def reset_grads_of_frozen(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Reset the `.grad` of what the statement freezes after it: `x.grad = None` for a tensor, `zero_grad()` for a
    module."""
    statement = program.statement_at(hint.line)
    if isinstance(statement, ast.Assign):
        frozen = [target.value for target in statement.targets if isinstance(target, ast.Attribute)]
    elif isinstance(statement, ast.Expr):
        calls = [call for call in program.calls_at(hint.line) if callee_name(call) == "requires_grad_"]
        frozen = [value for call in calls if (value := method_receiver(call)) is not None]
    else:
        return
    for name in dict.fromkeys(program.source_text(node) for node in frozen if is_assignable(program.source_text(node))):
        for reset in (f"{name}.grad = None", f"{name}.zero_grad()"):
            yield from program.fix_from_lines(hint, lines_with_statement_after(program, statement, reset), reset=reset)


def lines_with_statement_after(program: FixProgram, statement: ast.stmt, text: str) -> list[str]:
    """The lines with a simple statement added after another: below it, or on its line if that has other statements
    too."""
    last = statement.end_lineno or statement.lineno
    indent = program.leading_blanks(statement)
    if indent is not None and not program.shares_lines(statement):
        return program.lines_with_insertion(last + 1, [indent + text])
    line = program.lines[last - 1].encode()
    end = statement.end_col_offset or len(line)
    return [*program.lines[: last - 1], f"{line[:end].decode()}; {text}{line[end:].decode()}", *program.lines[last:]]


def optimizer_names(program: FixProgram) -> list[str]:
    """The names that an optimizer is assigned to."""
    out = []
    for node in program.statements:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            path = program.modules.dotted_path(node.value.func) or ""
            if path.startswith("torch.optim.") and isinstance(node.targets[0], ast.Name):
                out.append(node.targets[0].id)
    return out


def add_retain_graph(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `retain_graph=True` to the backward that frees the graph."""
    yield from add_true_keyword(program, hint, ("backward", "grad"), "retain_graph")


def add_allow_unused(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `allow_unused=True` where None is intended."""
    yield from add_true_keyword(program, hint, ("grad",), "allow_unused")


def add_true_keyword(program: FixProgram, hint: Hint, methods: tuple[str, ...], flag: str) -> Iterator[Fix]:
    """Add `flag=True` to the first call of one of the methods in the hint's statement that lacks it."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) in methods and not any(k.arg == flag for k in call.keywords):
            add_keyword(program, work, call, f"{flag}=True")
            break
    yield from program.fix_from_edits(hint, work)


def add_keyword(program: FixProgram, work: ProgramEdits, call: ast.Call, keyword: str) -> None:
    """Add a keyword such as `retain_graph=True` to a call."""
    arguments = [program.source_text(part) for part in [*call.args, *call.keywords]]
    work.replace_node(call, f"{program.source_text(call.func)}({', '.join([*arguments, keyword])})")


def call_backward_on_summed_losses(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call backward once on the sum of two losses instead of on each."""
    first, second = program.statement_at(hint.line), program.statement_at(hint.other_line())
    if first is None or second is None or first is second:
        return
    losses = [_backward_receiver(first), _backward_receiver(second)]
    if losses[0] is None or losses[1] is None:
        return
    work = program.new_edits()
    work.comment_out_statement(first)
    work.replace_node(
        second, f"({' + '.join(program.source_text(loss) for loss in losses if loss is not None)}).backward()"
    )
    yield from program.fix_from_edits(hint, work)


def _backward_receiver(statement: ast.stmt) -> ast.expr | None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return method_receiver(call) if isinstance(call, ast.Call) and callee_name(call) == "backward" else None
