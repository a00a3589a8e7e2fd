"""Repairs for programs that open files."""

import ast

from server.language.edits import Edits
from server.language.names import ImportedModules
from server.language.tree import walk

SENTENCE = "the quick brown fox jumps over the lazy dog. "
_TIMES = 20


class OpenCalls:
    """Replaces each call of `open`. uses_random, uses_text: what was put in the place of file contents."""

    def __init__(self, work: Edits, modules: ImportedModules) -> None:
        self._work, self._modules = work, modules
        self.uses_random = self.uses_text = False

    def replace_all(self, tree: ast.Module) -> bool:
        """Replace all calls; False where a file is used in a way that nothing can replace."""
        for node in walk(tree):
            if node in self._work.removed or not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name) and node.func.id == "open" and not self._call(node):
                return False
        return True

    def _call(self, call: ast.Call) -> bool:
        parent = self._work.parent(call)
        if isinstance(parent, ast.withitem):
            block = self._work.parent(parent)
            return isinstance(block, ast.With) and len(block.items) == 1 and self._block(block)
        outer = self._work.parent(parent) if parent is not None else None
        if isinstance(parent, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is parent:
            text = self._text(parent.attr)
            if text is not None:
                self._work.replace(outer, text)
                return True
        return False

    def _text(self, method: str) -> str | None:
        text = {"read": f"{SENTENCE!r} * {_TIMES}", "readlines": f"[{SENTENCE + chr(10)!r}] * {_TIMES}"}.get(method)
        self.uses_text = self.uses_text or text is not None
        return text

    def _block(self, block: ast.With) -> bool:
        """`with open(…) as f:` around one statement that reads, or around such as write."""
        name = block.items[0].optional_vars
        if not isinstance(name, ast.Name) or not block.body:
            return False
        if all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in block.body):
            self._work.comment_out(block)
            return True
        node = block.body[0]
        if len(block.body) > 1 or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            return False
        call = node.value
        value = None
        if (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == name.id
        ):
            value = self._text(call.func.attr)
        elif any(isinstance(part, ast.Name) and part.id == name.id for part in call.args):
            value, self.uses_random = self._random_array(call), True
        if value is None:
            return False
        targets = "".join(f"{ast.unparse(target)} = " for target in node.targets)
        self._work.replace(block, f"{targets}{value}")
        return True

    def _random_array(self, call: ast.Call) -> str:
        path = self._modules.path(call.func) or ""
        if path.startswith("numpy."):
            return f"{self._modules.name_of('numpy', 'np')}.random.randn({{shape}})"
        return f"{self._modules.name_of('torch', 'torch')}.randn({{shape}})"
