"""Fixes of layout and types: what is not contiguous, what is no floating point number."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.program import Fix, FixProgram, Hint, method


def reshape(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`reshape`, which copies where it must, for `view`."""
    yield from _instead_of_view(program, hint, "{}.reshape")


def contiguous(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`contiguous()` before `view`."""
    yield from _instead_of_view(program, hint, "{}.contiguous().view")


def _instead_of_view(program: FixProgram, hint: Hint, form: str) -> Iterator[Fix]:
    work = program.edits()
    for call in program.calls(hint.line):
        if method(call) == "view" and isinstance(call.func, ast.Attribute):
            work.replace(call.func, form.format(program.text(call.func.value)))
    yield from program.with_edits(hint, work)


def float_dtype(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Floating point numbers where a tensor of integers is made."""
    work = program.edits()
    for call in program.calls(hint.line):
        if method(call) not in ("tensor", "arange", "ones", "zeros", "full", "as_tensor", "randint", "eye"):
            continue
        others = [program.text(part) for part in [*call.args, *(k for k in call.keywords if k.arg != "dtype")]]
        work.replace(call, f"{program.text(call.func)}({', '.join([*others, f'dtype={program.torch()}.float32'])})")
        break
    yield from program.with_edits(hint, work)


def float_before(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`x.float()` before gradients are asked for."""
    statement = program.statement(hint.line)
    indent = program.indent(statement) if statement is not None else None
    name = hint.name()
    if statement is not None and indent is not None and name.isidentifier():
        lines = program.inserted(statement.lineno, [f"{indent}{name} = {name}.float()"])
        yield from program.with_lines(hint, lines)


def convert(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """One operand in the other's type. facts: name, the operand; dtype, like "float32"."""
    statement, name = program.statement(hint.line), hint.name()
    dtype = str(hint.facts.get("dtype") or hint.facts.get("to_dtype") or "")
    if statement is None or not dtype:
        return
    if not name:
        yield from _converted_argument(program, hint, dtype)
        return
    work = program.edits()
    for node in program.own_nodes(statement):
        is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        if is_read and ast.unparse(node) == name:
            work.replace(node, f"{name}.to({program.torch()}.{dtype})")
    yield from program.with_edits(hint, work)


def _converted_argument(program: FixProgram, hint: Hint, dtype: str) -> Iterator[Fix]:
    """An argument of the outermost call that has no name, such as `target.int()`: the last first."""
    call = next(iter(program.calls(hint.line)), None)
    for argument in reversed(call.args if call is not None else []):
        if isinstance(argument, ast.Call):
            work = program.edits()
            work.replace(argument, f"{program.operand(argument)}.to({program.torch()}.{dtype})")
            yield from program.with_edits(hint, work, name=program.text(argument))
