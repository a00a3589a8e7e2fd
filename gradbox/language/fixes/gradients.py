"""Fixes where there is no slope: decisions from which a loss was computed, rounding, flat activations, a graph that
`torch.autograd.grad` did not record."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.order import add_true_keyword
from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, method_receiver

_PROBABILITIES = ("sigmoid", "softmax")
_ROUNDING_NAMES = ("round", "floor", "ceil", "trunc", "sign", "sgn")


def add_create_graph(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `create_graph=True` to a gradient that is differentiated itself."""
    yield from add_true_keyword(program, hint, ("backward", "grad"), "create_graph")


def use_probability_instead_of_decision(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use the probability instead of the decision: `p` for `(p > 0.5).float()`."""
    statement = program.statement_at(hint.line)
    work = program.new_edits()
    for node in program.nodes_outside_blocks(statement) if statement is not None else ():
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Gt | ast.GtE):
            continue
        if _is_probability(program, node.left):
            work.replace_node(
                _including_float_conversion(work.parent_of(node), work.parent_of, node), program.source_text(node.left)
            )
    yield from program.fix_from_edits(hint, work)


def _is_probability(program: FixProgram, node: ast.expr) -> bool:
    """Whether an expression is a sigmoid or softmax, or a name to which one was assigned."""
    if isinstance(node, ast.Call):
        return callee_name(node) in _PROBABILITIES
    values = [
        other.value
        for other in program.statements
        if isinstance(other, ast.Assign) and ast.unparse(other.targets[0]) == ast.unparse(node)
    ]
    return isinstance(node, ast.Name) and any(
        isinstance(v, ast.Call) and callee_name(v) in _PROBABILITIES for v in values
    )


def _including_float_conversion(parent: ast.AST | None, parent_of: object, node: ast.AST) -> ast.AST:
    """`x.float()` around a node `x`, or the node itself."""
    call = parent_of(parent) if callable(parent_of) and parent is not None else None
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and parent.attr in ("float", "double"):
        return call
    return node


def use_cross_entropy(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use the cross entropy of scores and labels instead of the share of right or wrong guesses, which is flat."""
    for statement in program.statements:
        for node in program.nodes_outside_blocks(statement):
            if not isinstance(node, ast.Compare) or len(node.ops) != 1:
                continue
            scores = _scores_of_prediction(program, node.left) or _scores_of_prediction(program, node.comparators[0])
            labels = node.comparators[0] if _scores_of_prediction(program, node.left) else node.left
            if scores is None or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
                continue
            work = program.new_edits()
            whole: ast.AST = node
            while isinstance(work.parent_of(whole), ast.Attribute | ast.Call):
                whole = work.parent_of(whole) or whole
            arguments = f"{program.source_text(scores)}, {program.source_text(labels)}"
            work.replace_node(whole, f"{program.torch_name()}.nn.functional.cross_entropy({arguments})")
            yield from program.fix_from_edits(hint, work)


def _scores_of_prediction(program: FixProgram, node: ast.expr) -> ast.expr | None:
    """`out` of `out.argmax(1)`, also behind a name to which that or `torch.max(out, 1)` was assigned."""
    if isinstance(node, ast.Name):
        for other in program.statements:
            if isinstance(other, ast.Assign) and any(
                isinstance(part, ast.Name) and part.id == node.id for part in ast.walk(other.targets[0])
            ):
                return _scores_of_prediction(program, other.value) if not isinstance(other.value, ast.Name) else None
        return None
    if not isinstance(node, ast.Call) or callee_name(node) not in ("argmax", "max"):
        return None
    if program.modules.dotted_path(node.func):
        return node.args[0] if node.args else None
    return method_receiver(node)


def use_rsample(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `dist.rsample()` for `dist.sample()`."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) == "sample" and isinstance(call.func, ast.Attribute):
            arguments = ", ".join(program.source_text(part) for part in [*call.args, *call.keywords])
            work.replace_node(call, f"{program.source_text(call.func.value)}.rsample({arguments})")
    yield from program.fix_from_edits(hint, work)


def use_straight_through_estimator(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x + (x.round() - x).detach()`, which has the value of the rounding and the slope of its operand."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) not in _ROUNDING_NAMES:
            continue
        is_function = bool(program.modules.dotted_path(call.func))
        of = (call.args[0] if call.args else None) if is_function else method_receiver(call)
        if of is not None:
            x = program.operand_text(of)
            work.replace_node(call, f"({x} + ({program.source_text(call)} - {x}).detach())")
    yield from program.fix_from_edits(hint, work)


def use_leaky_relu(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use an activation that is not flat where ReLU is 0: at the line, else in the whole program."""
    for nodes in (program.calls_at(hint.line), [node for node in program.nodes if isinstance(node, ast.Call)]):
        work = program.new_edits()
        for call in nodes:
            if callee_name(call) == "ReLU":
                arguments = "".join(program.source_text(part) for part in call.keywords)
                work.replace_node(call, f"{program.torch_name()}.nn.LeakyReLU({arguments})")
            elif callee_name(call) == "relu":
                of = call.args[0] if call.args else method_receiver(call)
                if of is not None:
                    work.replace_node(
                        call, f"{program.torch_name()}.nn.functional.leaky_relu({program.source_text(of)})"
                    )
        yield from program.fix_from_edits(hint, work)
