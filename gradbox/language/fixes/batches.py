"""Fixes of loops over batches: what each batch adds to a gradient, and which batches train."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, method_receiver


def divide_loss(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `(loss / n).backward()` for `loss.backward()` if n batches accumulate."""
    count = int(hint.facts.get("n") or 0)
    for call in program.calls_at(hint.line):
        loss = method_receiver(call)
        if callee_name(call) == "backward" and loss is not None and count > 1:
            work = program.new_edits()
            arguments = ", ".join(program.source_text(part) for part in [*call.args, *call.keywords])
            work.replace_node(call, f"({program.operand_text(loss)} / {count}).backward({arguments})")
            yield from program.fix_from_edits(hint, work)
            return


def move_backward_into_loop(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the backward after a loop, and what is between it and its step, to the end of the loop's body."""
    backward = program.statement_at(hint.line)
    if backward is None:
        return
    block = program.containing_block(backward)
    at = next((k for k, other in enumerate(block) if other is backward), 0)
    step = next((k for k, other in enumerate(block) if k > at and _is_optimizer_step(other)), None)
    if step is not None:
        yield from _move_statements_into_loop(program, hint, block, at, step)


def move_into_loop_above(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement after a loop to the end of the loop's body."""
    statement = program.statement_at(hint.line)
    block = program.containing_block(statement) if statement is not None else []
    at = next((k for k, other in enumerate(block) if other is statement), 0)
    yield from _move_statements_into_loop(program, hint, block, at, at)


def move_out_of_loop(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement in an inner loop behind that loop, so that it runs once per round of the outer one."""
    statement, loop = program.statement_at(hint.line), program.enclosing_loop(hint.line)
    outer = next((one for one in program.statements if isinstance(one, ast.For | ast.While) and loop in one.body), None)
    if statement is None or loop is None or outer is None or statement not in loop.body or len(loop.body) < 2:
        return
    indent = program.leading_blanks(loop)
    if indent is None or program.leading_blanks(statement) is None or program.shares_lines(statement) or loop.orelse:
        return
    first, end = statement.lineno - 1, statement.end_lineno or statement.lineno
    own = [indent + line[statement.col_offset :] if line.strip() else line for line in program.lines[first:end]]
    after = loop.end_lineno or loop.lineno
    lines = [*program.lines[:first], *program.lines[end:after], *own, *program.lines[after:]]
    yield from program.fix_from_lines(hint, lines)


def _move_statements_into_loop(
    program: FixProgram, hint: Hint, block: list[ast.stmt], at: int, to: int
) -> Iterator[Fix]:
    """Move the statements `at` to `to` of a block to the end of the body of the loop before them."""
    loop = next((other for other in reversed(block[:at]) if isinstance(other, ast.For | ast.While)), None)
    if loop is None or loop.orelse:
        return
    last, moved = loop.body[-1], block[at : to + 1]
    indent = program.leading_blanks(last)
    if indent is None or any(
        program.leading_blanks(one) is None or program.shares_lines(one) for one in [last, *moved]
    ):
        return
    first, end = moved[0].lineno - 1, moved[-1].end_lineno or moved[-1].lineno
    own = [indent + line[moved[0].col_offset :] if line.strip() else line for line in program.lines[first:end]]
    after = last.end_lineno or last.lineno
    lines = [*program.lines[:after], *own, *program.lines[after:first], *program.lines[end:]]
    yield from program.fix_from_lines(hint, lines)


def _is_optimizer_step(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and callee_name(value) == "step"
