"""Fixes of writes in place: out of place, into another tensor, or where torch does not record."""

import ast
from collections.abc import Iterator

from gradbox.language.edits import ProgramEdits
from gradbox.language.fixes.program import (
    Fix,
    FixProgram,
    Hint,
    callee_name,
    is_assignable,
    is_constant,
    method_receiver,
    written_target,
)

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.Mod: "%",
              ast.FloorDiv: "//", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}  # fmt: skip
_METHODS_WITHOUT_OUT_OF_PLACE = ("requires_grad_", "retain_grad_", "normal_", "uniform_", "random_", "bernoulli_",
                         "set_", "swap_")  # fmt: skip
_VIEW_METHODS = (
    "view",
    "view_as",
    "reshape",
    "t",
    "transpose",
    "permute",
    "squeeze",
    "unsqueeze",
    "flatten",
    "select",
    "narrow",
    "detach",
    "diagonal",
)
_INPLACE_AS_LAST_ARGUMENT = ("ReLU", "ReLU6", "SELU", "CELU", "ELU", "Hardtanh", "LeakyReLU", "Dropout", "Dropout2d",
                 "Dropout3d", "SiLU", "Mish", "RReLU", "Threshold", "Hardswish", "Hardsigmoid",
                 "AlphaDropout")  # fmt: skip


