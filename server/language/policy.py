"""What a program may use: every refusal at once, with its place and its reason.

This makes messages clear; it keeps nobody in. A program that gets around it meets the worker's own confinement.
"""

import ast
from collections.abc import Iterator
from typing import Any

from server.wire.trace import Refusal

MODULES = frozenset(
    [
        "torch",
        "numpy",
        "math",
        "cmath",
        "copy",
        "random",
        "time",
        "functools",
        "itertools",
        "collections",
        "operator",
        "typing",
        "typing_extensions",
        "dataclasses",
        "contextlib",
        "warnings",
        "abc",
        "enum",
        "weakref",
        "gc",
        "__future__",
        "sys",
        "string",
        "re",
        "json",
        "types",
        "statistics",
        "fractions",
        "decimal",
        "numbers",
        "datetime",
        "textwrap",
        "pprint",
        "traceback",
        "heapq",
        "bisect",
        "array",
        "struct",
        "timeit",
        "logging",
        "inspect",
    ]
)
"""Top-level modules that may be imported, with what is below them."""

ELSEWHERE = frozenset(
    [
        "matplotlib",
        "pandas",
        "torchvision",
        "torchaudio",
        "torchtext",
        "sklearn",
        "scipy",
        "seaborn",
        "tqdm",
        "PIL",
        "transformers",
    ]
)
"""What tutorials like to import and a run does not need."""

CLOSED = {
    "torch.load": "files",
    "torch.save": "files",
    "torch.from_file": "files",
    "torch.hub": "network",
    "torch.distributed": "processes",
    "torch.multiprocessing": "processes",
    "torch.onnx": "files",
    "torch.package": "files",
    "torch.compile": "compiler",
    "torch._dynamo": "compiler",
    "torch._inductor": "compiler",
    "torch.utils.cpp_extension": "compiler",
    "torch.utils.tensorboard": "files",
    "torch.utils.model_zoo": "network",
    "numpy.load": "files",
    "numpy.save": "files",
    "numpy.savez": "files",
    "numpy.savez_compressed": "files",
    "numpy.loadtxt": "files",
    "numpy.savetxt": "files",
    "numpy.genfromtxt": "files",
    "numpy.fromfile": "files",
    "numpy.memmap": "files",
    "numpy.ctypeslib": "interpreter",
    "numpy.f2py": "compiler",
    "sys.modules": "interpreter",
    "sys.settrace": "interpreter",
    "sys.setprofile": "interpreter",
    "sys._getframe": "interpreter",
    "sys.meta_path": "interpreter",
    "sys.path": "files",
    "gc.get_objects": "interpreter",
    "gc.get_referrers": "interpreter",
    "inspect.currentframe": "interpreter",
    "inspect.stack": "interpreter",
}
"""Parts of allowed modules that are not available, and why."""

BUILTINS = {
    "open": "files",
    "input": "keyboard",
    "eval": "text",
    "exec": "text",
    "compile": "text",
    "__import__": "import",
    "breakpoint": "keyboard",
    "__builtins__": "interpreter",
    "__loader__": "interpreter",
    "__spec__": "interpreter",
}
"""Builtins that are not available; a program that binds such a name has one of its own."""

ATTRIBUTES = frozenset(
    [
        "__subclasses__",
        "__globals__",
        "__builtins__",
        "__closure__",
        "__loader__",
        "__spec__",
        "__import__",
        "f_globals",
        "f_locals",
        "f_back",
        "f_builtins",
        "gi_frame",
        "cr_frame",
        "ag_frame",
        "tb_frame",
    ]
)
"""Attributes that lead from a value into the interpreter's own objects."""

REASONS = {
    "import": "it is not among the modules that a program here may import",
    "missing": "it is not installed here; no step of memory or gradients needs it",
    "files": "a program here has no files",
    "network": "a program here has no network",
    "processes": "a program here runs alone, in one process",
    "keyboard": "nobody sits at a keyboard while a program runs here",
    "text": "a program here runs as it is written, not from text",
    "compiler": "statements are followed one by one; run the plain function instead",
    "interpreter": "it leads into the interpreter itself, not to tensors",
    "relative": "the program is one file",
}
"""Why, by key; the page has the same in other languages."""


