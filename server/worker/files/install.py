"""Gives this process, which is a program's own, files in memory in the place of the machine's."""

import builtins
import bz2
import glob
import inspect
import io
import json
import os
import shutil
import tarfile
import tempfile
from types import FunctionType
from typing import Any

from numpy.lib import _datasource
from torch.autograd import profiler

from server.worker.files.archives import use_file_tree
from server.worker.files.streams import OpenFiles
from server.worker.files.system import SystemCalls
from server.worker.files.tree import HOME, FileTree


def install_files() -> None:
    """Have `open`, the functions of `os` and torch's archives use a tree in memory, for good. It begins empty.

    This makes programs work; it keeps nobody in: the machine's files are denied by the confinement.
    """
    files = OpenFiles(FileTree(), io.open)
    calls = SystemCalls(files.tree, files).replacements()
    replace_defaults(tempfile, {getattr(os, name): call for name, call in calls.items()})
    vars(os).update(calls)
    globber: Any = getattr(glob, "_StringGlobber", None)  # of pathlib, since Python 3.13
    if globber is not None:
        globber.lstat, globber.scandir = staticmethod(os.lstat), staticmethod(os.scandir)
    builtins.open = io.open = files.open  # type: ignore[assignment]
    bz2._builtin_open = tarfile.bltn_open = files.open  # type: ignore[attr-defined]
    _datasource._file_openers._file_openers[None] = files.open  # type: ignore[attr-defined]
    use_file_tree(files)
    export_profiles_by_python()
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    os.environ["HOME"] = HOME


def export_profiles_by_python() -> None:
    """Have profilers write their traces by Python's `open`: by default C++ writes to the disk."""
    export: FunctionType = vars(profiler.profile)["export_chrome_trace"]
    defaults = {name: p.default for name, p in inspect.signature(export).parameters.items() if p.default is not p.empty}
    if "use_python_export" in defaults:
        export.__defaults__ = (*(defaults | {"use_python_export": True}).values(),)
    else:  # torch 2.11
        profiler.profile.export_chrome_trace = _export_events  # type: ignore[assignment]


def _export_events(profile: Any, path: str) -> None:
    """A method of torch's profiler: writes its events in Chrome's format, by Python. Other versions have them in an object."""
    profile._ensure_function_events()
    profile._function_events.export_chrome_trace(path)
    with open(path) as file:
        events = json.load(file)
    with open(path, "w") as file:
        json.dump({"traceEvents": events}, file)


def replace_defaults(module: Any, replacements: dict[Any, Any]) -> None:
    """Replace the functions that methods of a module's classes have as default values of their parameters."""
    for kind in vars(module).values():
        for function in vars(kind).values() if isinstance(kind, type) else ():
            if isinstance(function, FunctionType) and function.__defaults__:
                function.__defaults__ = tuple(
                    replacements.get(value, value) if callable(value) else value for value in function.__defaults__
                )
