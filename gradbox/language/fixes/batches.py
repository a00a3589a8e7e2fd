"""Fixes of loops over batches: what each of them adds to a gradient, and which of them train."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.program import Fix, FixProgram, Hint, method, receiver


def divide_loss(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """`(loss / n).backward()` for `loss.backward()`, where n batches add up."""
    count = int(hint.facts.get("n") or 0)
    for call in program.calls(hint.line):
        loss = receiver(call)
        if method(call) == "backward" and loss is not None and count > 1:
            work = program.edits()
            arguments = ", ".join(program.text(part) for part in [*call.args, *call.keywords])
            work.replace_node(call, f"({program.operand(loss)} / {count}).backward({arguments})")
            yield from program.with_edits(hint, work)
            return


def into_loop(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """The backward that follows a loop, and what stands between it and its step, at the end of the loop's body."""
    backward = program.statement(hint.line)
    if backward is None:
        return
    block = program.siblings(backward)
    at = next(k for k, other in enumerate(block) if other is backward) if backward in block else 0
    loop = next((other for other in reversed(block[:at]) if isinstance(other, ast.For | ast.While)), None)
    step = next((k for k, other in enumerate(block) if k > at and _is_step(other)), None)
    if loop is None or loop.orelse or step is None:
        return
    last = loop.body[-1]
    indent = program.indent(last)
    moved = block[at : step + 1]
    if indent is None or any(program.indent(one) is None or program.shares_lines(one) for one in [last, *moved]):
        return
    first, end = backward.lineno - 1, block[step].end_lineno or block[step].lineno
    own = [indent + line[backward.col_offset :] if line.strip() else line for line in program.lines[first:end]]
    after = last.end_lineno or last.lineno
    lines = [*program.lines[:after], *own, *program.lines[after:first], *program.lines[end:]]
    yield from program.with_lines(hint, lines)


def _is_step(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and method(value) == "step"
