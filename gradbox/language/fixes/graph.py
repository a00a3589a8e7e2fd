"""Fixes of what autograd follows: histories that are carried along, or that are never recorded."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.order import add_keyword
from gradbox.language.fixes.program import Fix, FixProgram, Hint, is_assignable, is_constant, method, receiver

_FACTORIES = ("tensor", "randn", "rand", "zeros", "ones", "full", "arange", "linspace", "eye", "empty", "randn_like",
           "zeros_like", "ones_like", "full_like", "rand_like", "normal")  # fmt: skip


def require_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `requires_grad=True` where the tensor is made."""
    statement = program.statement(hint.line)
    work = program.edits()
    for call in program.calls(hint.line):
        if method(call) in _FACTORIES and not any(keyword.arg == "requires_grad" for keyword in call.keywords):
            arguments = [program.text(part) for part in [*call.args, *call.keywords]]
            work.replace_node(call, f"{program.text(call.func)}({', '.join([*arguments, 'requires_grad=True'])})")
            break
    if not work.sorted_edits() and isinstance(statement, ast.Assign):
        work.replace_node(statement.value, f"{program.operand(statement.value)}.requires_grad_()")
    for node in program.nodes:
        match node:
            case ast.keyword(arg="requires_grad", value=value) if value.lineno == hint.line and is_constant(
                value, False
            ):
                work.replace_node(value, "True")
    yield from program.with_edits(hint, work)


