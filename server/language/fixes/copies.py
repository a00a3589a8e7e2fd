"""Fixes that give a tensor memory of its own."""

import ast
from collections.abc import Iterator

from server.language.fixes.program import Fix, FixProgram, Hint, is_assignable, method, receiver, written_target


def clone_before(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`x = x.clone()` before the statement that writes into it."""
    statement = program.statement(hint.line)
    target = written_target(statement)
    names = dict.fromkeys([hint.name(), ast.unparse(target) if target is not None else ""])
    indent = program.indent(statement) if statement is not None else None
    if statement is None or indent is None:
        return
    for name in names:
        if is_assignable(name):
            lines = program.inserted(statement.lineno, [f"{indent}{name} = {name}.clone()"])
            yield from program.with_lines(hint, lines, name=name)


def clone_result(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`.clone()` behind the value that a statement assigns."""
    yield from _behind_value(program, hint, "clone")


def clone_saved(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`x.clone()` for `x` where an operation keeps it."""
    yield from program.with_method_behind_reads(hint, "clone")


def clone_shared(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """A copy where memory began to be shared: of a view, an array, a dictionary of weights."""
    statement = program.statement(hint.line)
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) or value is None:
        return
    work = program.edits()
    name = method(value) if isinstance(value, ast.Call) else ""
    text = program.operand(value)
    if name == "state_dict":
        work.replace(value, f"{{key: tensor.clone() for key, tensor in {text}.items()}}")
    elif name in ("numpy", "asarray", "__array__"):
        work.replace(value, f"{text}.copy()")
    else:
        work.replace(value, f"{text}.clone()")
    yield from program.with_edits(hint, work)


def clone_for_deepcopy(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`x.clone()` for `copy.deepcopy(x)`, and the same without its history."""
    for suffix in ("clone()", "detach().clone()"):
        work = program.edits()
        for call in program.calls(hint.line):
            if method(call) == "deepcopy" and call.args:
                work.replace(call, f"{program.operand(call.args[0])}.{suffix}")
        yield from program.with_edits(hint, work)


def detach_stored(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """What is kept is kept without its history."""
    yield from _behind_value(program, hint, "detach")


def detach_before_numpy(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`x.detach().numpy()` for `x.numpy()`."""
    work = program.edits()
    for call in program.calls(hint.line):
        of = receiver(call)
        if method(call) in ("numpy", "tolist", "__array__") and of is not None and not call.args:
            work.replace(of, f"{program.operand(of)}.detach()")
        elif method(call) in ("array", "asarray") and call.args:
            work.replace(call.args[0], f"{program.operand(call.args[0])}.detach()")
    if not work.sorted_edits() and is_assignable(hint.name()):
        for call in program.calls(hint.line):
            for argument in call.args:
                if program.text(argument) == hint.name():
                    work.replace(argument, f"{hint.name()}.detach()")
    yield from program.with_edits(hint, work)


def _behind_value(program: FixProgram, hint: Hint, name: str) -> Iterator[Fix]:
    statement = program.statement(hint.line)
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return) and value is not None:
        work = program.edits()
        work.replace(value, f"{program.operand(value)}.{name}()")
        yield from program.with_edits(hint, work)
