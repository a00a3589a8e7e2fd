"""One way through a syntax tree, for all who ask something of it; iterative, for a hostile tree is deep."""

import ast

_FIELDS_WITHOUT_NODES = frozenset(("ctx", "op", "ops", "id", "attr", "kind", "type_comment", "type_ignores"))
_FIELDS_WITH_NODES: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _FIELDS_WITHOUT_NODES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""The fields of each kind of node that hold nodes; operators and contexts, which have neither place nor parts, don't
count."""


def child_nodes(node: ast.AST) -> list[ast.AST]:
    out: list[ast.AST] = []
    for name in _FIELDS_WITH_NODES[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            out += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST):
            out.append(value)
    return out


def nodes_by_depth(tree: ast.AST) -> list[list[ast.AST]]:
    """The nodes of a tree, those of each depth by themselves."""
    out = [[tree]]
    while out[-1]:
        out.append([part for node in out[-1] for part in child_nodes(node)])
    return out[:-1]


def walk_tree(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a tree, level by level."""
    return [node for level in nodes_by_depth(tree) for node in level]
