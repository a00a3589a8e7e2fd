"""Fixes of modules, their parameters and custom functions."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.order import move_after_line_or_remove
from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, is_assignable


def wrap_in_parameter(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Wrap a tensor that a module should learn in `torch.nn.Parameter(…)`."""
    yield from _wrap_assigned_value(program, hint, "nn.Parameter")


def use_module_list(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use `torch.nn.ModuleList` for a list of modules, `ModuleDict` for a dictionary."""
    statement = program.statement_at(hint.line)
    value = getattr(statement, "value", None)
    is_dict = isinstance(value, ast.Dict | ast.DictComp) or (
        isinstance(value, ast.Call) and callee_name(value) == "dict"
    )
    text = program.source_text(value) if value is not None else ""
    kind = "Parameter" if "Parameter(" in text or "requires_grad" in text else "Module"
    yield from _wrap_assigned_value(program, hint, f"nn.{kind}Dict" if is_dict else f"nn.{kind}List")


def make_parameters_a_list(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `list(model.parameters())` for a generator that is iterated over more than once."""
    statement = program.statement_at(hint.line)
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign) and isinstance(value, ast.Call):
        work = program.new_edits()
        work.replace_node(value, f"list({program.source_text(value)})")
        yield from program.fix_from_edits(hint, work)


def _wrap_assigned_value(program: FixProgram, hint: Hint, wrapper: str) -> Iterator[Fix]:
    statement = program.statement_at(hint.line)
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None:
        return
    text = program.source_text(value)
    if isinstance(value, ast.Call) and wrapper == "nn.Parameter":
        arguments = [
            program.source_text(part)
            for part in [*value.args, *(k for k in value.keywords if k.arg != "requires_grad")]
        ]
        text = f"{program.source_text(value.func)}({', '.join(arguments)})"
    work = program.new_edits()
    work.replace_node(value, f"{program.torch_name()}.{wrapper}({text})")
    yield from program.fix_from_edits(hint, work)


def tie_parameter_object(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `a.weight = b.weight` for `a.weight.data = b.weight.data`."""
    statement = program.statement_at(hint.line)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    work = program.new_edits()
    if isinstance(target, ast.Attribute) and target.attr == "data":
        work.replace_node(target, program.source_text(target.value))
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr == "data":
            work.replace_node(node, program.source_text(node.value))
    yield from program.fix_from_edits(hint, work)


def copy_into_parameter(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Copy new values into the parameter that the optimizer holds, instead of replacing the parameter."""
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or indent is None:
        return
    target, value = program.source_text(statement.targets[0]), statement.value
    if not is_assignable(target):
        return
    if isinstance(value, ast.Call) and callee_name(value) == "Parameter" and value.args:
        value = value.args[0]
    work = program.new_edits()
    work.replace_node(
        statement, f"with {program.torch_name()}.no_grad():\n{indent}    {target}.copy_({program.source_text(value)})"
    )
    yield from program.fix_from_edits(hint, work)


def create_optimizer_later(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the optimizer behind the statement after which the parameters are final, unless that is in a later loop."""
    statement, after = program.statement_at(hint.line), program.statement_at(hint.other_line())
    loop = program.enclosing_loop(hint.other_line())
    if statement is not None and after is not None and loop is not None and loop.lineno > statement.lineno:
        return
    yield from move_after_line_or_remove(program, hint)


def create_optimizer_for_trained_module(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make the optimizer for the module that is trained. facts: name, of that module; to, the line after which it
    exists."""
    statement, module = program.statement_at(hint.line), hint.name()
    if statement is None or not is_assignable(module):
        return
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "parameters":
            work.replace_node(call.func.value, module)
    for fixed in program.fix_from_edits(hint, work):
        if not hint.other_line():
            yield fixed
            return
        later = FixProgram(fixed.source)
        moved, after = later.statement_at(hint.line), later.statement_at(hint.other_line())
        lines = later.lines_with_move(moved, after) if moved is not None and after is not None else None
        if lines is not None:
            yield from program.fix_from_lines(hint, lines)


def match_backward_results_to_arguments(program: FixProgram, hint: Hint) -> Iterator[Fix]:
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
        work = program.new_edits()
        for node in ast.walk(backward):
            if not isinstance(node, ast.Return) or node.value is None:
                continue
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            texts = [program.source_text(part) for part in parts[:wanted]]
            work.replace_node(node.value, ", ".join([*texts, *["None"] * (wanted - len(texts))]))
        yield from program.fix_from_edits(hint, work)


def add_mark_dirty(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `ctx.mark_dirty(x)` to a function's forward that writes into its input."""
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
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
    yield from program.fix_from_lines(
        hint, program.lines_with_insertion(at, [f"{indent}{ctx}.mark_dirty({hint.name()})"])
    )
