"""Fixes that give a tensor memory of its own."""

import ast
from collections.abc import Iterator

from gradbox.language.edits import ProgramEdits
from gradbox.language.fixes.program import (
    Fix,
    FixProgram,
    Hint,
    callee_name,
    is_assignable,
    method_receiver,
    written_target,
)


def clone_before_write(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Insert `x = x.clone()` before the statement that writes into it."""
    statement = program.statement_at(hint.line)
    target = written_target(statement)
    names = dict.fromkeys([hint.name(), ast.unparse(target) if target is not None else ""])
    indent = program.leading_blanks(statement) if statement is not None else None
    if statement is None or indent is None:
        return
    for name in names:
        if is_assignable(name):
            lines = program.lines_with_insertion(statement.lineno, [f"{indent}{name} = {name}.clone()"])
            yield from program.fix_from_lines(hint, lines, name=name)


def clone_result(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `.clone()` to the value that a statement assigns."""
    yield from _call_method_on_assigned_value(program, hint, "clone")


def clone_saved_operand(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.clone()` for `x` where an operation saves it."""
    statement = program.statement_at(hint.line)
    if statement is None:
        return
    for name in dict.fromkeys([hint.name(), *hint.names]):
        for statements in ([statement], program.containing_block(statement)):
            work = program.new_edits()
            for node in (
                node for other in statements for node in program.nodes_outside_blocks(other) if is_assignable(name)
            ):
                is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
                whole = _indexed_name(work, node) if is_read and ast.unparse(node) == name else None
                is_alone = len(statements) == 1 or isinstance(whole, ast.Subscript)
                if whole is not None and is_alone:
                    work.replace_node(whole, f"{program.source_text(whole)}.clone()")
            yield from program.fix_from_edits(hint, work, name=name)


def _indexed_name(work: ProgramEdits, node: ast.AST) -> ast.expr | None:
    """A name with the indices behind it, such as `x[0]` for its `x`; None if it is written to, or only an attribute is
    read."""
    parent = work.parent_of(node)
    while isinstance(parent, ast.Subscript) and parent.value is node:
        if not isinstance(parent.ctx, ast.Load):
            return None
        node, parent = parent, work.parent_of(parent)
    is_method = isinstance(parent, ast.Attribute) and isinstance(work.parent_of(parent), ast.Call)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    return None if is_called or (isinstance(parent, ast.Attribute) and not is_method) else node  # type: ignore[return-value]


def clone_where_sharing_begins(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Copy where memory began to be shared: by a view, an array, a dictionary of weights."""
    statement = program.statement_at(hint.line)
    value = getattr(statement, "value", None)
    yield from _call_method_on_appended(program, hint, "clone")
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) or value is None:
        return
    work = program.new_edits()
    name = callee_name(value) if isinstance(value, ast.Call) else ""
    text = program.operand_text(value)
    if name == "state_dict":
        work.replace_node(value, f"{{key: tensor.clone() for key, tensor in {text}.items()}}")
    elif name in ("numpy", "asarray", "__array__"):
        work.replace_node(value, f"{text}.copy()")
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List):
        items = ", ".join(program.source_text(item) for item in value.left.elts)
        work.replace_node(value, f"[{items} for _ in range({program.source_text(value.right)})]")
    else:
        for part in possible_tensors_in(value):
            work.replace_node(part, f"{program.operand_text(part)}.clone()")
    yield from program.fix_from_edits(hint, work)


def _call_method_on_appended(program: FixProgram, hint: Hint, method_name: str) -> Iterator[Fix]:
    """Write `kept.append(x.clone())` for `kept.append(x)`, where the list is the one to which a name such as `kept[0]`
    leads."""
    containers = {name.partition("[")[0] for name in (hint.name(), *hint.names) if "[" in name}
    work = program.new_edits()
    for call in (node for node in program.nodes if isinstance(node, ast.Call)):
        of = method_receiver(call)
        if callee_name(call) == "append" and of is not None and program.source_text(of) in containers and call.args:
            work.replace_node(call.args[0], f"{program.operand_text(call.args[0])}.{method_name}()")
    for node in program.statements:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(target, ast.Subscript)
            and program.source_text(target.value) in containers
            and isinstance(node, ast.Assign)
        ):
            for part in possible_tensors_in(node.value):
                work.replace_node(part, f"{program.operand_text(part)}.{method_name}()")
    yield from program.fix_from_edits(hint, work)


def possible_tensors_in(value: ast.expr) -> list[ast.expr]:
    """The parts of a list, tuple, dictionary or comprehension that may be tensors; any other expression itself."""
    match value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            return parts
        case ast.ListComp(elt=part) | ast.DictComp(value=part):
            return [part]
    return [value]


def replace_deepcopy_by_clone(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.clone()` for `copy.deepcopy(x)`, and as an alternative the same without its history."""
    for suffix in ("clone()", "detach().clone()"):
        work = program.new_edits()
        for call in program.calls_at(hint.line):
            if callee_name(call) == "deepcopy" and call.args:
                work.replace_node(call, f"{program.operand_text(call.args[0])}.{suffix}")
        yield from program.fix_from_edits(hint, work)


def detach_stored_tensor(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Store a tensor without its history: where it is put into a container, else where it is made."""
    yield from _call_method_on_appended(program, hint, "detach")
    yield from _call_method_on_assigned_value(program, hint, "detach")


def detach_before_numpy(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.detach().numpy()` for `x.numpy()`."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        of = method_receiver(call)
        if callee_name(call) in ("numpy", "tolist", "__array__") and of is not None and not call.args:
            work.replace_node(of, f"{program.operand_text(of)}.detach()")
        elif callee_name(call) in ("array", "asarray") and call.args:
            work.replace_node(call.args[0], f"{program.operand_text(call.args[0])}.detach()")
    if not work.sorted_edits() and is_assignable(hint.name()):
        for call in program.calls_at(hint.line):
            for argument in call.args:
                if program.source_text(argument) == hint.name():
                    work.replace_node(argument, f"{hint.name()}.detach()")
    yield from program.fix_from_edits(hint, work)


def _call_method_on_assigned_value(program: FixProgram, hint: Hint, name: str) -> Iterator[Fix]:
    statement = program.statement_at(hint.line)
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) and value is not None:
        work = program.new_edits()
        for part in possible_tensors_in(value):
            work.replace_node(part, f"{program.operand_text(part)}.{name}()")
        yield from program.fix_from_edits(hint, work)
