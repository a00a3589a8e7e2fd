"""What the names of a text lead to where the text itself doesn't bind them: what it imports, and Python's builtins.

A name is looked up as CPython does it: in the function's own scope, those of the functions around it, the module, the
builtins; the scope of a class is seen by the class's own statements alone.
"""

import builtins
from collections.abc import Mapping
from typing import Literal

ScopeKind = Literal["module", "class", "function", "comprehension"]

BUILTIN_NAMES = frozenset(vars(builtins))


class NameScope:
    """The names that one scope binds. kind: of what. outer: the scope around it; None for a module.

    outer_names: of a module, what its namespace has before its text runs: the path that each name leads to, None where
    that is no import.
    """

    def __init__(
        self, kind: ScopeKind, outer: "NameScope | None" = None, outer_names: Mapping[str, str | None] | None = None
    ) -> None:
        self.kind, self.outer = kind, outer
        self.module: NameScope = self if outer is None else outer.module
        self._outer_names = outer_names or {}
        self._bound: set[str] = set()
        self._imported: dict[str, set[str]] = {}
        self._assigned: dict[str, list[tuple[NameScope, tuple[str, ...]]]] = {}
        self._declared_global: set[str] = set()
        self._declared_nonlocal: set[str] = set()
        self._starred_modules: set[str] = set()

    def declare_global(self, names: list[str]) -> None:
        self._declared_global.update(names)

    def declare_nonlocal(self, names: list[str]) -> None:
        self._declared_nonlocal.update(names)

    def bind(self, name: str) -> None:
        """Something other than an import or another name for one gives the name a meaning."""
        scope = self._binding_scope(name)
        if scope is not None:
            scope._bound.add(name)

    def bind_import(self, name: str, path: str) -> None:
        """An import gives the name a meaning. path: dotted, what it leads to."""
        scope = self._binding_scope(name)
        if scope is not None:
            scope._imported.setdefault(name, set()).add(path)

    def bind_alias(self, name: str, scope: "NameScope", path: tuple[str, ...]) -> None:
        """An assignment gives the name the meaning that a path of names has in a scope: `nn = torch.nn`."""
        target = self._binding_scope(name)
        if target is not None:
            target._assigned.setdefault(name, []).append((scope, path))

    def bind_star_import(self, module: str) -> None:
        """`from module import *`"""
        self.module._starred_modules.add(module)

    def dotted_path_of_name(self, name: str, depth: int = 0) -> str | None:
        """The dotted path that a name leads to in this scope: `torch.nn.functional`, `builtins.getattr`.

        None where the text binds it otherwise, or where that can't be said.
        """
        scope: NameScope | None = self
        while scope is not None:
            if name in scope._declared_global:
                scope = scope.module
            is_seen = scope is self or scope.kind != "class"
            if is_seen and scope._binds(name) and name not in scope._declared_nonlocal:
                return scope._dotted_path_of_own_name(name, depth)
            scope = scope.outer
        if name in self.module._outer_names:
            return self.module._outer_names[name]
        if name in BUILTIN_NAMES:
            return None if self.module._starred_modules else f"builtins.{name}"
        modules = self.module._starred_modules
        return f"{next(iter(modules))}.{name}" if len(modules) == 1 else None

    def _binds(self, name: str) -> bool:
        return name in self._bound or name in self._imported or name in self._assigned

    def _dotted_path_of_own_name(self, name: str, depth: int) -> str | None:
        paths = set(self._imported.get(name, ()))
        if name in self._bound or len(paths) + len(self._assigned.get(name, ())) != 1 or depth > 8:
            return None
        for scope, (root, *attributes) in self._assigned.get(name, ()):
            path = None if (scope is self and root == name) else scope.dotted_path_of_name(root, depth + 1)
            if path is None:
                return None
            paths.add(".".join((path, *attributes)))
        return paths.pop()

    def _binding_scope(self, name: str) -> "NameScope | None":
        """The scope in which a statement of this one binds the name."""
        if name in self._declared_global:
            return self.module
        if name not in self._declared_nonlocal:
            return self
        scope = self.outer
        while scope is not None and (scope.kind == "class" or name in scope._declared_nonlocal):
            scope = scope.outer
        return scope

    def scope_outside_comprehensions(self) -> "NameScope":
        """The scope in which `:=` binds."""
        scope = self
        while scope.kind == "comprehension" and scope.outer is not None:
            scope = scope.outer
        return scope
