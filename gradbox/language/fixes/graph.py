"""Fixes of what autograd follows: histories that are carried along, or that are never recorded."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.order import add_keyword
from gradbox.language.fixes.program import (
    Fix,
    FixProgram,
    Hint,
    callee_name,
    is_assignable,
    is_constant,
    method_receiver,
)

_TENSOR_FACTORIES = ("tensor", "randn", "rand", "zeros", "ones", "full", "arange", "linspace", "eye", "empty",
           "randn_like", "zeros_like", "ones_like", "full_like", "rand_like", "normal")  # fmt: skip


def add_requires_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `requires_grad=True` where the tensor is made."""
    statement = program.statement_at(hint.line)
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) in _TENSOR_FACTORIES and not any(
            keyword.arg == "requires_grad" for keyword in call.keywords
        ):
            arguments = [program.source_text(part) for part in [*call.args, *call.keywords]]
            work.replace_node(
                call, f"{program.source_text(call.func)}({', '.join([*arguments, 'requires_grad=True'])})"
            )
            break
    if not work.sorted_edits() and isinstance(statement, ast.Assign):
        work.replace_node(statement.value, f"{program.operand_text(statement.value)}.requires_grad_()")
    for node in program.nodes:
        match node:
            case ast.keyword(arg="requires_grad", value=value) if value.lineno == hint.line and is_constant(
                value, False
            ):
                work.replace_node(value, "True")
    yield from program.fix_from_edits(hint, work)


