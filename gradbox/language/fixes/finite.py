"""Fixes of values that are not finite: division by 0, overflow, and rows that are masked completely."""

import ast
from collections.abc import Iterator

from gradbox.language.edits import ProgramEdits
from gradbox.language.fixes.program import Fix, FixProgram, Hint, method, receiver

_LOGARITHMS = ("log", "log2", "log10", "reciprocal")
_ROOTS = ("sqrt", "rsqrt")
_INVERSE = ("acos", "asin", "arccos", "arcsin", "atanh")
_EPSILON = "1e-8"
_NEGATIVE_BOUND = "-1e9"


def guard_operand(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Keep a divisor, or the operand of a logarithm, root or inverse, away from where its slope is infinite."""
    statement = program.statement(hint.line)
    if statement is None:
        return
    for keeps_gradient in (True, False):
        work = program.edits()
        for node in program.own_nodes(statement):
            _guard(program, work, node, keeps_gradient)
        yield from program.with_edits(hint, work)


def _guard(program: FixProgram, work: ProgramEdits, node: ast.AST, keeps_gradient: bool) -> None:
    """Guard one operation.

    keeps_gradient: add a small number; otherwise clamp, which has slope 0 outside of the bound
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
        work.replace_node(node.right, f"({program.text(node.right)} + {_EPSILON})")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _is_fraction(node.right):
        work.replace_node(node.left, f"({program.text(node.left)} + {_EPSILON})")
    elif isinstance(node, ast.Call) and method(node) in (*_LOGARITHMS, *_ROOTS, *_INVERSE):
        of = operand_of(program, node)
        if of is None:
            return
        bound = "-1 + 1e-6, 1 - 1e-6" if method(node) in _INVERSE else f"min={_EPSILON}"
        if keeps_gradient and method(node) not in _INVERSE:
            is_own = of is receiver(node)
            text = f"{program.text(of) if isinstance(of, ast.BinOp) else program.operand(of)} + {_EPSILON}"
            work.replace_node(of, f"({text})" if is_own else text)
        else:
            work.replace_node(of, f"{program.operand(of)}.clamp({bound})")


def _is_fraction(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value < 1


def operand_of(program: FixProgram, call: ast.Call) -> ast.expr | None:
    """The operand of a function of torch or of a method of a tensor."""
    if program.modules.dotted_path(call.func):
        return call.args[0] if call.args else None
    return receiver(call)


def log_softmax(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `log_softmax`, which never takes the logarithm of 0, for the logarithm of a softmax."""
    work = program.edits()
    made = {
        ast.unparse(node.targets[0]): node.value
        for node in program.statements
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and method(node.value) == "softmax"
    }
    for call in program.calls(hint.line):
        of = operand_of(program, call) if method(call) == "log" else None
        softmax = made.get(ast.unparse(of)) if of is not None else None
        softmax = of if isinstance(of, ast.Call) and method(of) == "softmax" else softmax
        scores = operand_of(program, softmax) if isinstance(softmax, ast.Call) else None
        if isinstance(softmax, ast.Call) and scores is not None:
            rest = [part for part in [*softmax.args, *softmax.keywords] if part is not scores]
            arguments = ", ".join(program.text(part) for part in [scores, *rest])
            work.replace_node(call, f"{program.torch()}.log_softmax({arguments})")
    yield from program.with_edits(hint, work)


def subtract_max(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Subtract the maximum before `exp` in a softmax that is written out. Its result stays the same."""
    function = program.enclosing_function(program.statement(hint.line) or program.tree)
    text = program.text(function) if function is not None else program.source
    if "/" not in text or ".sum(" not in text:
        return
    work = program.edits()
    for call in program.calls(hint.line):
        of = operand_of(program, call) if method(call) == "exp" else None
        if of is not None:
            x = program.operand(of)
            is_own = of is receiver(call)
            work.replace_node(of, f"({x} - {x}.max())" if is_own else f"{x} - {x}.max()")
    yield from program.with_edits(hint, work)


def finite_mask(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Mask with a large negative number instead of minus infinity, from which a softmax of masked scores alone makes
    NaN."""
    work = program.edits()
    for node in program.nodes:
        if not isinstance(node, ast.expr) or isinstance(work.parent_of(node), ast.UnaryOp):
            continue
        text = ast.unparse(node).replace('"', "'")
        is_infinite = text in ("float('-inf')", "-float('inf')", "-torch.inf", "-math.inf", "-np.inf", "-numpy.inf")
        if is_infinite:
            work.replace_node(node, _NEGATIVE_BOUND)
    yield from program.with_edits(hint, work)


def biased_std(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Divide a standard deviation by n instead of n - 1, which is 0/0 for a single number."""
    work = program.edits()
    for call in program.calls(hint.line):
        if method(call) in ("std", "var") and not any(k.arg in ("unbiased", "correction") for k in call.keywords):
            arguments = [program.text(part) for part in [*call.args, *call.keywords]]
            work.replace_node(call, f"{program.text(call.func)}({', '.join([*arguments, 'correction=0'])})")
    yield from program.with_edits(hint, work)


def safe_where(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Put a harmless value into the branch of `where` that is not taken, before the operation that fails on it."""
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
                    work.replace_node(node, f"{torch}.where({condition}, {pair})")
            yield from program.with_edits(hint, work)
