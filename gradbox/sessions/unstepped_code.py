"""Code in the user's process that runs without steps: the user's modules that get none, and other threads.

What a statement with steps changes can be read from its text and from what its values lead to. Code without steps may
change more: what its module's globals hold and, while it waits for a function that it has called, anything that its
frame holds. torch and installed packages change only what they are given, as on the server.
"""

import ast
import site
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch

from gradbox.language.tree import SyntaxNodes
from gradbox.recorder import introspection, stack
from gradbox.recorder.effects import can_access_saved_tensors, does_name_expose_memory
from gradbox.sessions.recording_cost import FullObservationReason
from gradbox.sessions.unstepped_calls import UnsteppedCalls

THREADS_WITHOUT_TENSORS = frozenset(("IPython", "gradbox", "ipykernel", "ipykernel_launcher", "tornado", "tqdm", "zmq"))
"""Packages whose threads only draw progress or talk to a notebook."""

MAX_MODULES = 40
"""The user's modules without steps whose globals are searched. With more, each step observes everything."""

_UNCHANGEABLE_TYPES = (
    bool, int, float, complex, str, bytes, type(None), range, ModuleType, BuiltinFunctionType, CodeType, torch.dtype,
    torch.device,
)  # fmt: skip
"""Types of values that lead to nothing that can change."""


class UnsteppedCode:
    """What the process runs beside the files with steps.

    namespace: of the program's main file
    unstepped_calls: calls of functions that otherwise have steps
    looks: how often everything had to be observed, by reason
    """

    def __init__(self, namespace: dict[str, Any], unstepped_calls: UnsteppedCalls) -> None:
        self._namespace, self._unstepped_calls = namespace, unstepped_calls
        self.looks: Counter[FullObservationReason] = Counter()
        self._classified: dict[str, ModuleType] = {}
        self._modules: dict[str, ModuleType] = {}
        self._is_foreign: dict[CodeType, bool] = {}
        self._exposes_memory = self._has_other_threads = self._reaches_into_graph = False
        self._has_earlier_functions = any(
            is_function_of_namespace_without_steps(value, namespace) for value in list(namespace.values())
        )

    def may_change_anything(self, frame: FrameType | None) -> bool:
        """Whether it may change more than the running statement shows.

        frame: the innermost frame that runs
        """
        self._classify_new_modules()
        has_passed = self._unstepped_calls.take_has_run_unstepped(frame)
        had_other_threads, self._has_other_threads = self._has_other_threads, has_other_threads()
        reason: FullObservationReason | None = None
        if has_passed:
            reason = "unstepped_calls"
        elif self._has_earlier_functions:
            reason = "earlier_functions"
        elif self._exposes_memory:
            reason = "exposed_memory"
        elif len(self._modules) > MAX_MODULES:
            reason = "modules"
        elif had_other_threads or self._has_other_threads:  # one that is over now may have run since the last step
            reason = "threads"
        elif self._waits_for_program(frame):
            reason = "callbacks"
        if reason is not None:
            self.looks[reason] += 1
        return reason is not None

    def values(self) -> Iterator[Any]:
        """Values to which the globals of the user's modules without steps lead, if they can change."""
        for name, module in list(self._modules.items()):
            if sys.modules.get(name) is module:
                yield from values_reachable_from_namespace(vars(module), name)

    def _classify_new_modules(self) -> None:
        if len(self._classified) == len(sys.modules):
            return
        for name, module in list(sys.modules.items()):
            if self._classified.get(name) is module:
                continue
            self._classified[name] = module
            self._modules.pop(name, None)
            if type(module) is ModuleType and vars(module) is not self._namespace:
                path = vars(module).get("__file__")
                if type(path) is str and not is_installed_file(path) and path not in stack.line_offsets:
                    self._modules[name] = module
                    self._note_use_of_file(path)
        for name in self._classified.keys() - sys.modules.keys():
            del self._classified[name]

    def can_access_saved_tensors(self) -> bool:
        """Whether its text contains names through which a saved tensor can be changed without an operation."""
        return self._has_earlier_functions or self._reaches_into_graph

    def _note_use_of_file(self, path: str) -> None:
        """Note, for a new module without steps, what its text does."""
        try:
            status = Path(path).stat()
        except OSError:
            exposes_memory = reaches = True
        else:
            exposes_memory, reaches = exposes_memory_and_saved_tensors(path, status.st_mtime_ns, status.st_size)
        self._exposes_memory = self._exposes_memory or exposes_memory
        self._reaches_into_graph = self._reaches_into_graph or reaches

    def _waits_for_program(self, frame: FrameType | None) -> bool:
        """Whether the user's code without steps has called a function with steps and waits for it."""
        waits = False
        for outer in stack.frames_outward(frame):
            code = outer.f_code
            foreign = self._is_foreign.get(code)
            if foreign is None:
                path = code.co_filename
                foreign = not (path.startswith("<") or stack.is_program_code(code) or is_installed_file(path))
                self._is_foreign[code] = foreign
            waits = waits or foreign
            if waits and stack.is_program_code(code):
                return True
        return False


