"""Fixes of writes: out of place, into another thing, or where torch does not record."""

import ast
from collections.abc import Iterator

from server.language.fixes.program import Fix, FixProgram, Hint, is_assignable, is_constant, method, receiver

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.Mod: "%",
              ast.FloorDiv: "//", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}  # fmt: skip
_WITHOUT_TWIN = ("requires_grad_", "retain_grad_", "normal_", "uniform_", "random_", "bernoulli_", "set_", "swap_")
_INPLACE_LAST = ("ReLU", "ReLU6", "SELU", "CELU", "ELU", "Hardtanh", "LeakyReLU", "Dropout", "Dropout2d", "Dropout3d",
                 "SiLU", "Mish", "RReLU", "Threshold", "Hardswish", "Hardsigmoid", "AlphaDropout")  # fmt: skip


def out_of_place(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`x = x + 1` for `x += 1`, `x = x.relu()` for `x.relu_()`."""
    statement = program.statement(hint.line)
    work = program.edits()
    if isinstance(statement, ast.AugAssign):
        target, operator = program.text(statement.target), _OPERATORS.get(type(statement.op))
        if operator and isinstance(statement.target, ast.Name | ast.Attribute):
            work.replace(statement, f"{target} = {target} {operator} {program.operand(statement.value)}")
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        text = _assigned_out_of_place(program, statement.value)
        if text:
            work.replace(statement, text)
    elif statement is not None:
        for call in program.calls(hint.line):
            if is_in_place(method(call)) and isinstance(call.func, ast.Attribute):
                start = program.text(call.func.value)
                work.replace(call.func, f"{start}.{call.func.attr[:-1]}")
    yield from program.with_edits(hint, work)


def _assigned_out_of_place(program: FixProgram, call: ast.Call) -> str:
    """`x = x.relu()` for the call `x.relu_()`; "" where there is no such form."""
    of = receiver(call)
    if of is None or not is_in_place(method(call)):
        return ""
    target = program.text(of)
    arguments = ", ".join(program.text(part) for part in [*call.args, *call.keywords])
    if program.modules.path(call.func):  # torch.relu_(x)
        target = program.text(call.args[0]) if call.args else ""
        return f"{target} = {program.text(call.func)[:-1]}({arguments})" if is_assignable(target) else ""
    if not is_assignable(target):
        return ""
    torch = program.torch()
    match method(call):
        case "zero_":
            return f"{target} = {torch}.zeros_like({target})"
        case "fill_":
            return f"{target} = {torch}.full_like({target}, {arguments})"
        case "copy_":
            return f"{target} = {program.operand(call.args[0])}.clone()" if call.args else ""
        case name:
            return f"{target} = {target}.{name[:-1]}({arguments})"


def is_in_place(name: str) -> bool:
    """Whether a method of that name writes into its tensor, and has a twin that does not."""
    return name.endswith("_") and not name.endswith("__") and name not in _WITHOUT_TWIN


def not_inplace(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`inplace=False` for `inplace=True`: at the line, else where the modules are made, each by itself; then all."""
    own = [flag for call in program.calls(hint.line) for flag in _inplace_flags(call)]
    flags = [flag for node in program.nodes if isinstance(node, ast.Call) for flag in _inplace_flags(node)]
    choices = [own] if own else [[flag] for flag in flags] if len(flags) <= 3 else []
    for choice in [*choices, flags]:
        work = program.edits()
        for flag in choice:
            work.replace(flag, "False")
        yield from program.with_edits(hint, work)


def _inplace_flags(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that say that it works in place."""
    flags = [
        keyword.value for keyword in call.keywords if keyword.arg == "inplace" and is_constant(keyword.value, True)
    ]
    if method(call) in _INPLACE_LAST and call.args and is_constant(call.args[-1], True):
        flags.append(call.args[-1])
    return flags


def under_no_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """The write under `torch.no_grad()`, where torch does not record it."""
    yield from _under(program, hint, "no_grad")


def out_of_no_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """The statement under `torch.enable_grad()`, within a block that records nothing."""
    yield from _under(program, hint, "enable_grad")


def _under(program: FixProgram, hint: Hint, mode: str) -> Iterator[Fix]:
    statement = program.statement(hint.line)
    indent = program.indent(statement) if statement is not None else None
    if statement is None or indent is None or program.shares_lines(statement):
        return
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    body = [f"    {line}" if line.strip() else line for line in program.lines[first:last]]
    head = f"{indent}with {program.torch()}.{mode}():"
    yield from program.with_lines(hint, [*program.lines[:first], head, *body, *program.lines[last:]])


def assign_by_index(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """A write that reaches the tensor: `x[i] = 0` for `x[i].zero_()`, and a copy that is put back for `x[i][j] = …`."""
    statement = program.statement(hint.line)
    indent = program.indent(statement) if statement is not None else None
    if statement is None or indent is None:
        return
    work = program.edits()
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Call):
        of = receiver(value)
        forms = {"zero_": "= 0", "add_": "+= {}", "sub_": "-= {}", "mul_": "*= {}", "div_": "/= {}", "fill_": "= {}",
                 "copy_": "= {}"}  # fmt: skip
        form = forms.get(method(value))
        if isinstance(of, ast.Subscript) and form and len(value.args) <= 1 and not value.keywords:
            argument = program.operand(value.args[0]) if value.args else ""
            work.replace(statement, f"{program.text(of)} {form.format(argument)}")
    else:
        target: ast.expr | None = statement.target if isinstance(statement, ast.AugAssign) else None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        inner = target.value if isinstance(target, ast.Subscript) else None
        if isinstance(target, ast.Subscript) and isinstance(inner, ast.Subscript):
            rest = program.text(statement)[len(program.text(inner)) :]
            part = free_name(program, "part")
            work.replace(
                statement,
                f"{part} = {program.text(inner)}\n{indent}{part}{rest}\n{indent}{program.text(inner)} = {part}",
            )
    yield from program.with_edits(hint, work)


def accumulate(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`index_put_(…, accumulate=True)` for `x[i] += v`, which counts an index that comes twice once."""
    statement = program.statement(hint.line)
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Subscript):
        return
    if not isinstance(statement.op, ast.Add | ast.Sub):
        return
    target, index = program.text(statement.target.value), statement.target.slice
    indices = program.text(index) if isinstance(index, ast.Tuple) else f"({program.text(index)},)"
    indices = indices if indices.startswith("(") else f"({indices})"
    value = program.operand(statement.value)
    if isinstance(statement.value, ast.Constant | ast.UnaryOp):
        value = f"{program.torch()}.tensor({program.text(statement.value)}, dtype={target}.dtype)"
    sign = "-" if isinstance(statement.op, ast.Sub) else ""
    work = program.edits()
    work.replace(statement, f"{target}.index_put_({indices}, {sign}{value}, accumulate=True)")
    yield from program.with_edits(hint, work)


def free_name(program: FixProgram, wanted: str) -> str:
    """A name that the program does not use."""
    used = {node.id for node in program.nodes if isinstance(node, ast.Name)}
    return next(name for name in (wanted, *(f"{wanted}{k}" for k in range(2, 10**6))) if name not in used)
