"""A repair in preparation: edits of a program's text, with the modules that it imports."""

import ast
from collections.abc import Callable

from gradbox.language.edits import ProgramEdits
from gradbox.language.names import ImportedModules
from gradbox.language.policy import FORBIDDEN_MEMBERS, UNAVAILABLE_MODULES
from gradbox.language.tree import SyntaxNodes
from gradbox.wire.program import Repair

DEFAULT_SHAPE = "4, 4"
"""The shape of random numbers until the reader enters another."""

MAX_EDITS = 200
"""Edits of one repair."""


class RepairDraft(ProgramEdits):
    """Collects the edits of one repair.

    line: the only line whose calls are considered; None for all
    """

    def __init__(self, source: str, tree: ast.Module, line: int | None = None) -> None:
        super().__init__(source, tree)
        self.nodes = SyntaxNodes(tree)
        self.modules = ImportedModules(self.nodes)
        self.torch = self.modules.name_of_imported_module("torch", "torch")
        self.numpy = self.modules.name_of_imported_module("numpy", "np")
        self._line = line

    def dotted_path(self, node: ast.AST) -> str:
        """The dotted path that an expression stands for; "" for what begins with no imported name."""
        return self.modules.dotted_path(node) or ""

    def calls_with_path(self, is_wanted: Callable[[str], bool]) -> list[ast.Call]:
        """The calls of functions with a wanted dotted path; none if there are more than MAX_EDITS."""
        return self.find_calls(lambda call: is_wanted(self.dotted_path(call.func)))

    def find_calls(self, is_wanted: Callable[[ast.Call], bool]) -> list[ast.Call]:
        """The calls that are wanted and not removed yet; none if there are more than MAX_EDITS."""
        calls = [
            node
            for node in self.nodes
            if isinstance(node, ast.Call) and self._is_on_wanted_line(node) and is_wanted(node)
        ]
        return calls if len(calls) <= MAX_EDITS else []

    def _is_on_wanted_line(self, call: ast.Call) -> bool:
        return self._line is None or call.lineno <= self._line <= (call.end_lineno or call.lineno)

    def assigned_name(self, value: ast.AST) -> str | None:
        """The name if a statement assigns the value to a single name."""
        statement = self.enclosing_statement(value)
        if isinstance(statement, ast.Assign) and statement.value is value and len(statement.targets) == 1:
            name = statement.targets[0]
            return name.id if isinstance(name, ast.Name) else None
        return None

    def is_whole_statement(self, call: ast.Call) -> bool:
        """Whether a call is a whole statement."""
        return isinstance(self.parent_of(call), ast.Expr)

    def build_repair(self, key: str, shape: str | None = None, also: str = "") -> Repair | None:
        """The repair; None if there is nothing to edit, or too much.

        Imports of unavailable packages become comments if all their uses were removed, or if `also` names them.
        """
        if not 0 < len(self.sorted_edits()) <= MAX_EDITS:
            return None
        self._comment_out_unused_imports(also)
        repair = Repair(key=key, edits=self.sorted_edits())
        return repair if shape is None else repair.model_copy(update={"shape": shape})

    def _comment_out_unused_imports(self, also: str) -> None:
        for node in self.nodes:
            if not isinstance(node, ast.Import | ast.ImportFrom) or node in self.removed:
                continue
            paths = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            tops = {path.split(".")[0] for path in paths}
            members = {f"{paths[0]}.{alias.name}" for alias in node.names if isinstance(node, ast.ImportFrom)}
            closed = all(path in FORBIDDEN_MEMBERS for path in paths) or (
                members and members <= FORBIDDEN_MEMBERS.keys()
            )
            if not tops <= UNAVAILABLE_MODULES.keys() and not closed:
                continue
            names = [alias.asname or alias.name.split(".")[0] for alias in node.names]
            uses = [use for name in names for use in self.reads_of_name(name)]
            if all(use in self.removed for use in uses) and (uses or tops == {also}):
                self.comment_out_statement(node)
