"""The code of a session: its files as one source, their compiled code, and the first line of its trace.

Functions that outlive the session get back the code that they would have had without it.
"""

import ast
import gc
import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import cast

import numpy as np
import torch

from gradbox import __version__
from gradbox.language.statement_syntax import statement_records
from gradbox.language.tree import SyntaxNodes
from gradbox.notebook.notebook_cells import cell_name
from gradbox.recorder import stack
from gradbox.recorder.instrument import ProgramStatements, instrument_tree
from gradbox.recorder.trace_lines import device_name
from gradbox.sessions import process_changes
from gradbox.sessions.hooks import InstrumentationHooks, compile_with_hooks
from gradbox.sessions.options import SessionFile, SessionOptions
from gradbox.sessions.statement_table import StatementTable
from gradbox.wire.program import FileText, join_files, line_count
from gradbox.wire.records import HeaderRecord, ProgramFileRecord, ProgramRecord, RuntimeRecord


def build_header_record(
    program_files: Sequence[SessionFile],
    statements: ProgramStatements,
    limits: dict[str, int | float],
    options: SessionOptions,
    seed: int,
) -> HeaderRecord:
    """The header of a trace of these files, whose statements are in the table.

    seed: torch's seed when the recording began
    """
    source, files = join_files(FileText(file.name, file.path, file.source) for file in program_files)
    device = "cuda" if torch.cuda.is_initialized() else "cpu"  # type: ignore[no-untyped-call]
    runtime: RuntimeRecord = {
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "tracer": __version__,
        "device": device,
        "device_name": device_name(device),
        "seed": seed,
        "hash_seed": int(os.environ.get("PYTHONHASHSEED", "0").replace("random", "0") or 0),
        "threads": torch.get_num_threads(),
        "limits": limits,
    }
    if options.arguments:
        runtime["arguments"] = list(options.arguments)
    if options.region is not None:
        runtime["regions"] = [options.region]
    lines = source.split("\n")
    program: ProgramRecord = {
        "source": source,
        "lines": [k + 1 for k in range(len(lines))],
        "statements": statement_records(source, statements.rows, statements.syntaxes),
        "notices": [],
    }
    if files:
        program["files"] = [cast(ProgramFileRecord, file.model_dump(mode="json")) for file in files]
    return {"schema": 1, "program": program, "runtime": runtime}


def displayed_file_name(path: str, main: str) -> str:
    """The displayed name of a file: relative to the main file's folder if it lies in it, or the name of a notebook
    cell."""
    if cell := cell_name(path):
        return cell
    try:
        return Path(path).resolve().relative_to(Path(main).resolve().parent).as_posix()
    except ValueError:
        return Path(path).name


CodePairs = dict[int, tuple[CodeType, CodeType]]
"""For each `id` of instrumented code: that code, and the code that the compiler makes of the same text."""