def check(source: str) -> tuple[ast.Module | None, list[Refusal]]:
    """The program's tree, and every reason not to run it, in order of lines. Columns count characters."""
    try:
        tree = ast.parse(source, "<program>")
    except SyntaxError as error:
        return None, [syntax(error, source)]
    except (RecursionError, MemoryError):
        return None, [too_deep(source)]
    except ValueError as error:
        line = source.count("\n", 0, max(source.find("\0"), 0)) + 1
        return None, [Refusal(line=line, message=str(error), key="syntax", args={"text": str(error)})]
    lines = source.split("\n")
    found = [_refusal(lines, node, what, why) for node, what, why in _Checker(tree).refused()]
    found.sort(key=lambda refusal: (refusal.line, refusal.col))
    return tree, found


class _Checker:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._bound: set[str] = set()
        self._modules: dict[str, str] = {}  # name -> the dotted module or member it stands for
        for node in ast.walk(tree):
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self._bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._bound.add(node.name)
        elif isinstance(node, ast.arg):
            self._bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            self._bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self._bound.add(node.rest)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self._bound.add(alias.asname or alias.name.split(".")[0])
                self._modules[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self._bound.add(alias.asname or alias.name)
                self._modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def refused(self) -> Iterator[tuple[ast.AST, str, str]]:
        """(node, what, key of the reason)"""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._module(alias, alias.name)
            elif isinstance(node, ast.ImportFrom):
                if node.level:
                    yield node, f"import of '{'.' * node.level}{node.module or ''}'", "relative"
                elif node.module is not None:
                    refused = list(self._module(node, node.module))
                    yield from refused
                    if not refused:
                        for alias in node.names:
                            yield from self._member(alias, f"{node.module}.{alias.name}")
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                if node.id in BUILTINS and node.id not in self._bound:
                    yield node, f"'{node.id}'", BUILTINS[node.id]
            elif isinstance(node, ast.Attribute):
                if node.attr in ATTRIBUTES:
                    yield node, f"'{node.attr}'", "interpreter"
                else:
                    path = self._path(node)
                    if path is not None:
                        yield from self._member(node, path)

    def _module(self, node: ast.AST, name: str) -> Iterator[tuple[ast.AST, str, str]]:
        top = name.split(".")[0]
        if top in ELSEWHERE:
            yield node, f"import of '{name}'", "missing"
        elif top not in MODULES:
            yield node, f"import of '{name}'", "import"
        else:
            yield from self._member(node, name, f"import of '{name}'")

    def _member(self, node: ast.AST, path: str, what: str | None = None) -> Iterator[tuple[ast.AST, str, str]]:
        """Exactly the closed thing: what lies below it is refused there already."""
        parts = path.split(".")
        for k in range(1, len(parts) + 1):
            why = CLOSED.get(".".join(parts[:k]))
            if why is not None and (k == len(parts) or what is not None):
                yield node, what or f"'{path}'", why

    def _path(self, node: ast.Attribute) -> str | None:
        parts = [node.attr]
        value = node.value
        while isinstance(value, ast.Attribute):
            parts.append(value.attr)
            value = value.value
        if not isinstance(value, ast.Name) or value.id not in self._modules:
            return None
        return ".".join([self._modules[value.id], *reversed(parts)])


def _refusal(lines: list[str], node: Any, what: str, why: str) -> Refusal:
    text = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    same = node.end_lineno == node.lineno
    return Refusal(
        line=node.lineno,
        col=characters(text, node.col_offset),
        end_col=characters(text, node.end_col_offset) if same else None,
        message=f"{what} is not available: {REASONS[why]}",
        key=why,
        args={"what": what},
    )


def syntax(error: SyntaxError, source: str) -> Refusal:
    """Python's own words at Python's own place."""
    line = min(max(error.lineno or 1, 1), max(source.count("\n") + 1, 1))
    col = max((error.offset or 1) - 1, 0)
    end = (
        error.end_offset - 1
        if error.end_offset and error.end_lineno == error.lineno and error.end_offset - 1 > col
        else None
    )
    return Refusal(line=line, col=col, end_col=end, message=error.msg, key="syntax", args={"text": error.msg})


def too_deep(source: str) -> Refusal:
    """CPython itself gives up on this program, at about the line where most brackets are open."""
    depth = most = 0
    where = line = 1
    for character in source:
        if character == "\n":
            line += 1
        elif character in "([{":
            depth += 1
            if depth > most:
                most, where = depth, line
        elif character in ")]}":
            depth -= 1
    return Refusal(line=where, message="this is nested too deeply for Python to compile", key="deep")


def characters(line: str, offset: int) -> int:
    """The column in characters of an offset in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore"))
