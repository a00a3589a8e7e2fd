"""Says when tensors, storages, nodes and modules die, to the statement, by weak references alone.

`witnessed` puts a call of `died` after every statement of a program; a `Witness` answers it, as a builtin: outside the
program, so that it is the same under plain CPython and under the recorder.
"""

import ast
import sys
import weakref
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

DIED = "died"
_KEY = "tests.witness"


class Token:
    """Lives as long as the node whose metadata holds it."""


class Witness:
    """Finds what the module's names lead to; prints a line for each death and a line for each statement."""

    def __init__(self) -> None:
        self._seen: dict[int, weakref.ref[Any]] = {}
        self._storages: dict[int, tuple[str, StorageWeakRef]] = {}

    def __call__(self, line: int) -> None:
        self._freed()
        for name, thing in list(sys._getframe(1).f_globals.items()):
            if not name.startswith("__"):
                self._meet(name, thing, 0)
        print(f"after line {line}")

    def _freed(self) -> None:
        for place, (name, ref) in list(self._storages.items()):
            if ref.expired():
                print(f"the storage of {name} is freed")
                del self._storages[place]

    def _meet(self, name: str, thing: Any, depth: int) -> None:
        if isinstance(thing, torch.Tensor):
            self._tensor(name, thing)
        elif isinstance(thing, torch.nn.Module):
            self._watch(name, thing)
            for key, tensor in [*thing.named_parameters(), *thing.named_buffers()]:
                self._tensor(f"{name}.{key}", tensor)
        elif type(thing) in (list, tuple, dict) and depth < 3 and len(thing) < 20:
            for key, part in list(thing.items() if type(thing) is dict else enumerate(thing)):
                self._meet(f"{name}[{key!r}]", part, depth + 1)

    def _watch(self, name: str, thing: Any) -> None:
        known = self._seen.get(id(thing))
        if known is None or known() is not thing:
            what = f"{type(thing).__name__} {name}"
            self._seen[id(thing)] = weakref.ref(thing, lambda _: print(f"{what} died"))

    def _tensor(self, name: str, tensor: torch.Tensor) -> None:
        self._watch(name, tensor)
        self._storage(name, tensor)
        if tensor.is_leaf and tensor.grad is not None:
            self._tensor(f"{name}.grad", tensor.grad)
        # a view whose base was written gets another node when it is asked for one: that would be the witness's doing
        nodes = [tensor.grad_fn] if not tensor._is_view() and tensor.grad_fn is not None else []
        for node in nodes:
            if _KEY not in node.metadata:
                token = node.metadata[_KEY] = Token()
                self._watch(f"of {node.name()} behind {name}", token)
                nodes += [other for other, _ in node.next_functions if other is not None and other not in nodes]
                self._saved(f"{node.name()} behind {name}", node)

    def _saved(self, name: str, node: Any) -> None:
        for slot in dir(node):
            saved = getattr(node, slot) if slot.startswith("_raw_saved_") else None
            if isinstance(saved, torch._C._autograd.SavedTensor) and isinstance(saved.data, torch.Tensor):
                self._storage(f"{slot} in {name}", saved.data)

    def _storage(self, name: str, tensor: torch.Tensor) -> None:
        if tensor.layout == torch.strided and not torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            ref = StorageWeakRef(tensor.untyped_storage())
            self._storages.setdefault(ref.cdata, (name, ref))


class _Calls(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not isinstance(node, ast.ClassDef):
                setattr(node, field, [made for statement in block for made in _followed(statement)])
        return node


def _followed(statement: ast.stmt) -> list[ast.stmt]:
    """The statement, and after it the question who died."""
    if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return [statement]
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return [statement]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return [statement]
    call = ast.Call(ast.Name(DIED, ast.Load()), [ast.Constant(statement.lineno)], [])
    return [statement, ast.Expr(call)]


def witnessed(source: str) -> str:
    return ast.unparse(ast.fix_missing_locations(_Calls().visit(ast.parse(source))))
