"""Fixes of modules, their parameters and custom functions."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.order import move_later
from gradbox.language.fixes.program import Fix, FixProgram, Hint, is_assignable, method


def register_parameter(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Wrap a tensor that a module should learn in `torch.nn.Parameter(…)`."""
    yield from _wrap_value(program, hint, "nn.Parameter")


def module_list(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use `torch.nn.ModuleList` for a list of modules, `ModuleDict` for a dictionary."""
    statement = program.statement(hint.line)
    value = getattr(statement, "value", None)
    is_dict = isinstance(value, ast.Dict | ast.DictComp) or (isinstance(value, ast.Call) and method(value) == "dict")
    text = program.text(value) if value is not None else ""
    kind = "Parameter" if "Parameter(" in text or "requires_grad" in text else "Module"
    yield from _wrap_value(program, hint, f"nn.{kind}Dict" if is_dict else f"nn.{kind}List")


def list_parameters(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `list(model.parameters())` for a generator that is iterated over more than once."""
    statement = program.statement(hint.line)
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign) and isinstance(value, ast.Call):
        work = program.edits()
        work.replace_node(value, f"list({program.text(value)})")
        yield from program.with_edits(hint, work)


def _wrap_value(program: FixProgram, hint: Hint, wrapper: str) -> Iterator[Fix]:
    statement = program.statement(hint.line)
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None:
        return
    text = program.text(value)
    if isinstance(value, ast.Call) and wrapper == "nn.Parameter":
        arguments = [
            program.text(part) for part in [*value.args, *(k for k in value.keywords if k.arg != "requires_grad")]
        ]
        text = f"{program.text(value.func)}({', '.join(arguments)})"
    work = program.edits()
    work.replace_node(value, f"{program.torch()}.{wrapper}({text})")
    yield from program.with_edits(hint, work)


def tie_parameter(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `a.weight = b.weight` for `a.weight.data = b.weight.data`."""
    statement = program.statement(hint.line)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    work = program.edits()
    if isinstance(target, ast.Attribute) and target.attr == "data":
        work.replace_node(target, program.text(target.value))
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr == "data":
            work.replace_node(node, program.text(node.value))
    yield from program.with_edits(hint, work)


def in_place(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Copy new values into the parameter that the optimizer holds, instead of replacing the parameter."""
    statement = program.statement(hint.line)
    indent = program.indent(statement) if statement is not None else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or indent is None:
        return
    target, value = program.text(statement.targets[0]), statement.value
    if not is_assignable(target):
        return
    if isinstance(value, ast.Call) and method(value) == "Parameter" and value.args:
        value = value.args[0]
    work = program.edits()
    work.replace_node(
        statement, f"with {program.torch()}.no_grad():\n{indent}    {target}.copy_({program.text(value)})"
    )
    yield from program.with_edits(hint, work)


def optimizer_later(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the optimizer behind the statement after which the parameters are final, unless that is in a later loop."""
    statement, after = program.statement(hint.line), program.statement(hint.to_line())
    loop = program.enclosing_loop(hint.to_line())
    if statement is not None and after is not None and loop is not None and loop.lineno > statement.lineno:
        return
    yield from move_later(program, hint)


def optimizer_of(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make the optimizer for the module that is trained. facts: name, of that module; to, the line after which it
    exists."""
    statement, module = program.statement(hint.line), hint.name()
    if statement is None or not is_assignable(module):
        return
    work = program.edits()
    for call in program.calls(hint.line):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "parameters":
            work.replace_node(call.func.value, module)
    for fixed in program.with_edits(hint, work):
        if not hint.to_line():
            yield fixed
            return
        later = FixProgram(fixed.source)
        moved, after = later.statement(hint.line), later.statement(hint.to_line())
        lines = later.moved(moved, after) if moved is not None and after is not None else None
        if lines is not None:
            yield from program.with_lines(hint, lines)


def count_gradients(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Return as many results from `backward` as `forward` has arguments, None for those without a gradient. facts:
    name, of the class."""
    for owner in program.nodes:
        if not isinstance(owner, ast.ClassDef) or owner.name != hint.name():
            continue
        functions = {item.name: item for item in owner.body if isinstance(item, ast.FunctionDef)}
        forward, backward = functions.get("forward"), functions.get("backward")
        if forward is None or backward is None or forward.args.vararg:
            continue
        wanted = len(forward.args.args) - (0 if "setup_context" in functions else 1)
        work = program.edits()
        for node in ast.walk(backward):
            if not isinstance(node, ast.Return) or node.value is None:
                continue
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            texts = [program.text(part) for part in parts[:wanted]]
            work.replace_node(node.value, ", ".join([*texts, *["None"] * (wanted - len(texts))]))
        yield from program.with_edits(hint, work)


def mark_dirty(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `ctx.mark_dirty(x)` to a function's forward that writes into its input."""
    statement = program.statement(hint.line)
    indent = program.indent(statement) if statement is not None else None
    forward = next(
        (node for node in program.nodes if isinstance(node, ast.FunctionDef) and node.name == "forward"
         and node.lineno <= hint.line <= (node.end_lineno or 0)), None
    )  # fmt: skip
    if (
        statement is None
        or indent is None
        or forward is None
        or not forward.args.args
        or not is_assignable(hint.name())
    ):
        return
    ctx = forward.args.args[0].arg
    at = (statement.end_lineno or statement.lineno) + 1
    yield from program.with_lines(hint, program.inserted(at, [f"{indent}{ctx}.mark_dirty({hint.name()})"]))
