"""The code of a session: its files as one source, what they are compiled to, and the plain code of the same text."""

import ast
from collections.abc import Sequence
from types import CodeType

from gradbox.recorder import stack
from gradbox.recorder.instrument import Statements, instrument
from gradbox.sessions import process_changes
from gradbox.sessions.header import shown_name
from gradbox.sessions.hooks import Hooks, compile_with_hooks
from gradbox.sessions.options import ProgramFile
from gradbox.sessions.plain_code import CodePairs, code_pairs, restore_plain_code
from gradbox.sessions.statement_table import StatementTable
from gradbox.wire.program import line_count


class SessionCode:
    """The files whose statements are stepped, one behind the other in the program's source, and their code.

    line_offsets: how many lines of the program's source come before a file, by its path.
    """

    def __init__(self, files: Sequence[ProgramFile]) -> None:
        self.files: list[ProgramFile] = []
        self.line_offsets: dict[str, int] = {}
        self.statements = Statements()
        self.statements.passes_mutators = True  # code that is not stepped may change anything
        self._line_count = 0
        self._modules: dict[str, tuple[str, CodeType]] = {}
        self._code_pairs: CodePairs = {}
        for file in files:
            self._append_file(file)

    def _append_file(self, file: ProgramFile) -> None:
        self.files.append(file)
        self.line_offsets[file.path] = self._line_count
        self._line_count += line_count(file.source)

    def compile(self, tree: ast.Module, path: str, hooks: Hooks, flags: int = 0) -> CodeType:
        """The instrumented code of a file. flags: as `compile` takes them. Raises what the compiler raises."""
        plain = compile(tree, path, "exec", flags, dont_inherit=True)  # warns as plain Python does
        code = compile_with_hooks(tree, path, self.statements, self.line_offsets[path], hooks, flags)
        self._code_pairs.update((id(pair[0]), pair) for pair in code_pairs(code, plain))
        return code

    def compile_module(self, path: str, source: str, hooks: Hooks) -> CodeType | None:
        """The code of a module that is imported, which becomes a file of the program; None where it has come with another
        text before, whose lines are others. Raises what the compiler raises.
        """
        known = self._modules.get(path)
        if known is not None:  # it is loaded anew
            return known[1] if known[0] == source else None
        self._append_file(ProgramFile(path, shown_name(path, self.files[0].path), source))
        stack.line_offsets[path] = self.line_offsets[path]
        process_changes.add_program_classes(path)
        code = self.compile(ast.parse(source, path), path, hooks)
        self._modules[path] = (source, code)
        return code

    def statement_tables(self) -> dict[str, StatementTable]:
        """The statements of each file's code as it is, by path: to follow it without changing it."""
        tables: dict[str, StatementTable] = {}
        for file in self.files:
            first = len(self.statements.rows)
            instrument(ast.parse(file.source, file.path), self.statements, self.line_offsets[file.path])
            tables[file.path] = StatementTable(ast.parse(file.source, file.path), self.statements, first)
        self.statements.passes_mutators = True
        return tables

    def restore(self) -> None:
        """Give the functions that have instrumented code the plain one."""
        restore_plain_code(self._code_pairs)
        self._code_pairs.clear()

    def forget(self) -> None:
        """Leave functions as they are."""
        self._code_pairs.clear()
