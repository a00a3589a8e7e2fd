"""What each statement mentions: the paths whose values it may change, and whether that can be known at all.

A step observes what its statement mentions, what its operators took and made, and memory that was handed out. This is
read from the text alone: `a.b[0].c` mentions the path a.b, from which everything else is reached.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from gradbox.language.tree import SyntaxNodes, child_nodes

MEMORY_EXPOSING_NAMES_PATTERN = re.compile(
    r"numpy|^np$|__array|dlpack|storage|data_ptr|frombuffer|asarray|as_tensor|default_convert|memoryview|share_memory|^apply_$|^map2?_$|struct|^array$"
)
"""Names that hand out a tensor's memory, or write it without an operator."""

_INDIRECT_ACCESS_NAMES = """
getattr setattr delattr globals locals vars dir __dict__ __setattr__ __getattribute__ variable next_functions
saved_tensors attrgetter methodcaller
"""
INDIRECT_ACCESS_NAMES = frozenset(_INDIRECT_ACCESS_NAMES.split())
"""Names that lead to values on a path that the text does not show."""

_MUTATING_METHODS = """
append appendleft extend extendleft insert add update setdefault pop popleft popitem remove discard clear sort
reverse rotate requires_grad_ retain_grad register_hook zero_grad load_state_dict add_param_group __setitem__
__delitem__ __iadd__ difference_update intersection_update
"""
MUTATING_METHODS = frozenset(_MUTATING_METHODS.split())
"""Methods that change an object without calling an operator. If one is passed on without being called, it may run
anywhere."""


_GRAPH_NAMES_PATTERN = re.compile(
    r"_(raw_)?saved_|(data|detach_|resize_|resize_as_|set_|swap_tensors|untyped_storage)$"
)


@dataclass
class StatementEffects:
    """The effects of one statement.

    paths: names with the attributes that follow them, as keys in the order in which they are written
    bound_paths: paths that it binds
    exposes_memory: it may hand out memory
    may_change_anything: what it may change can't be read from the text
    iterated_paths: for a loop, the paths in what it iterates over
    """

    paths: dict[tuple[str, ...], None] = field(default_factory=dict)
    bound_paths: set[tuple[str, ...]] = field(default_factory=set)
    exposes_memory: bool = False
    may_change_anything: bool = False
    iterated_paths: frozenset[tuple[str, ...]] = frozenset()

    def add_bound_name(self, name: str) -> None:
        """Note that the statement binds this name."""
        self.paths[(name,)] = None
        self.bound_paths.add((name,))


def attribute_path(node: ast.expr) -> tuple[str, ...] | None:
    """`a.b.c` as ("a", "b", "c"). `a.b[0].c` gives ("a", "b"), from where everything behind it is reached."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            attributes.append(node.attr)
        else:
            attributes.clear()
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None


def passes_mutating_methods(nodes: SyntaxNodes) -> bool:
    """Whether methods that change objects are passed on, as in `x.register_hook(seen.append)`."""
    mutators = {id(node) for node in nodes.of_kind(ast.Attribute) if node.attr in MUTATING_METHODS}
    return bool(mutators) and not mutators <= {id(call.func) for call in nodes.of_kind(ast.Call)}


def can_access_saved_tensors(nodes: SyntaxNodes) -> bool:
    """Whether the program contains names through which saved tensors can be obtained, or changed without an
    operation."""
    words = {node.attr for node in nodes.of_kind(ast.Attribute)} | {node.id for node in nodes.of_kind(ast.Name)}
    return any(_GRAPH_NAMES_PATTERN.match(word) for word in words) or not words.isdisjoint(INDIRECT_ACCESS_NAMES)


def exception_variable_names(nodes: SyntaxNodes) -> frozenset[str]:
    """The names in `except … as name`, which are unbound again without a statement that says so."""
    return frozenset(node.name for node in nodes.of_kind(ast.ExceptHandler) if node.name)


def numpy_import_names(nodes: SyntaxNodes) -> frozenset[str]:
    """The names under which numpy and its members are imported."""
    names = set()
    for node in nodes.imports():
        if isinstance(node, ast.Import):
            names |= {(alias.asname or alias.name) for alias in node.names if alias.name.split(".")[0] == "numpy"}
        elif (node.module or "").split(".")[0] == "numpy":
            names |= {alias.asname or alias.name for alias in node.names}
    return frozenset(names)


def statement_effects(node: ast.stmt, numpy_import_names: frozenset[str]) -> StatementEffects:
    """The effects of a statement's own part: the head of a loop, or what runs when a definition is executed."""
    effects = StatementEffects()
    if type(node) in _KINDS_THAT_RUN_WHOLE:
        _collect_effects(child_nodes(node), effects, numpy_import_names)
        return effects
    for part in nodes_run_in_own_step(node):
        _collect_effects([part], effects, numpy_import_names)
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            if alias.name == "*":
                effects.may_change_anything = True
            effects.add_bound_name(alias.asname or alias.name.split(".")[0])
        effects.exposes_memory = False
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        effects.add_bound_name(node.name)
    elif isinstance(node, ast.For | ast.AsyncFor):
        iterable_effects = StatementEffects()
        _collect_effects([node.iter], iterable_effects, numpy_import_names)
        effects.iterated_paths = frozenset(iterable_effects.paths)
    return effects