def code_pairs(instrumented: CodeType, plain: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Pairs of code objects from two compiled_codes_of_text of one text, including functions and classes in them."""
    yield instrumented, plain
    inner, plain_inner = (
        [constant for constant in code.co_consts if isinstance(constant, CodeType)] for code in (instrumented, plain)
    )
    if [comparable_code_parts(code) for code in inner] == [comparable_code_parts(code) for code in plain_inner]:
        for inner_code, plain_inner_code in zip(inner, plain_inner, strict=True):
            yield from code_pairs(inner_code, plain_inner_code)


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def compiled_codes_of_text(source: str, path: str) -> Iterator[CodeType]:
    """The code of a file as Python compiles it; of a notebook's cell also as IPython does, statement by statement.
    Python compiles a call like `torch.relu(x)` in another way where the same text imports `torch`."""
    tree = ast.parse(source, path)
    yield compile(tree, path, "exec", dont_inherit=True)
    for statement in tree.body if cell_name(path) else ():
        yield compile(ast.Module([statement], []), path, "exec", dont_inherit=True)


def comparable_code_parts(code: CodeType) -> tuple[object, ...]:
    """What the two code objects of one text have in common."""
    return code.co_qualname, code.co_firstlineno, code.co_freevars, code.co_varnames[: code.co_argcount]


def code_location(code: CodeType) -> tuple[str, str, int]:
    """Where a code object stands: its file, its name, its first line."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


def restore_plain_code(pairs: CodePairs) -> None:
    """Give every function with instrumented code its plain code. Running and suspended frames keep what they have."""
    for function in gc.get_objects() if pairs else ():
        if type(function) is FunctionType:
            instrumented, plain = pairs.get(id(function.__code__), (None, None))
            if plain is not None and instrumented is function.__code__:
                function.__code__ = plain


class SessionCode:
    """The files with steps, one after the other in the program's source, and their code.

    line_offsets: for each file's path, how many lines of the program's source come before it
    """

    def __init__(self, files: Sequence[SessionFile]) -> None:
        self.files: list[SessionFile] = []
        self.line_offsets: dict[str, int] = {}
        self.statements = ProgramStatements()
        self._line_count = 0
        self._modules: dict[str, tuple[str, CodeType]] = {}
        self._code_pairs: CodePairs = {}
        self._running: set[str] = set()  # the files that came because code of theirs ran
        for file in files:
            self._append_file(file)

    def _append_file(self, file: SessionFile) -> None:
        self.files.append(file)
        self.line_offsets[file.path] = self._line_count
        self._line_count += line_count(file.source)

    def compile_file(
        self,
        tree: ast.Module,
        path: str,
        hooks: InstrumentationHooks,
        flags: int = 0,
        functions_only: bool = False,
    ) -> CodeType:
        """The instrumented code of a file. Raises what the compiler raises.

        flags: as `compile` takes them
        functions_only: the module's own statements have no steps
        """
        plain = compile(tree, path, "exec", flags, dont_inherit=True)  # warns as plain Python does
        code = compile_with_hooks(tree, path, self.statements, self.line_offsets[path], hooks, flags, functions_only)
        self._code_pairs.update((id(pair[0]), pair) for pair in code_pairs(code, plain))
        return code

    def compile_imported_module(
        self, path: str, source: str, hooks: InstrumentationHooks, functions_only: bool = False
    ) -> CodeType | None:
        """The code of an imported module, which becomes a file of the program. None if it was added before with another
        text, whose lines differ. Raises what the compiler raises."""
        known = self._modules.get(path)
        if known is not None:  # it is loaded anew
            return known[1] if known[0] == source else None
        self._append_file(SessionFile(path, displayed_file_name(path, self.files[0].path), source))
        stack.line_offsets[path] = self.line_offsets[path]
        process_changes.register_program_classes(path)
        code = self.compile_file(ast.parse(source, path), path, hooks, functions_only=functions_only)
        self._modules[path] = (source, code)
        return code

    def instrument_imported_modules(self, modules: Sequence[tuple[str, str, InstrumentationHooks]]) -> None:
        """Give steps from now on to the functions of modules that are imported already, if their code is what the text
        compiles to.

        modules: their paths, texts and hooks
        """
        by_place: dict[tuple[str, str, int], CodeType] = {}
        plain_codes: set[tuple[tuple[str, str, int], bytes]] = set()
        for path, source, hooks in modules:
            try:
                plain = [*compiled_codes_of_text(source, path)]
                tree = ast.parse(source, path)
            except (SyntaxError, ValueError):
                continue
            self._append_file(SessionFile(path, displayed_file_name(path, self.files[0].path), source))
            stack.line_offsets[path] = self.line_offsets[path]
            process_changes.register_program_classes(path)
            code = compile_with_hooks(tree, path, self.statements, self.line_offsets[path], hooks, functions_only=True)
            self._modules[path] = source, code
            by_place |= {code_location(old): new for new, old in code_pairs(code, plain[0])}
            plain_codes |= {(code_location(old), old.co_code) for each in plain for old in nested_codes(each)}
        for function in gc.get_objects() if by_place else ():
            if type(function) is not FunctionType:
                continue
            running = function.__code__
            new = by_place.get(code_location(running))
            if new is None or (code_location(running), running.co_code) not in plain_codes:
                continue
            if new.co_freevars == running.co_freevars:
                self._code_pairs[id(new)] = new, running
                function.__code__ = new

    def plain_statement_tables(self) -> dict[str, StatementTable]:
        """The statements of each file's plain code, by path, except for files of `add_running_file`: they serve to
        follow it unchanged."""
        return {file.path: self._plain_statement_table(file) for file in self.files if file.path not in self._running}

    def _plain_statement_table(self, file: SessionFile) -> StatementTable:
        first = len(self.statements.rows)
        instrument_tree(SyntaxNodes(ast.parse(file.source, file.path)), self.statements, self.line_offsets[file.path])
        return StatementTable(ast.parse(file.source, file.path), self.statements, first)

    def add_running_file(self, code: CodeType, source: str) -> StatementTable | None:
        """Add a file whose plain code is about to run to the program, and return its statements; None if the text is
        not what the code was compiled from.

        code: the code of a function in it
        """
        path = code.co_filename
        try:
            compiled = [*compiled_codes_of_text(source, path)]
        except (SyntaxError, ValueError):
            return None
        if not any(
            other.co_code == code.co_code and comparable_code_parts(other) == comparable_code_parts(code)
            for each in compiled
            for other in nested_codes(each)
        ):
            return None
        self._append_file(SessionFile(path, displayed_file_name(path, self.files[0].path), source))
        stack.line_offsets[path] = self.line_offsets[path]
        process_changes.register_program_classes(path)
        self._running.add(path)
        return self._plain_statement_table(self.files[-1])

    def restore_plain_functions(self) -> None:
        """Give the functions with instrumented code their plain code."""
        restore_plain_code(self._code_pairs)
        self._code_pairs.clear()

    def forget_code_pairs(self) -> None:
        """Leave functions as they are."""
        self._code_pairs.clear()
