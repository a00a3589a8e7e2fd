"""The changes that a session makes to the process, each of which it can undo, and the import of modules with steps."""

import contextlib
import fnmatch
import itertools
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source
from types import CodeType, ModuleType
from typing import Any, Self

from gradbox.recorder import introspection, stack
from gradbox.sessions.own_modules import OwnModules

ModuleCompiler = Callable[[str, str], CodeType | None]
"""Takes a path and its text and returns the code to run instead of the plain one; None for the plain one."""


class RecordingImportFinder:
    """While entered, it is asked first for each module that is imported.

    Modules that were imported before, and those that are not read from a Python file, stay as they are.

    patterns: globs of full names, like `pkg.*`; if a package matches, its modules get steps too
    """

    def __init__(self, patterns: Sequence[str], compile_module: ModuleCompiler) -> None:
        self._patterns, self._compile_module = patterns, compile_module

    def __enter__(self) -> Self:
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def matches_module(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) or name.startswith(pattern + ".") for pattern in self._patterns)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the finders after this one find, with a loader that adds steps. Called by the import system."""
        if not self.matches_module(name):
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None else None
            if spec is not None:
                if type(spec.loader) is SourceFileLoader:
                    spec.loader = RecordingLoader(name, spec.loader.path, self._compile_module)
                return spec
        return None


class OwnModuleFinder(RecordingImportFinder):
    """The same for the project's modules, which were not named by the user.

    It passes on what the finders after it find, so that each of them is asked once.

    patterns: those of the other finder
    """

    def __init__(self, patterns: Sequence[str], own_modules: OwnModules, compile_module: ModuleCompiler) -> None:
        super().__init__(patterns, compile_module)
        self._own_modules = own_modules

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None else None
            if spec is None:
                continue
            loader = spec.loader
            if (
                type(loader) is SourceFileLoader
                and not self.matches_module(name)
                and self._own_modules.source_if_stepped(loader.path) is not None
            ):
                spec.loader = RecordingLoader(name, loader.path, self._compile_module)
            return spec
        return None


class RecordingLoader(SourceFileLoader):
    """Loads a module as usual, except for the code that runs."""

    def __init__(self, name: str, path: str, compile_module: ModuleCompiler) -> None:
        super().__init__(name, path)
        self._compile_module = compile_module

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        code = self._compile_module(path, decode_source(self.get_data(path)))
        return super().get_code(fullname) if code is None else code


@contextlib.contextmanager
def program_files_registered(line_offsets: dict[str, int]) -> Iterator[None]:
    """Register these files as the program's inside the block. `line_offsets` says where each begins, and may grow."""
    before = stack.line_offsets.copy()
    stack.line_offsets.clear()
    stack.line_offsets.update(line_offsets)
    try:
        yield
    finally:
        stack.unstepped_calls.clear()
        stack.line_offsets.clear()
        stack.line_offsets.update(before)


@contextlib.contextmanager
def program_classes_registered(paths: Iterable[str]) -> Iterator[None]:
    """Register classes of these files' modules as the program's inside the block. `register_program_classes` may add
    more."""
    before = introspection.program_modules.copy()
    for path in paths:
        register_program_classes(path)
    try:
        yield
    finally:
        introspection.program_modules.clear()
        introspection.program_modules.update(before)


def register_program_classes(path: str) -> None:
    """Register classes of modules from this file, imported or being imported, as the program's."""
    for name, module in list(sys.modules.items()):
        if type(module) is ModuleType and vars(module).get("__file__") == path:
            introspection.program_modules.add(name)


@contextlib.contextmanager
def instance_dicts_sped_up_at_exit() -> Iterator[None]:
    """After the block, make the attributes of instances whose `__dict__` was read as fast as those of others.

    Python 3.11 and 3.12 keep attributes in the instance until then. Afterwards they read them from a dictionary that
    shares its class's keys, which is three times as slow; a dictionary with its own keys is nearly as fast as none.
    Python 3.13 keeps attributes in the instance.
    """
    before = introspection.instances_with_new_dict
    introspection.instances_with_new_dict = [] if sys.version_info < (3, 13) else None
    try:
        yield
    finally:
        given, introspection.instances_with_new_dict = introspection.instances_with_new_dict, before
        for reference in given or ():
            instance = reference()
            members = None if instance is None else introspection.instance_dict(instance)
            if members:
                _unshare_dict_keys(members)


def _unshare_dict_keys(members: dict[str, Any]) -> None:
    """Make Python give the dict its own keys by removing the last one, which is restored before another thread can
    look."""
    deque(itertools.starmap(members.__setitem__, map(dict.popitem, (members,))), 0)


@contextlib.contextmanager
def recursion_limit_raised() -> Iterator[None]:
    """Let the program go as deep inside the block as without the recorder, which needs a few frames of its own."""
    before = sys.getrecursionlimit()
    raised = before + stack.RECURSION_SLACK
    sys.setrecursionlimit(raised)
    try:
        yield
    finally:
        if sys.getrecursionlimit() == raised:
            sys.setrecursionlimit(before)


@contextlib.contextmanager
def recorder_frames_hidden_in_tracebacks(module_is_outermost: bool) -> Iterator[None]:
    """Make `traceback` print stacks without the recorder's frames inside the block."""
    before = traceback.walk_stack
    walk = stack.walk_program_stack if module_is_outermost else stack.walk_stack_without_recorder
    setattr(traceback, "walk_stack", walk)
    try:
        yield
    finally:
        if traceback.walk_stack is walk:
            setattr(traceback, "walk_stack", before)
