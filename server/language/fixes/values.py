"""Fixes of values, sizes and types: what may not be zero, what is not contiguous, what is no floating point number."""

import ast
from collections.abc import Iterator

from server.language.fixes.program import Fix, FixProgram, Hint, method, receiver

_NEEDS_POSITIVE = ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal")
_SMALL = "1e-8"


def guard_operand(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """What is divided by, or what a logarithm or root is taken of, kept away from 0."""
    statement = program.statement(hint.line)
    if statement is None:
        return
    work = program.edits()
    for node in program.own_nodes(statement):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
            work.replace(node.right, f"({program.text(node.right)} + {_SMALL})")
        elif isinstance(node, ast.Call) and method(node) in _NEEDS_POSITIVE:
            is_function = bool(program.modules.path(node.func))
            of = (node.args[0] if node.args else None) if is_function else receiver(node)
            if of is not None:
                work.replace(of, f"{program.operand(of)}.clamp(min={_SMALL})")
    yield from program.with_edits(hint, work)


def safe_where(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """A harmless value for the branch of `where` that is not taken, before the operation that fails on it."""
    torch = program.torch()
    for call in (node for node in program.nodes if isinstance(node, ast.Call) and method(node) == "where"):
        if len(call.args) != 3:
            continue
        condition = program.text(call.args[0])
        names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
        for branch, is_taken in ((call.args[1], True), (call.args[2], False)):
            at: ast.AST = branch
            if isinstance(branch, ast.Name):
                statement = program.statement(hint.line)
                if not isinstance(statement, ast.Assign) or branch.id not in {
                    program.text(t) for t in statement.targets
                }:
                    continue
                at = statement.value
            work = program.edits()
            for node in ast.walk(at):
                if isinstance(node, ast.Name) and node.id in names and node.id not in program.modules.names:
                    safe = f"{torch}.ones_like({node.id})"
                    pair = f"{node.id}, {safe}" if is_taken else f"{safe}, {node.id}"
                    work.replace(node, f"{torch}.where({condition}, {pair})")
            yield from program.with_edits(hint, work)


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
    if statement is None or not name or not dtype:
        return
    work = program.edits()
    for node in program.own_nodes(statement):
        is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        if is_read and ast.unparse(node) == name:
            work.replace(node, f"{name}.to({program.torch()}.{dtype})")
    yield from program.with_edits(hint, work)
