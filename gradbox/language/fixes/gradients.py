"""Fixes where there is no slope: decisions from which a loss was computed, rounding, flat activations, a graph that
`torch.autograd.grad` did not record."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.order import with_flag
from gradbox.language.fixes.program import Fix, FixProgram, Hint, method, receiver

_PROBABILITIES = ("sigmoid", "softmax")
_STEPS = ("round", "floor", "ceil", "trunc", "sign", "sgn")


def create_graph(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `create_graph=True` to a gradient that is differentiated itself."""
    yield from with_flag(program, hint, ("backward", "grad"), "create_graph")


def use_probability(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use the probability instead of the decision: `p` for `(p > 0.5).float()`."""
    statement = program.statement(hint.line)
    work = program.edits()
    for node in program.own_nodes(statement) if statement is not None else ():
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Gt | ast.GtE):
            continue
        if _is_probability(program, node.left):
            work.replace_node(_with_conversion(work.parent_of(node), work.parent_of, node), program.text(node.left))
    yield from program.with_edits(hint, work)


def _is_probability(program: FixProgram, node: ast.expr) -> bool:
    """Whether an expression is a sigmoid or softmax, or a name to which one was assigned."""
    if isinstance(node, ast.Call):
        return method(node) in _PROBABILITIES
    values = [
        other.value
        for other in program.statements
        if isinstance(other, ast.Assign) and ast.unparse(other.targets[0]) == ast.unparse(node)
    ]
    return isinstance(node, ast.Name) and any(isinstance(v, ast.Call) and method(v) in _PROBABILITIES for v in values)


def _with_conversion(parent: ast.AST | None, parent_of: object, node: ast.AST) -> ast.AST:
    """`x.float()` around a node `x`, or the node itself."""
    call = parent_of(parent) if callable(parent_of) and parent is not None else None
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and parent.attr in ("float", "double"):
        return call
    return node


def cross_entropy(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use the cross entropy of scores and labels instead of the share of right or wrong guesses, which is flat."""
    for statement in program.statements:
        for node in program.own_nodes(statement):
            if not isinstance(node, ast.Compare) or len(node.ops) != 1:
                continue
            scores = _source_of_prediction(program, node.left) or _source_of_prediction(program, node.comparators[0])
            labels = node.comparators[0] if _source_of_prediction(program, node.left) else node.left
            if scores is None or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
                continue
            work = program.edits()
            whole: ast.AST = node
            while isinstance(work.parent_of(whole), ast.Attribute | ast.Call):
                whole = work.parent_of(whole) or whole
            loss = f"{program.torch()}.nn.functional.cross_entropy({program.text(scores)}, {program.text(labels)})"
            work.replace_node(whole, loss)
            yield from program.with_edits(hint, work)


def _source_of_prediction(program: FixProgram, node: ast.expr) -> ast.expr | None:
    """`out` of `out.argmax(1)`, also behind a name to which that or `torch.max(out, 1)` was assigned."""
    if isinstance(node, ast.Name):
        for other in program.statements:
            if isinstance(other, ast.Assign) and any(
                isinstance(part, ast.Name) and part.id == node.id for part in ast.walk(other.targets[0])
            ):
                return _source_of_prediction(program, other.value) if not isinstance(other.value, ast.Name) else None
        return None
    if not isinstance(node, ast.Call) or method(node) not in ("argmax", "max"):
        return None
    if program.modules.dotted_path(node.func):
        return node.args[0] if node.args else None
    return receiver(node)


def rsample(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `dist.rsample()` for `dist.sample()`."""
    work = program.edits()
    for call in program.calls(hint.line):
        if method(call) == "sample" and isinstance(call.func, ast.Attribute):
            arguments = ", ".join(program.text(part) for part in [*call.args, *call.keywords])
            work.replace_node(call, f"{program.text(call.func.value)}.rsample({arguments})")
    yield from program.with_edits(hint, work)


def straight_through(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x + (x.round() - x).detach()`, which has the value of the rounding and the slope of its operand."""
    work = program.edits()
    for call in program.calls(hint.line):
        if method(call) not in _STEPS:
            continue
        is_function = bool(program.modules.dotted_path(call.func))
        of = (call.args[0] if call.args else None) if is_function else receiver(call)
        if of is not None:
            x = program.operand(of)
            work.replace_node(call, f"({x} + ({program.text(call)} - {x}).detach())")
    yield from program.with_edits(hint, work)


def leaky_relu(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use an activation that is not flat where ReLU is 0: at the line, else in the whole program."""
    for nodes in (program.calls(hint.line), [node for node in program.nodes if isinstance(node, ast.Call)]):
        work = program.edits()
        for call in nodes:
            if method(call) == "ReLU":
                arguments = "".join(program.text(part) for part in call.keywords)
                work.replace_node(call, f"{program.torch()}.nn.LeakyReLU({arguments})")
            elif method(call) == "relu":
                of = call.args[0] if call.args else receiver(call)
                if of is not None:
                    work.replace_node(call, f"{program.torch()}.nn.functional.leaky_relu({program.text(of)})")
        yield from program.with_edits(hint, work)
