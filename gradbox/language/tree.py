"""One walk over a syntax tree for everybody who needs its nodes. It is iterative, because a hostile tree may be
deep."""

import ast
from collections.abc import Iterator
from itertools import chain
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)

_FIELDS_WITHOUT_NODES = frozenset(("ctx", "op", "ops", "id", "attr", "kind", "type_comment", "type_ignores"))
_KINDS_WITHOUT_CHILDREN = (ast.Constant, ast.Name, ast.alias, ast.Global, ast.Nonlocal)
_FIELDS_WITH_NODES: dict[type, tuple[str, ...]] = {
    kind: () if kind in _KINDS_WITHOUT_CHILDREN else tuple(n for n in kind._fields if n not in _FIELDS_WITHOUT_NODES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each kind of node that hold nodes; operators and contexts, which have neither place nor parts, don't
count."""


def fields_with_nodes(node: ast.AST) -> tuple[str, ...]:
    """The names of the fields of a node that may hold nodes."""
    return _FIELDS_WITH_NODES[type(node)]


def child_nodes(node: ast.AST) -> list[ast.AST]:
    out: list[ast.AST] = []
    for name in _FIELDS_WITH_NODES[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            out += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            out.append(value)
    return out


def walk_tree(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a tree, level by level."""
    return [node for level in nodes_by_depth(tree) for node in level]


def nodes_by_depth(tree: ast.AST) -> list[list[ast.AST]]:
    """The nodes of a tree, those of each depth by themselves."""
    out = [[tree]]
    while out[-1]:
        out.append([part for node in out[-1] for part in child_nodes(node)])
    return out[:-1]


class SyntaxNodes:
    """A tree that was walked once, for all who look for nodes of certain kinds in it.

    levels: its nodes by depth
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree, self.levels = tree, nodes_by_depth(tree)
        self._by_kind: dict[type[ast.AST], list[ast.AST]] = {}
        for level in self.levels:
            for node in level:
                kind = type(node)
                if kind in self._by_kind:
                    self._by_kind[kind].append(node)
                else:
                    self._by_kind[kind] = [node]

    def __iter__(self) -> Iterator[ast.AST]:
        """All nodes, level by level."""
        return chain.from_iterable(self.levels)

    def of_kind(self, kind: type[Node]) -> list[Node]:
        """The nodes of exactly this kind, level by level."""
        return cast(list[Node], self._by_kind.get(kind, []))

    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        """The imports, level by level."""
        if ast.Import not in self._by_kind or ast.ImportFrom not in self._by_kind:
            return [*self.of_kind(ast.Import), *self.of_kind(ast.ImportFrom)]
        return [node for node in self if isinstance(node, ast.Import | ast.ImportFrom)]

    def of_kinds(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """The nodes of these kinds, one kind after the other."""
        return list(chain.from_iterable(self._by_kind.get(kind, ()) for kind in kinds))