def detach_values_carried_by_loop(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Detach what a loop carries into its next iteration; make what is made once anew in each iteration, or in each
    call of the function that uses it."""
    name, statement = hint.name(), program.statement_at(hint.line)
    yield from _detach_values_before_replacement(program, hint)
    if not is_assignable(name):
        return
    moved = list(_move_to_loop_or_function_using_it(program, hint))
    yield from moved
    if moved and statement is not None and _uses_optimized_parameters(program, statement):
        return  # without its history, what is trained would be trained no more
    forms = (f"{name} = {name}.detach()", f"{name} = tuple(part.detach() for part in {name})")
    loops = [program.enclosing_loop(line) for line in (hint.other_line(), hint.line)]
    for loop in dict.fromkeys(loop for loop in loops if loop is not None):
        last = loop.body[-1]
        indent = program.leading_blanks(last)
        for form in forms if indent is not None else ():
            at = (last.end_lineno or last.lineno) + 1
            yield from program.fix_from_lines(hint, program.lines_with_insertion(at, [f"{indent}{form}"]))
    value = getattr(statement, "value", None)
    if (
        isinstance(statement, ast.Assign)
        and value is not None
        and isinstance(statement.targets[0], ast.Attribute | ast.Name)
        and (isinstance(statement.targets[0], ast.Attribute) or program.enclosing_loop(hint.line) is None)
    ):
        work = program.new_edits()
        work.replace_node(value, f"{program.operand_text(value)}.detach()")
        yield from program.fix_from_edits(hint, work)


def detach_assigned_values(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Detach what an assignment takes over: a tensor, or each of a tuple."""
    statement = program.statement_at(hint.line)
    if isinstance(statement, ast.Assign):
        text = program.operand_text(statement.value)
        for form in (f"{text}.detach()", f"tuple(part.detach() for part in {text})"):
            work = program.new_edits()
            work.replace_node(statement.value, form)
            yield from program.fix_from_edits(hint, work)


def _detach_values_before_replacement(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Detach the values that a statement reads and then replaces: `h, c = cell(x, (h.detach(), c.detach()))`."""
    statement = program.statement_at(hint.line)
    value = getattr(statement, "value", None)
    if statement is None or value is None:
        return
    assigned = {ast.unparse(part) for part in _assigned_targets(statement)}
    pairs = {name.partition("[")[0].rpartition(".")[2] for name in hint.names if name.endswith("]")}
    if isinstance(value, ast.Call) and callee_name(value) == "append":
        assigned = {f"{ast.unparse(value.func.value)}[-1]"} if isinstance(value.func, ast.Attribute) else set()
    work = program.new_edits()
    read = []
    for node in ast.walk(value):
        is_read = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load)
        if is_read and ast.unparse(node) in assigned and not isinstance(work.parent_of(node), ast.Attribute):
            text = program.source_text(node)
            is_pair = text.rpartition(".")[2] in pairs
            work.replace_node(node, f"tuple(part.detach() for part in {text})" if is_pair else f"{text}.detach()")
            read.append(text)
    yield from program.fix_from_edits(hint, work, name=", ".join(dict.fromkeys(read)))


def _uses_optimized_parameters(program: FixProgram, statement: ast.stmt) -> bool:
    """Whether a statement computes from something that an optimizer holds."""
    given = {
        node.id
        for other in program.statements
        if isinstance(other, ast.Assign) and isinstance(other.value, ast.Call)
        if (program.modules.dotted_path(other.value.func) or "").startswith("torch.optim.")
        for node in ast.walk(other.value)
        if isinstance(node, ast.Name)
    }
    used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return bool(used & given - program.modules.names.keys())


def _assigned_targets(statement: ast.stmt) -> Iterator[ast.expr]:
    """The targets of a statement's assignment, one by one."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _move_to_loop_or_function_using_it(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement to the beginning of the function, or of the loop, that uses its result again and again."""
    statement, use = program.statement_at(hint.line), program.statement_at(hint.other_line())
    if statement is None or use is None or not isinstance(statement, ast.Assign):
        return
    function = program.enclosing_function(use)
    loop = program.enclosing_loop(hint.other_line())
    block: ast.FunctionDef | ast.For | ast.While
    if function is not None and program.enclosing_function(statement) is None:
        kind, block = "move_into_function", function
    elif loop is not None and program.enclosing_function(statement) is function:
        kind, block = "move_into_loop", loop
    else:
        return
    indent, first = program.leading_blanks(block.body[0]), statement.lineno - 1
    is_shared = program.leading_blanks(statement) is None or program.shares_lines(statement)
    if indent is None or is_shared or block.lineno < statement.lineno or program.enclosing_loop(hint.line) is not None:
        return
    last, at = statement.end_lineno or statement.lineno, block.body[0].lineno - 1
    own = [indent + line[statement.col_offset :] for line in program.lines[first:last]]
    lines = [*program.lines[:first], *program.lines[last:at], *own, *program.lines[at:]]
    yield from program.fix_from_lines(Hint(kind, hint.line, hint.facts), lines, to=block.lineno)


def accumulate_numbers_without_graph(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add up, or store in a list, the number instead of the tensor with its history."""
    statement = program.statement_at(hint.line)
    parts: list[ast.expr] = []
    if isinstance(statement, ast.AugAssign):
        parts = [statement.value]
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        left, right = statement.value.left, statement.value.right
        parts = [
            part
            for part in (left, right)
            if program.source_text(part) not in (hint.name(), program.source_text(statement.targets[0]))
        ]
    else:
        parts = [call.args[0] for call in program.calls_at(hint.line) if callee_name(call) == "append" and call.args]
    for suffix in ("item", "detach"):
        work = program.new_edits()
        for part in parts[:1]:
            work.replace_node(part, f"{program.operand_text(part)}.{suffix}()")
        yield from program.fix_from_edits(hint, work, suffix=suffix)
    if isinstance(statement, ast.Assign):
        work = program.new_edits()
        work.replace_node(statement.value, f"{program.operand_text(statement.value)}.detach()")
        yield from program.fix_from_edits(hint, work, suffix="detach")


def replace_inference_mode_by_no_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use `torch.no_grad()` instead of `torch.inference_mode()`, whose tensors autograd may never use."""
    work = program.new_edits()
    for node in program.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "inference_mode":
            work.replace_node(node, f"{program.source_text(node.value)}.no_grad")
    yield from program.fix_from_edits(hint, work)


def add_use_reentrant_false(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `use_reentrant=False`, with which a checkpoint also follows the parameters inside."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if "checkpoint" not in callee_name(call):
            continue
        flags = [keyword.value for keyword in call.keywords if keyword.arg == "use_reentrant"]
        if flags:
            work.replace_node(flags[0], "False")
        else:
            add_keyword(program, work, call, "use_reentrant=False")
    yield from program.fix_from_edits(hint, work)


def call_backward_on_sum(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call backward on the sum."""
    yield from _call_backward_on_reduction(program, hint, "sum")


def call_backward_on_mean(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call backward on the mean."""
    yield from _call_backward_on_reduction(program, hint, "mean")


def _call_backward_on_reduction(program: FixProgram, hint: Hint, reduction: str) -> Iterator[Fix]:
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        of = method_receiver(call)
        if callee_name(call) == "backward" and of is not None:
            work.replace_node(of, f"{program.operand_text(of)}.{reduction}()")
            break
        if callee_name(call) == "grad" and call.args:
            work.replace_node(call.args[0], f"{program.operand_text(call.args[0])}.{reduction}()")
            break
    yield from program.fix_from_edits(hint, work)
