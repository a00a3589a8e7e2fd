"""Modules that a program imports are stepped like its own file where their names match."""

import fnmatch
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source
from types import CodeType, ModuleType
from typing import Any, Self

CompileModule = Callable[[str, str], CodeType | None]
"""Of a path and its text: the code that is run in the place of the plain one; None for the plain one."""


class RecordedImports:
    """While entered, it is asked first for each module that is imported.

    patterns: globs of full names, like `pkg.*`; a package that matches has its modules stepped too. Modules that were
    imported before, and those that are not read from a Python file, stay as they are.
    """

    def __init__(self, patterns: Sequence[str], compile_module: CompileModule) -> None:
        self._patterns, self._compile_module = patterns, compile_module

    def __enter__(self) -> Self:
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def matches(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) or name.startswith(pattern + ".") for pattern in self._patterns)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the finders after this one find, with a loader that steps. Called by the import system."""
        if not self.matches(name):
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None else None
            if spec is not None:
                if type(spec.loader) is SourceFileLoader:
                    spec.loader = RecordedLoader(name, spec.loader.path, self._compile_module)
                return spec
        return None


class RecordedLoader(SourceFileLoader):
    """Loads a module as ever, but for the code that runs."""

    def __init__(self, name: str, path: str, compile_module: CompileModule) -> None:
        super().__init__(name, path)
        self._compile_module = compile_module

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        code = self._compile_module(path, decode_source(self.get_data(path)))
        return super().get_code(fullname) if code is None else code
