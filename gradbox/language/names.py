"""The names that a program binds, the modules behind its imported names, and missing imports."""

import ast
import builtins

from gradbox.language.tree import SyntaxNodes

KNOWN_IMPORTS = {
    "torch": "import torch",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    **{name: f"import {name}" for name in ("copy", "math", "random", "time", "itertools", "functools", "warnings")},
}
"""Names that articles use without importing them. They are only added if the name is used like a module, as in
`nn.Linear`."""


_NODES_WITH_BOUND_NAME = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
)  # fmt: skip
"""Kinds of nodes that bind their `name`, if they have one."""


def bound_names(nodes: SyntaxNodes) -> set[str]:
    """Every name that the program binds, in any scope."""
    names = {node.id for node in nodes.of_kind(ast.Name) if type(node.ctx) is not ast.Load}
    names.update(node.arg for node in nodes.of_kind(ast.arg))
    names.update(alias.asname or alias.name.split(".")[0] for alias in nodes.of_kind(ast.alias))
    names.update(node.rest or "" for node in nodes.of_kind(ast.MatchMapping))
    for kind in _NODES_WITH_BOUND_NAME:
        names.update(node.name or "" for node in nodes.of_kind(kind))  # type: ignore[attr-defined]
    return names


class ImportedModules:
    """The dotted paths of modules and their members behind a program's imported names."""

    def __init__(self, nodes: SyntaxNodes) -> None:
        self.names: dict[str, str] = {}
        for node in nodes.imports():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name, _, below = alias.name.partition(".")
                    self.names[alias.asname or name] = alias.name if alias.asname and below else name
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def dotted_path(self, node: ast.AST) -> str | None:
        """`torch.load` for `t.load` after `import torch as t`; None if it does not begin with an imported name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.names:
            return None
        return ".".join([self.names[node.id], *reversed(parts)])

    def name_of_imported_module(self, path: str, otherwise: str) -> str:
        """The program's name for a module; `otherwise` if it does not import it."""
        return next((name for name, module_path in self.names.items() if module_path == path), otherwise)


def missing_imports(nodes: SyntaxNodes) -> list[str]:
    """The names in KNOWN_IMPORTS that the program uses and does not bind."""
    have = bound_names(nodes) | set(dir(builtins))
    used = {node.value.id for node in nodes.of_kind(ast.Attribute) if type(node.value) is ast.Name}
    if not {node.id for node in nodes.of_kind(ast.Name) if node.id in ("torch", "tensor")} <= have:
        used.add("torch")  # `tensor(...)` is what torch prints
    if "*" in have:
        used &= {"torch"}
    return [name for name in KNOWN_IMPORTS if name in used and name not in have]


def import_insertion_line(tree: ast.Module) -> int:
    """The line, from 0, at which an import can be inserted: after a docstring and imports from __future__."""
    at = 0
    for k, node in enumerate(tree.body):
        docstring = k == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        docstring = docstring and isinstance(node.value.value, str)  # type: ignore[attr-defined]
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        at = node.end_lineno or at
    return at
