"""What each statement mentions: the paths whose values it may change, and whether that can be known at all.

A step looks at what its statement mentions, at what its operators took and made, and at memory that was handed out.
Read from the text alone: `a.b[0].c` mentions the path a.b, from where everything is reached.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from server.language.tree import children

OPENS = re.compile(
    r"numpy|^np$|__array|dlpack|storage|data_ptr|frombuffer|asarray|memoryview|share_memory|^apply_$|^map2?_$|struct|^array$"
)
"""Words that hand out a tensor's memory, or write it without an operator."""

_HIDDEN = """
getattr setattr delattr globals locals vars dir __dict__ __setattr__ __getattribute__ variable next_functions
saved_tensors attrgetter methodcaller
"""
HIDDEN = frozenset(_HIDDEN.split())
"""Words that lead to values on no path that the text shows."""

_CHANGERS = """
append appendleft extend extendleft insert add update setdefault pop popleft popitem remove discard clear sort
reverse rotate requires_grad_ retain_grad register_hook zero_grad load_state_dict add_param_group __setitem__
__delitem__ __iadd__ difference_update intersection_update
"""
CHANGERS = frozenset(_CHANGERS.split())
"""Methods that change an object and call no operator for it; one handed on without being called may run anywhere."""


@dataclass
class Mentions:
    """Of one statement. paths: names with the attributes that follow them. stored: paths it binds.

    opens: it may hand out memory. anything: what it may change can't be read from the text.
    """

    paths: set[tuple[str, ...]] = field(default_factory=set)
    stored: set[tuple[str, ...]] = field(default_factory=set)
    opens: bool = False
    anything: bool = False
    iterates: frozenset[tuple[str, ...]] = frozenset()


def path(node: ast.expr) -> tuple[str, ...] | None:
    """`a.b.c` as ("a", "b", "c"); `a.b[0].c` as ("a", "b"), for all of it is reached from there."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            attributes.append(node.attr)
        else:
            attributes.clear()
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None


def untraceable(nodes: Iterable[ast.AST]) -> bool:
    """Whether methods that change objects are handed on: `x.register_hook(seen.append)`."""
    found = {id(node) for node in nodes if isinstance(node, ast.Attribute) and node.attr in CHANGERS}
    return bool(found) and not found <= {id(node.func) for node in nodes if isinstance(node, ast.Call)}


def handled(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names of `except … as name`, which are unbound again without a statement that says so."""
    return frozenset(node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name)


def aliases(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that numpy and what is in it go by."""
    out = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            out |= {(alias.asname or alias.name) for alias in node.names if alias.name.split(".")[0] == "numpy"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
            out |= {alias.asname or alias.name for alias in node.names}
    return frozenset(out)


def mentions(node: ast.stmt, arrays: frozenset[str]) -> Mentions:
    """Of a statement's own part: of a loop its head, of a definition what runs when it is made."""
    found = Mentions()
    for part in own(node):
        _collect(part, found, arrays)
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            if alias.name == "*":
                found.anything = True
            name = (alias.asname or alias.name.split(".")[0],)
            found.paths.add(name)
            found.stored.add(name)
        found.opens = False
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found.paths.add((node.name,))
        found.stored.add((node.name,))
    elif isinstance(node, ast.For | ast.AsyncFor):
        only = Mentions()
        _collect(node.iter, only, arrays)
        found.iterates = frozenset(only.paths)
    return found


def own(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts that run in the statement's own steps."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.decorator_list
        yield from _defaults(node.args)
        yield from (part.annotation for part in _arguments(node.args) if part.annotation is not None)
    elif isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *(word.value for word in node.keywords))
        for member in node.body:
            yield from own(member)
            yield from _blocks(member)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        return
    else:
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody", "handlers"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.match_case):
                    yield part.pattern
                    if part.guard is not None:
                        yield part.guard
                elif isinstance(part, ast.AST):
                    yield part


def _blocks(node: ast.stmt) -> Iterator[ast.AST]:
    """The statements inside a statement of a class body: they have no steps of their own."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        for inner in getattr(node, name, []):
            yield from own(inner)
            yield from _blocks(inner)
    for handler in getattr(node, "handlers", []):
        for inner in handler.body:
            yield from own(inner)
            yield from _blocks(inner)


def _arguments(args: ast.arguments) -> Iterable[ast.arg]:
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *(a for a in (args.vararg, args.kwarg) if a)]


def _defaults(args: ast.arguments) -> Iterable[ast.expr]:
    return [*args.defaults, *(value for value in args.kw_defaults if value is not None)]


def _collect(part: ast.AST, found: Mentions, arrays: frozenset[str]) -> None:
    stack: list[ast.AST] = [part]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Attribute | ast.Subscript):
            _chain(node, found, arrays, stack)
            continue
        if isinstance(node, ast.Name):
            found.paths.add((node.id,))
            if not isinstance(node.ctx, ast.Load):
                found.stored.add((node.id,))
            _word(node.id, found, arrays)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.opens = found.opens or (node.value.isidentifier() and OPENS.search(node.value) is not None)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.paths.add((node.name,))
            found.stored.add((node.name,))
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.paths.add((node.rest,))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.paths |= {(name,) for name in node.names}
        stack += children(node)


def _chain(node: ast.expr, found: Mentions, arrays: frozenset[str], stack: list[ast.AST]) -> None:
    """A run of attributes and subscripts: its path where it begins with a name."""
    whole, stored = path(node), not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    if whole is not None:
        found.paths.add(whole)
        if stored:
            found.stored.add(whole)
        _word(whole[0], found, arrays)
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute | ast.Subscript):
        if isinstance(inner, ast.Attribute):
            _word(inner.attr, found, arrays)
        else:
            stack.append(inner.slice)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        stack.append(inner)


def _word(word: str, found: Mentions, arrays: frozenset[str]) -> None:
    if word in HIDDEN:
        found.anything = True
    if word in arrays or OPENS.search(word):
        found.opens = True


def plain(node: ast.Lambda) -> bool:
    """Whether calling it can only make a new value out of its arguments."""
    names = {argument.arg for argument in _arguments(node.args)}
    return _value(node.body, names)


def _value(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.BinOp):
        return _operand(node.left, names) and _operand(node.right, names)
    if isinstance(node, ast.UnaryOp):
        return _operand(node.operand, names)
    if isinstance(node, ast.Compare):
        return all(_operand(part, names) for part in (node.left, *node.comparators))
    if isinstance(node, ast.Tuple):
        return all(_value(part, names) for part in node.elts)
    return False


def _operand(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) or _value(node, names)