_KINDS_THAT_RUN_WHOLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
"""Kinds of statements whose parts all run in their own step."""


def nodes_run_in_own_step(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that run in its own steps."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.decorator_list
        yield from _parameter_defaults(node.args)
        yield from (child.annotation for child in _function_parameters(node.args) if child.annotation is not None)
    elif isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *(word.value for word in node.keywords))
        for member in node.body:
            yield from nodes_run_in_own_step(member)
            yield from _nodes_nested_in_class_body(member)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        return
    else:
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody", "handlers"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.match_case):
                    yield child.pattern
                    if child.guard is not None:
                        yield child.guard
                elif isinstance(child, ast.AST):
                    yield child


def _nodes_nested_in_class_body(node: ast.stmt) -> Iterator[ast.AST]:
    """The statements inside a statement of a class body, which have no steps of their own."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        for inner in getattr(node, name, []):
            yield from nodes_run_in_own_step(inner)
            yield from _nodes_nested_in_class_body(inner)
    for handler in getattr(node, "handlers", []):
        for inner in handler.body:
            yield from nodes_run_in_own_step(inner)
            yield from _nodes_nested_in_class_body(inner)


def _function_parameters(args: ast.arguments) -> Iterable[ast.arg]:
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *(a for a in (args.vararg, args.kwarg) if a)]


def _parameter_defaults(args: ast.arguments) -> Iterable[ast.expr]:
    return [*args.defaults, *(value for value in args.kw_defaults if value is not None)]


def _collect_effects(parts: list[ast.AST], effects: StatementEffects, numpy_import_names: frozenset[str]) -> None:
    stack = parts[::-1]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            path = (node.id,)  # type: ignore[attr-defined]
            effects.paths[path] = None
            if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                effects.bound_paths.add(path)
            _collect_identifier_effects(path[0], effects, numpy_import_names)
            continue
        if kind is ast.Attribute or kind is ast.Subscript:
            _collect_attribute_effects(cast(ast.expr, node), effects, numpy_import_names, stack)
            continue
        if kind is ast.BinOp or kind is ast.Call:
            stack += reversed(child_nodes(node))
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            effects.exposes_memory = effects.exposes_memory or (
                node.value.isidentifier() and MEMORY_EXPOSING_NAMES_PATTERN.search(node.value) is not None
            )
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            effects.add_bound_name(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            effects.paths[(node.rest,)] = None
        elif isinstance(node, ast.Global | ast.Nonlocal):
            effects.paths |= {(name,): None for name in node.names}
        stack += reversed(child_nodes(node))


def _collect_attribute_effects(
    node: ast.expr, effects: StatementEffects, numpy_import_names: frozenset[str], stack: list[ast.AST]
) -> None:
    """Collect the effects of a chain of attributes and subscripts, including its path if it begins with a name."""
    access, bound = attribute_path(node), not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    if access is not None:
        effects.paths[access] = None
        if bound:
            effects.bound_paths.add(access)
        _collect_identifier_effects(access[0], effects, numpy_import_names)
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute | ast.Subscript):
        if isinstance(inner, ast.Attribute):
            _collect_identifier_effects(inner.attr, effects, numpy_import_names)
        else:
            stack.append(inner.slice)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        stack.append(inner)


def _collect_identifier_effects(word: str, effects: StatementEffects, numpy_import_names: frozenset[str]) -> None:
    if word in INDIRECT_ACCESS_NAMES:
        effects.may_change_anything = True
    if word in numpy_import_names or does_name_expose_memory(word):
        effects.exposes_memory = True


@lru_cache(2048)
def does_name_expose_memory(word: str) -> bool:
    """Whether a name hands out memory or writes it. Cached, because programs use few names often."""
    return MEMORY_EXPOSING_NAMES_PATTERN.search(word) is not None


def is_pure_lambda(node: ast.Lambda) -> bool:
    """Whether a call of the lambda can only compute a new value from its arguments."""
    parameters = {argument.arg for argument in _function_parameters(node.args)}
    return _is_pure_expression(node.body, parameters)


def _is_pure_expression(node: ast.expr, parameters: set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return node.id in parameters
    if isinstance(node, ast.BinOp):
        return _is_pure_operand(node.left, parameters) and _is_pure_operand(node.right, parameters)
    if isinstance(node, ast.UnaryOp):
        return _is_pure_operand(node.operand, parameters)
    if isinstance(node, ast.Compare):
        return all(_is_pure_operand(part, parameters) for part in (node.left, *node.comparators))
    if isinstance(node, ast.Tuple):
        return all(_is_pure_expression(part, parameters) for part in node.elts)
    return False


def _is_pure_operand(node: ast.expr, parameters: set[str]) -> bool:
    return isinstance(node, ast.Name) or _is_pure_expression(node, parameters)
