"""Logs after which statement tensors, storages, nodes and modules die, by weak references alone.

`with_lifetime_log` puts a call of `log_lifetimes` after every statement of a program. A `LifetimeLog` is that builtin:
it lives outside of the program, so that it is the same under plain CPython and under the recorder.
"""

import ast
import builtins
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

LOG_LIFETIMES = "log_lifetimes"
_KEY = "tests.support.lifetime_log"


class Token:
    """Lives as long as the node whose metadata holds it."""


class LifetimeLog:
    """Follows what the module's names reach; prints a line for each object that died and a line for each statement."""

    def __init__(self) -> None:
        self._seen: dict[int, weakref.ref[Any]] = {}
        self._storages: dict[int, tuple[str, StorageWeakRef]] = {}

    def __call__(self, line: int) -> None:
        self._print_freed()
        for name, value in list(sys._getframe(1).f_globals.items()):
            if not name.startswith("__"):
                self._follow(name, value, 0)
        print(f"after line {line}")

    def _print_freed(self) -> None:
        for data, (name, ref) in list(self._storages.items()):
            if ref.expired():
                print(f"the storage of {name} is freed")
                del self._storages[data]

    def _follow(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, torch.Tensor):
            self._tensor(name, value)
        elif isinstance(value, torch.nn.Module):
            self._watch(name, value)
            for key, tensor in [*value.named_parameters(), *value.named_buffers()]:
                self._tensor(f"{name}.{key}", tensor)
        elif type(value) in (list, tuple, dict) and depth < 3 and len(value) < 20:
            for key, part in list(value.items() if type(value) is dict else enumerate(value)):
                self._follow(f"{name}[{key!r}]", part, depth + 1)

    def _watch(self, name: str, value: Any) -> None:
        known = self._seen.get(id(value))
        if known is None or known() is not value:
            description = f"{type(value).__name__} {name}"
            self._seen[id(value)] = weakref.ref(value, lambda _: print(f"{description} died"))

    def _tensor(self, name: str, tensor: torch.Tensor) -> None:
        self._watch(name, tensor)
        self._storage(name, tensor)
        if tensor.is_leaf and tensor.grad is not None:
            self._tensor(f"{name}.grad", tensor.grad)
        # a view whose base was written gets another node when it is asked for one: that would be the log's doing
        nodes: list[Any] = [tensor.grad_fn] if not tensor._is_view() and tensor.grad_fn is not None else []
        for node in nodes:
            if _KEY not in node.metadata:
                token = node.metadata[_KEY] = Token()
                self._watch(f"of {node.name()} behind {name}", token)
                nodes += [other for other, _ in node.next_functions if other is not None and other not in nodes]
                self._saved(f"{node.name()} behind {name}", node)

    def _saved(self, name: str, node: Any) -> None:
        for slot in dir(node):
            saved = getattr(node, slot) if slot.startswith("_raw_saved_") else None
            data = getattr(saved, "data") if isinstance(saved, torch._C._autograd.SavedTensor) else None  # noqa: B009
            if isinstance(data, torch.Tensor):
                self._storage(f"{slot} in {name}", data)

    def _storage(self, name: str, tensor: torch.Tensor) -> None:
        if tensor.layout == torch.strided and not torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            ref = StorageWeakRef(tensor.untyped_storage())
            self._storages.setdefault(ref.cdata, (name, ref))


def install() -> None:
    """Make a new log a builtin of this process."""
    setattr(builtins, LOG_LIFETIMES, LifetimeLog())


@contextmanager
def installed() -> Iterator[None]:
    """The same, as a context."""
    install()
    yield


class _Calls(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not isinstance(node, ast.ClassDef):
                setattr(node, field, [part for statement in block for part in _logged(statement)])
        return node


def _logged(statement: ast.stmt) -> list[ast.stmt]:
    """The statement, and a call of the log after it where one can stand."""
    if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return [statement]
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return [statement]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return [statement]
    call = ast.Call(ast.Name(LOG_LIFETIMES, ast.Load()), [ast.Constant(statement.lineno)], [])
    return [statement, ast.Expr(call)]


def with_lifetime_log(source: str) -> str:
    """The program with a call of `log_lifetimes` after every statement."""
    return ast.unparse(ast.fix_missing_locations(_Calls().visit(ast.parse(source))))