@lru_cache(4096)
def exposes_memory_and_saved_tensors(path: str, _modified: int, _size: int) -> tuple[bool, bool]:
    """Whether the text of a module (other than imports) hands out memory, and whether it reaches into the graph.

    Kept from one recording of a process to the next, each of which meets all of the user's modules.
    """
    try:
        nodes = SyntaxNodes(ast.parse(Path(path).read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return True, True
    words = {node.id for node in nodes.of_kind(ast.Name)} - {"np", "numpy"}
    words |= {node.attr for node in nodes.of_kind(ast.Attribute)}
    return any(does_name_expose_memory(word) for word in words), can_access_saved_tensors(nodes)


def values_reachable_from_namespace(members: Mapping[str, Any], module: str, depth: int = 0) -> Iterator[Any]:
    """The values to which a namespace leads: a module's globals, what its functions keep, and the same for its
    classes."""
    for value in list(dict.values(members) if type(members) is dict else members.values()):
        kind = type(value)
        if kind is FunctionType:
            yield from filter(None, (value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__))
        elif issubclass(kind, type):
            if depth < 2 and introspection.class_module(value) == module:
                yield from values_reachable_from_namespace(introspection.class_dict(value), module, depth + 1)
        elif not issubclass(kind, _UNCHANGEABLE_TYPES):
            yield value


def is_function_of_namespace_without_steps(value: Any, namespace: dict[str, Any]) -> bool:
    """Whether a value is a function from before the recording that has no steps and may bind names of the namespace."""
    if type(value) is not FunctionType or value.__globals__ is not namespace:
        return False
    return not stack.is_program_code(value.__code__)


def has_other_threads() -> bool:
    """Whether another Python thread runs that may hold tensors."""
    if threading.active_count() == 1:
        return False
    current = threading.current_thread()
    return any(thread is not current and not is_thread_without_tensors(thread) for thread in threading.enumerate())


def is_thread_without_tensors(thread: threading.Thread) -> bool:
    """Whether a thread only draws progress or talks to a notebook, or is the main thread, which waits for the recorded
    one."""
    target = getattr(thread, "_target", None)
    modules = introspection.class_module(type(thread)), getattr(target, "__module__", None) or ""
    return any(str(name).partition(".")[0] in THREADS_WITHOUT_TENSORS for name in modules)


def installation_folders() -> tuple[str, ...]:
    """The folders of Python's own modules, of installed packages, and of gradbox."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {sysconfig.get_paths().get(name) for name in names}
    folders |= {sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_prefix}).get(n) for n in names}
    folders |= {*site.getsitepackages(), site.getusersitepackages()} if hasattr(site, "getsitepackages") else set()
    folders |= set(folders_of_installed_packages(sys.path[1:]))  # the first is the script's own
    folders |= {str(Path(path).resolve()) for path in folders if path}
    folders |= {str(stack.PROJECT_FOLDER / "gradbox"), str(Path(torch.__path__[0]).parent)}
    return tuple(f"{path}/" for path in folders if path)


def folders_of_installed_packages(folders: Iterable[str]) -> Iterator[str]:
    """The folders that `pip install --target` filled and that are found by PYTHONPATH; never the working folder."""
    for folder in folders:
        if folder and Path(folder).resolve() != Path.cwd() and any(Path(folder).glob("*.dist-info")):
            yield folder


INSTALLATION_FOLDERS = installation_folders()


def is_installed_file(path: str) -> bool:
    """Whether a file belongs to Python, to an installed package, or to gradbox."""
    return path.startswith((*INSTALLATION_FOLDERS, "<frozen "))
