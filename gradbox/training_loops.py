"""Finds the loops of a file whose iterations are steps of training, by the names of what they call."""

import ast
from collections.abc import Iterable, Iterator

LOOPS = (ast.For, ast.AsyncFor, ast.While)
Function = ast.FunctionDef | ast.AsyncFunctionDef
BACKWARD_NAMES, STEP_NAMES = {"backward", "autograd.grad"}, {"step"}


def loops_that_train(tree: ast.Module) -> Iterator[ast.stmt]:
    """The innermost loops that call `backward()` and, if one does, an optimizer's `step()` too.

    A loop calls what the functions that it calls do, as far as they are in the same file; methods go by their name alone.
    """
    functions: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, Function):
            functions.setdefault(node.name, []).append(node)
    callees = {name: called_names(nodes) for name, nodes in functions.items()}
    to_backward, to_step = functions_reaching(callees, BACKWARD_NAMES), functions_reaching(callees, STEP_NAMES)
    loops = [node for node in ast.walk(tree) if isinstance(node, LOOPS)]
    calls = {loop: called_names(loop.body) for loop in loops}
    candidates = [loop for loop in loops if calls[loop] & to_backward]
    candidates = [loop for loop in candidates if calls[loop] & to_step] or candidates
    holders = {name for name, nodes in functions.items() if any(contains(node, candidates) for node in nodes)}
    to_loop = functions_reaching(callees, holders)
    for loop in candidates:
        if not contains(loop, [other for other in candidates if other is not loop]) and not calls[loop] & to_loop:
            yield loop


def called_names(nodes: Iterable[ast.AST]) -> set[str]:
    """The names of what is called in these nodes; functions that they only define are not called."""
    names: set[str] = set()
    waiting = list(nodes)
    roots = set(map(id, waiting))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef) and id(node) not in roots:
            continue
        if isinstance(node, ast.Call):
            names |= callee_names(node.func)
        waiting += ast.iter_child_nodes(node)
    return names


def callee_names(function: ast.expr) -> set[str]:
    """How what is called is named: by its last name, and by the last two."""
    if isinstance(function, ast.Name):
        return {function.id}
    if not isinstance(function, ast.Attribute):
        return set()
    owner = function.value
    before = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return {function.attr, f"{before}.{function.attr}"}


def functions_reaching(callees: dict[str, set[str]], targets: set[str]) -> set[str]:
    """The targets and the functions that call one of them, themselves or through others."""
    functions = set(targets)
    while True:
        more = {name for name, called in callees.items() if called & functions} - functions
        if not more:
            return functions
        functions |= more


def contains(node: ast.AST, others: Iterable[ast.AST]) -> bool:
    """Whether one of these nodes lies in it, at any depth."""
    inside = set(map(id, ast.walk(node)))
    return any(id(other) in inside for other in others)
