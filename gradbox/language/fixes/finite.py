"""Fixes of values that are not finite: division by 0, overflow, and rows that are masked completely."""

import ast
from collections.abc import Iterator

from gradbox.language.edits import ProgramEdits
from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, method_receiver

_LOGARITHM_NAMES = ("log", "log2", "log10", "reciprocal")
_SQUARE_ROOT_NAMES = ("sqrt", "rsqrt")
_INVERSE_TRIGONOMETRIC_NAMES = ("acos", "asin", "arccos", "arcsin", "atanh")
_EPSILON = "1e-8"
_NEGATIVE_BOUND = "-1e9"


def guard_operand_domain(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Keep a divisor, or the operand of a logarithm, root or inverse, away from where its slope is infinite."""
    statement = program.statement_at(hint.line)
    if statement is None:
        return
    for keeps_gradient in (True, False):
        work = program.new_edits()
        for node in program.nodes_outside_blocks(statement):
            _clamp_or_add_epsilon(program, work, node, keeps_gradient)
        yield from program.fix_from_edits(hint, work)


def _clamp_or_add_epsilon(program: FixProgram, work: ProgramEdits, node: ast.AST, keeps_gradient: bool) -> None:
    """Guard one operation.

    keeps_gradient: add a small number; otherwise clamp, which has slope 0 outside of the bound
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
        work.replace_node(node.right, f"({program.source_text(node.right)} + {_EPSILON})")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _is_fraction(node.right):
        work.replace_node(node.left, f"({program.source_text(node.left)} + {_EPSILON})")
    elif isinstance(node, ast.Call) and callee_name(node) in (
        *_LOGARITHM_NAMES,
        *_SQUARE_ROOT_NAMES,
        *_INVERSE_TRIGONOMETRIC_NAMES,
    ):
        of = elementwise_operand(program, node)
        if of is None:
            return
        bound = "-1 + 1e-6, 1 - 1e-6" if callee_name(node) in _INVERSE_TRIGONOMETRIC_NAMES else f"min={_EPSILON}"
        if keeps_gradient and callee_name(node) not in _INVERSE_TRIGONOMETRIC_NAMES:
            is_own = of is method_receiver(node)
            text = f"{program.source_text(of) if isinstance(of, ast.BinOp) else program.operand_text(of)} + {_EPSILON}"
            work.replace_node(of, f"({text})" if is_own else text)
        else:
            work.replace_node(of, f"{program.operand_text(of)}.clamp({bound})")


def _is_fraction(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value < 1


def elementwise_operand(program: FixProgram, call: ast.Call) -> ast.expr | None:
    """The operand of a function of torch or of a method of a tensor."""
    if program.modules.dotted_path(call.func):
        return call.args[0] if call.args else None
    return method_receiver(call)


def use_log_softmax(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `log_softmax`, which never takes the logarithm of 0, for the logarithm of a softmax."""
    work = program.new_edits()
    made = {
        ast.unparse(node.targets[0]): node.value
        for node in program.statements
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and callee_name(node.value) == "softmax"
    }
    for call in program.calls_at(hint.line):
        of = elementwise_operand(program, call) if callee_name(call) == "log" else None
        softmax = made.get(ast.unparse(of)) if of is not None else None
        softmax = of if isinstance(of, ast.Call) and callee_name(of) == "softmax" else softmax
        scores = elementwise_operand(program, softmax) if isinstance(softmax, ast.Call) else None
        if isinstance(softmax, ast.Call) and scores is not None:
            rest = [part for part in [*softmax.args, *softmax.keywords] if part is not scores]
            arguments = ", ".join(program.source_text(part) for part in [scores, *rest])
            work.replace_node(call, f"{program.torch_name()}.log_softmax({arguments})")
    yield from program.fix_from_edits(hint, work)


def subtract_max_before_exp(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Subtract the maximum before `exp` in a softmax that is written out. Its result stays the same."""
    function = program.enclosing_function(program.statement_at(hint.line) or program.tree)
    text = program.source_text(function) if function is not None else program.source
    if "/" not in text or ".sum(" not in text:
        return
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        of = elementwise_operand(program, call) if callee_name(call) == "exp" else None
        if of is not None:
            x = program.operand_text(of)
            is_own = of is method_receiver(call)
            work.replace_node(of, f"({x} - {x}.max())" if is_own else f"{x} - {x}.max()")
    yield from program.fix_from_edits(hint, work)


def mask_with_finite_number(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Mask with a large negative number instead of minus infinity, from which a softmax of masked scores alone makes
    NaN."""
    work = program.new_edits()
    for node in program.nodes:
        if not isinstance(node, ast.expr) or isinstance(work.parent_of(node), ast.UnaryOp):
            continue
        text = ast.unparse(node).replace('"', "'")
        is_infinite = text in ("float('-inf')", "-float('inf')", "-torch.inf", "-math.inf", "-np.inf", "-numpy.inf")
        if is_infinite:
            work.replace_node(node, _NEGATIVE_BOUND)
    yield from program.fix_from_edits(hint, work)


def use_biased_std(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Divide a standard deviation by n instead of n - 1, which is 0/0 for a single number."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) in ("std", "var") and not any(k.arg in ("unbiased", "correction") for k in call.keywords):
            arguments = [program.source_text(part) for part in [*call.args, *call.keywords]]
            work.replace_node(call, f"{program.source_text(call.func)}({', '.join([*arguments, 'correction=0'])})")
    yield from program.fix_from_edits(hint, work)


def make_untaken_where_branch_safe(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Put a harmless value into the branch of `where` that is not taken, before the operation that fails on it."""
    torch = program.torch_name()
    for call in (node for node in program.nodes if isinstance(node, ast.Call) and callee_name(node) == "where"):
        if len(call.args) != 3:
            continue
        condition = program.source_text(call.args[0])
        names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
        for branch, is_taken in ((call.args[1], True), (call.args[2], False)):
            at: ast.AST = branch
            if isinstance(branch, ast.Name):
                statement = program.statement_at(hint.line)
                if not isinstance(statement, ast.Assign) or branch.id not in {
                    program.source_text(t) for t in statement.targets
                }:
                    continue
                at = statement.value
            work = program.new_edits()
            for node in ast.walk(at):
                if isinstance(node, ast.Name) and node.id in names and node.id not in program.modules.names:
                    safe = f"{torch}.ones_like({node.id})"
                    pair = f"{node.id}, {safe}" if is_taken else f"{safe}, {node.id}"
                    work.replace_node(node, f"{torch}.where({condition}, {pair})")
            yield from program.fix_from_edits(hint, work)
