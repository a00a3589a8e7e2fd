"""A program that asks for CUDA, on a machine without it: every place where it does."""

import ast
import re

from server.language.edits import Edits
from server.language.names import ImportedModules
from server.language.tree import walk

_DEVICE = re.compile(r"cuda(:\d+)?$")
_HARMLESS_CALLS = ("is_available", "manual_seed", "manual_seed_all", "device_count", "empty_cache")


class CudaEdits(Edits):
    """Every place where a program asks for CUDA."""

    def __init__(self, source: str, tree: ast.Module, modules: ImportedModules) -> None:
        super().__init__(source, tree)
        self._modules = modules
        for node in walk(tree):
            if node not in self.removed:
                self._visit(node)

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            path = self._modules.path(node.value.func) or ""
            if path.startswith("torch.cuda.") and path.rsplit(".", 1)[1] not in _HARMLESS_CALLS:
                self.comment_out(node)
        elif isinstance(node, ast.Attribute):
            path = self._modules.path(node) or ""
            if re.fullmatch(r"torch\.cuda\.\w+Tensor", path):
                self.replace(node, f"{self._modules.name_of('torch', 'torch')}.{node.attr}")
        elif isinstance(node, ast.JoinedStr):
            first = node.values[0] if node.values else None
            if isinstance(first, ast.Constant) and str(first.value).startswith("cuda"):
                self.replace(node, '"cpu"')
            self.removed.update(walk(node))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and _DEVICE.match(node.value) and not self._is_conditional_on_cuda(node):
                self.replace(node, '"cpu"')
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("cuda", "pin_memory"):
                self.delete_after(node.func.value, node)
            elif (
                node.func.attr == "to"
                and len(node.args) == 1
                and isinstance(node.args[0], ast.Constant)
                and type(node.args[0].value) is int
            ):
                self.replace(node.args[0], '"cpu"')
        elif (
            isinstance(node, ast.keyword)
            and node.arg == "device"
            and isinstance(node.value, ast.Constant)
            and type(node.value.value) is int
        ):
            self.replace(node.value, '"cpu"')

    def _is_conditional_on_cuda(self, node: ast.AST) -> bool:
        """In `"cuda" if torch.cuda.is_available() else "cpu"`."""
        parent = self.parent(node)
        return isinstance(parent, ast.IfExp) and any(
            isinstance(part, ast.Attribute) and part.attr == "is_available" for part in walk(parent.test)
        )
