"""Finds earlier notebook cells whose functions a cell may call. They get steps, as the project's modules do."""

import ast
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from gradbox.notebook.notebook_cells import cell_name
from gradbox.recorder import introspection


def paths_of_called_cells(tree: ast.AST, namespace: dict[str, Any]) -> list[str]:
    """The paths of the cells to whose functions and classes a cell's names lead, directly or through other such
    functions.

    tree: the syntax tree of the cell
    namespace: the notebook's namespace
    """
    pending = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    seen: set[str] = set()
    paths: dict[str, None] = {}
    while pending:
        name = pending.pop()
        seen.add(name)
        for code in code_objects_of_value(namespace.get(name)):
            if cell_name(code.co_filename) is not None:
                paths[code.co_filename] = None
                pending |= global_names_read_by_code(code) - seen
    return list(paths)


def code_objects_of_value(value: Any) -> Iterator[CodeType]:
    """The code of a function, or of the methods of a class or of an instance's class."""
    if type(value) is FunctionType:
        yield value.__code__
        return
    for own_class in introspection.class_mro(value if issubclass(type(value), type) else type(value)):
        if introspection.class_module(own_class) != "__main__":
            continue
        for member in introspection.class_dict(own_class).values():
            function = getattr(member, "__func__", member) if type(member) in (staticmethod, classmethod) else member
            function = function.fget if type(function) is property else function
            if type(function) is FunctionType:
                yield function.__code__


def global_names_read_by_code(code: CodeType) -> set[str]:
    """The globals that a code object, and code nested in it, may read."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_names}.union(*map(global_names_read_by_code, inner))