def detach_carried(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Detach what a loop carries into its next iteration; make what is made once anew in each iteration, or in each
    call of the function that uses it."""
    name, statement = hint.name(), program.statement(hint.line)
    yield from _detach_where_read(program, hint)
    if not is_assignable(name):
        return
    moved = list(_move_to_use(program, hint))
    yield from moved
    if moved and statement is not None and _is_trained(program, statement):
        return  # without its history, what is trained would be trained no more
    forms = (f"{name} = {name}.detach()", f"{name} = tuple(part.detach() for part in {name})")
    loops = [program.enclosing_loop(line) for line in (hint.to_line(), hint.line)]
    for loop in dict.fromkeys(loop for loop in loops if loop is not None):
        last = loop.body[-1]
        indent = program.indent(last)
        for form in forms if indent is not None else ():
            at = (last.end_lineno or last.lineno) + 1
            yield from program.with_lines(hint, program.inserted(at, [f"{indent}{form}"]))
    value = getattr(statement, "value", None)
    if (
        isinstance(statement, ast.Assign)
        and value is not None
        and isinstance(statement.targets[0], ast.Attribute | ast.Name)
        and (isinstance(statement.targets[0], ast.Attribute) or program.enclosing_loop(hint.line) is None)
    ):
        work = program.edits()
        work.replace_node(value, f"{program.operand(value)}.detach()")
        yield from program.with_edits(hint, work)


def detach_start(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Detach what an assignment takes over: a tensor, or each of a tuple."""
    statement = program.statement(hint.line)
    if isinstance(statement, ast.Assign):
        text = program.operand(statement.value)
        for form in (f"{text}.detach()", f"tuple(part.detach() for part in {text})"):
            work = program.edits()
            work.replace_node(statement.value, form)
            yield from program.with_edits(hint, work)


def _detach_where_read(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Detach the values that a statement reads and then replaces: `h, c = cell(x, (h.detach(), c.detach()))`."""
    statement = program.statement(hint.line)
    value = getattr(statement, "value", None)
    if statement is None or value is None:
        return
    assigned = {ast.unparse(part) for part in _assigned_parts(statement)}
    pairs = {name.partition("[")[0].rpartition(".")[2] for name in hint.names if name.endswith("]")}
    if isinstance(value, ast.Call) and method(value) == "append":
        assigned = {f"{ast.unparse(value.func.value)}[-1]"} if isinstance(value.func, ast.Attribute) else set()
    work = program.edits()
    read = []
    for node in ast.walk(value):
        is_read = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load)
        if is_read and ast.unparse(node) in assigned and not isinstance(work.parent_of(node), ast.Attribute):
            text = program.text(node)
            is_pair = text.rpartition(".")[2] in pairs
            work.replace_node(node, f"tuple(part.detach() for part in {text})" if is_pair else f"{text}.detach()")
            read.append(text)
    yield from program.with_edits(hint, work, name=", ".join(dict.fromkeys(read)))


def _is_trained(program: FixProgram, statement: ast.stmt) -> bool:
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


def _assigned_parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """The targets of a statement's assignment, one by one."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _move_to_use(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement to the beginning of the function, or of the loop, that uses its result again and again."""
    statement, use = program.statement(hint.line), program.statement(hint.to_line())
    if statement is None or use is None or not isinstance(statement, ast.Assign):
        return
    function = program.enclosing_function(use)
    loop = program.enclosing_loop(hint.to_line())
    block: ast.FunctionDef | ast.For | ast.While
    if function is not None and program.enclosing_function(statement) is None:
        kind, block = "move_into_function", function
    elif loop is not None and program.enclosing_function(statement) is function:
        kind, block = "move_into_loop", loop
    else:
        return
    indent, first = program.indent(block.body[0]), statement.lineno - 1
    is_shared = program.indent(statement) is None or program.shares_lines(statement)
    if indent is None or is_shared or block.lineno < statement.lineno or program.enclosing_loop(hint.line) is not None:
        return
    last, at = statement.end_lineno or statement.lineno, block.body[0].lineno - 1
    own = [indent + line[statement.col_offset :] for line in program.lines[first:last]]
    lines = [*program.lines[:first], *program.lines[last:at], *own, *program.lines[at:]]
    yield from program.with_lines(Hint(kind, hint.line, hint.facts), lines, to=block.lineno)


def detach_sum(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add up, or store in a list, the number instead of the tensor with its history."""
    statement = program.statement(hint.line)
    parts: list[ast.expr] = []
    if isinstance(statement, ast.AugAssign):
        parts = [statement.value]
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        left, right = statement.value.left, statement.value.right
        parts = [
            part
            for part in (left, right)
            if program.text(part) not in (hint.name(), program.text(statement.targets[0]))
        ]
    else:
        parts = [call.args[0] for call in program.calls(hint.line) if method(call) == "append" and call.args]
    for suffix in ("item", "detach"):
        work = program.edits()
        for part in parts[:1]:
            work.replace_node(part, f"{program.operand(part)}.{suffix}()")
        yield from program.with_edits(hint, work, suffix=suffix)
    if isinstance(statement, ast.Assign):
        work = program.edits()
        work.replace_node(statement.value, f"{program.operand(statement.value)}.detach()")
        yield from program.with_edits(hint, work, suffix="detach")


def no_grad_instead(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use `torch.no_grad()` instead of `torch.inference_mode()`, whose tensors autograd may never use."""
    work = program.edits()
    for node in program.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "inference_mode":
            work.replace_node(node, f"{program.text(node.value)}.no_grad")
    yield from program.with_edits(hint, work)


def not_reentrant(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `use_reentrant=False`, with which a checkpoint also follows the parameters inside."""
    work = program.edits()
    for call in program.calls(hint.line):
        if "checkpoint" not in method(call):
            continue
        flags = [keyword.value for keyword in call.keywords if keyword.arg == "use_reentrant"]
        if flags:
            work.replace_node(flags[0], "False")
        else:
            add_keyword(program, work, call, "use_reentrant=False")
    yield from program.with_edits(hint, work)


def sum_first(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call backward on the sum."""
    yield from _with_reduction(program, hint, "sum")


def mean_first(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call backward on the mean."""
    yield from _with_reduction(program, hint, "mean")


def _with_reduction(program: FixProgram, hint: Hint, reduction: str) -> Iterator[Fix]:
    work = program.edits()
    for call in program.calls(hint.line):
        of = receiver(call)
        if method(call) == "backward" and of is not None:
            work.replace_node(of, f"{program.operand(of)}.{reduction}()")
            break
        if method(call) == "grad" and call.args:
            work.replace_node(call.args[0], f"{program.operand(call.args[0])}.{reduction}()")
            break
    yield from program.with_edits(hint, work)