def write_out_of_place(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x = x + 1` for `x += 1`, and `x = x.relu()` for `x.relu_()`: in the statement, then also in others of its
    block.

    The others are first those that write the same name, then all that write in place.
    """
    statement = program.statement_at(hint.line)
    if statement is None:
        return
    target = written_target(statement)
    beside = [other for other in program.containing_block(statement) if written_target(other) is not None]
    same = [
        other
        for other in beside
        if target is not None and _unparsed_or_empty(written_target(other)) == _unparsed_or_empty(target)
    ]
    if isinstance(target, ast.Name) and not _is_read_later(program, statement, target.id):
        return  # a new tensor that nobody reads: the write would be lost
    for statements in ([statement], same, beside):
        work = program.new_edits()
        for other in statements:
            _write_out_of_place(program, work, other)
        yield from program.fix_from_edits(hint, work)


def _is_read_later(program: FixProgram, statement: ast.stmt, name: str) -> bool:
    """Whether a name is read after a statement, or before it in a loop that does not assign the name anew."""
    function, loop = program.enclosing_function(statement), program.enclosing_loop(statement.lineno)
    is_given = isinstance(loop, ast.For) and any(
        isinstance(node, ast.Name) and node.id == name for node in ast.walk(loop.target)
    )
    if function is None and not is_given and not _is_view(program, name):
        return True  # a variable of the module: it is what the program leaves
    end = statement.end_lineno or statement.lineno
    last = loop.end_lineno if is_given and loop is not None else None
    carried = {id(node) for node in ast.walk(loop)} if loop is not None and not is_given else set()
    own = {id(node) for node in ast.walk(statement)}
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and id(node) not in own
        and (node.lineno > end or id(node) in carried)
        and (last is None or node.lineno <= last)
        for node in (ast.walk(function) if function is not None else program.nodes)
        if isinstance(getattr(node, "ctx", None), ast.Load)
    )


def _is_view(program: FixProgram, name: str) -> bool:
    """Whether a name refers to a part of something, or to the same memory in another shape, so that a write into it is
    meant for that."""
    values = [
        node.value
        for node in program.statements
        if isinstance(node, ast.Assign) and any(_unparsed_or_empty(target) == name for target in node.targets)
    ]
    return any(
        isinstance(value, ast.Subscript | ast.Attribute)
        or (isinstance(value, ast.Call) and callee_name(value) in _VIEW_METHODS)
        for value in values
    )


def _unparsed_or_empty(node: ast.expr | None) -> str:
    return ast.unparse(node) if node is not None else ""


def _write_out_of_place(program: FixProgram, work: ProgramEdits, statement: ast.stmt) -> None:
    """Make one statement return a new tensor, if there is such a form."""
    if isinstance(statement, ast.AugAssign):
        target, operator = program.source_text(statement.target), _OPERATORS.get(type(statement.op))
        is_item = (
            isinstance(statement.target, ast.Subscript)
            and program.source_text(statement.target.value) in program.list_names()
        )
        if operator and (is_item or isinstance(statement.target, ast.Name | ast.Attribute)):
            work.replace_node(statement, f"{target} = {target} {operator} {program.operand_text(statement.value)}")
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        text = _assigned_out_of_place(program, statement.value)
        if text:
            work.replace_node(statement, text)
    else:
        for call in program.nodes_outside_blocks(statement):
            if (
                isinstance(call, ast.Call)
                and is_in_place_method(callee_name(call))
                and isinstance(call.func, ast.Attribute)
            ):
                start = program.source_text(call.func.value)
                work.replace_node(call.func, f"{start}.{call.func.attr[:-1]}")


def _assigned_out_of_place(program: FixProgram, call: ast.Call) -> str:
    """`x = x.relu()` for the call `x.relu_()`; "" if there is no such form."""
    of = method_receiver(call)
    if of is None or not is_in_place_method(callee_name(call)):
        return ""
    target = program.source_text(of)
    arguments = ", ".join(program.source_text(part) for part in [*call.args, *call.keywords])
    if program.modules.dotted_path(call.func):  # torch.relu_(x)
        target = program.source_text(call.args[0]) if call.args else ""
        return f"{target} = {program.source_text(call.func)[:-1]}({arguments})" if is_assignable(target) else ""
    if not is_assignable(target):
        return ""
    torch = program.torch_name()
    match callee_name(call):
        case "zero_":
            return f"{target} = {torch}.zeros_like({target})"
        case "fill_":
            return f"{target} = {torch}.full_like({target}, {arguments})"
        case "copy_":
            return f"{target} = {program.operand_text(call.args[0])}.clone()" if call.args else ""
        case name:
            return f"{target} = {target}.{name[:-1]}({arguments})"


def is_in_place_method(name: str) -> bool:
    """Whether a method of that name writes into its tensor and has a counterpart that does not."""
    return name.endswith("_") and not name.endswith("__") and name not in _METHODS_WITHOUT_OUT_OF_PLACE


def set_inplace_false(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `inplace=False` for `inplace=True`: at the line, else where the modules are made, each by itself; then in
    all."""
    own = [flag for call in program.calls_at(hint.line) for flag in _inplace_arguments(call)]
    flags = [flag for node in program.nodes if isinstance(node, ast.Call) for flag in _inplace_arguments(node)]
    choices = [own] if own else [[flag] for flag in flags] if len(flags) <= 3 else []
    for choice in [*choices, flags]:
        work = program.new_edits()
        for flag in choice:
            work.replace_node(flag, "False")
        yield from program.fix_from_edits(hint, work)


def _inplace_arguments(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that make it work in place."""
    flags = [
        keyword.value for keyword in call.keywords if keyword.arg == "inplace" and is_constant(keyword.value, True)
    ]
    if callee_name(call) in _INPLACE_AS_LAST_ARGUMENT and call.args and is_constant(call.args[-1], True):
        flags.append(call.args[-1])
    return flags


def wrap_write_in_no_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Put the write under `torch.no_grad()`, where torch does not record it."""
    yield from _wrap_in_grad_mode(program, hint, "no_grad")
    statement = program.statement_at(hint.line)
    target = _unparsed_or_empty(written_target(statement))
    reads = (
        {ast.unparse(node) for node in ast.walk(statement) if isinstance(node, ast.Attribute)} if statement else set()
    )
    if f"{target}.grad" in reads and is_assignable(target):
        yield from _wrap_in_grad_mode(program, hint, "no_grad", f"{target}.grad = None")


def wrap_in_enable_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Put the statement under `torch.enable_grad()` within a block that records nothing."""
    yield from _wrap_in_grad_mode(program, hint, "enable_grad")


def _wrap_in_grad_mode(program: FixProgram, hint: Hint, mode: str, then: str = "") -> Iterator[Fix]:
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    if statement is None or indent is None or program.shares_lines(statement):
        return
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    body = [f"    {line}" if line.strip() else line for line in program.lines[first:last]]
    head = f"{indent}with {program.torch_name()}.{mode}():"
    after = [indent + then] if then else []
    yield from program.fix_from_lines(hint, [*program.lines[:first], head, *body, *after, *program.lines[last:]])


def assign_through_index(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make a write reach the tensor: `x[i] = 0` for `x[i].zero_()`, and a copy that is written back for `x[i][j] =
    …`."""
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    if statement is None or indent is None:
        return
    work = program.new_edits()
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Call):
        of = method_receiver(value)
        forms = {"zero_": "= 0", "add_": "+= {}", "sub_": "-= {}", "mul_": "*= {}", "div_": "/= {}", "fill_": "= {}",
                 "copy_": "= {}"}  # fmt: skip
        form = forms.get(callee_name(value))
        place = program.source_text(of) if isinstance(of, ast.Subscript) else _index_select_as_index(program, of)
        if place and form and len(value.args) <= 1 and not value.keywords:
            argument = program.operand_text(value.args[0]) if value.args else ""
            work.replace_node(statement, f"{place} {form.format(argument)}")
    else:
        target: ast.expr | None = statement.target if isinstance(statement, ast.AugAssign) else None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        inner = target.value if isinstance(target, ast.Subscript) else None
        if isinstance(target, ast.Subscript) and isinstance(inner, ast.Subscript):
            indexed, part = program.source_text(inner), unused_name(program, "part")
            rest = program.source_text(statement)[len(indexed) :]
            work.replace_node(statement, f"{part} = {indexed}\n{indent}{part}{rest}\n{indent}{indexed} = {part}")
    yield from program.fix_from_edits(hint, work)


def _index_select_as_index(program: FixProgram, of: ast.expr | None) -> str:
    """`x[idx]` for `x.index_select(0, idx)`; "" for anything else."""
    base = (
        method_receiver(of)
        if isinstance(of, ast.Call) and callee_name(of) == "index_select" and len(of.args) == 2
        else None
    )
    if base is None or not isinstance(of, ast.Call) or not isinstance(of.args[0], ast.Constant):
        return ""
    before = ":, " * of.args[0].value if of.args[0].value in (0, 1, 2) else None  # type: ignore[operator]
    return "" if before is None else f"{program.operand_text(base)}[{before}{program.source_text(of.args[1])}]"


def accumulate_at_repeated_indices(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `index_put_(…, accumulate=True)` for `x[i] += v`, which counts a repeated index once."""
    statement = program.statement_at(hint.line)
    added = _indexed_addition(statement)
    if statement is None or added is None:
        return
    place, addend, sign = added
    target, index = program.source_text(place.value), place.slice
    indices = program.source_text(index) if isinstance(index, ast.Tuple) else f"({program.source_text(index)},)"
    indices = indices if indices.startswith("(") else f"({indices})"
    value = program.operand_text(addend)
    if isinstance(addend, ast.Constant | ast.UnaryOp):
        value = f"{program.torch_name()}.tensor({program.source_text(addend)}, dtype={target}.dtype)"
    work = program.new_edits()
    work.replace_node(statement, f"{target}.index_put_({indices}, {sign}{value}, accumulate=True)")
    yield from program.fix_from_edits(hint, work)


def _indexed_addition(statement: ast.stmt | None) -> tuple[ast.Subscript, ast.expr, str] | None:
    """The target of `x[i] += v` or `x[i] = x[i] + v`, what is added, and its sign."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript):
        signs = {ast.Add: "", ast.Sub: "-"}
        sign = signs.get(type(statement.op))
        return None if sign is None else (statement.target, statement.value, sign)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        target, sum_ = statement.targets[0], statement.value
        if isinstance(target, ast.Subscript) and ast.unparse(sum_.left) == ast.unparse(target):
            sign = {ast.Add: "", ast.Sub: "-"}.get(type(sum_.op))
            return None if sign is None else (target, sum_.right, sign)
    return None


def unused_name(program: FixProgram, wanted: str) -> str:
    """A name that the program does not use."""
    used = {node.id for node in program.nodes if isinstance(node, ast.Name)}
    return next(name for name in (wanted, *(f"{wanted}{k}" for k in range(2, len(used) + 2))) if name not in used)
