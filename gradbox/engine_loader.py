"""Imports modules of our package `server` so that the program's own `server`, if it has one, stays what it finds.

Our modules are kept in `sys.modules` as `gradbox.engine.server…`. Each runs with builtins of its own, whose `__import__`
answers `from server.wire import trace` with `gradbox.engine.server.wire.trace`, now and in imports that come late.
`sys.path`, `sys.meta_path` and the builtins of everyone else stay as they are.
"""

import builtins
import importlib
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_PACKAGE_FOLDER = Path(__file__).resolve().parent

ENGINE_FOLDER = _PACKAGE_FOLDER / "engine" if (_PACKAGE_FOLDER / "engine").is_dir() else _PACKAGE_FOLDER.parent
"""Where `server`, `static`, `templates` and `scenarios` are: beside this file in a wheel, beside its folder in a checkout."""

ENGINE_PREFIX = "gradbox.engine."

_lock = threading.RLock()


def load(name: str) -> Any:
    """A module of ours, imported if need be.

    name: as in a checkout, "gradbox.wire.trace". Raises ImportError, and what the module raises when it is imported.
    In a process whose `server` is ours already, like a test's, that one is used: a second copy of the recorder in one
    process would register its kernels twice.
    """
    if ENGINE_PREFIX + "server" not in sys.modules and is_engine_package(sys.modules.get("server")):
        return importlib.import_module(name)
    return _load(name)


def is_engine_package(module: ModuleType | None) -> bool:
    """Whether a module called `server` is the one that belongs to this package."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).resolve() == ENGINE_FOLDER / "server/__init__.py"


def _load(name: str) -> ModuleType:
    with _lock:
        module = sys.modules.get(ENGINE_PREFIX + name)
        if module is not None:
            return module
        package, _, last = name.rpartition(".")
        parent = _load(package) if package else None
        path = _source_path(name)
        if path is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        module = _execute_module(ENGINE_PREFIX + name, path)
        if parent is not None:
            setattr(parent, last, module)
        return module


def _source_path(name: str) -> Path | None:
    """The file of a module or package of ours."""
    path = ENGINE_FOLDER.joinpath(*name.split("."))
    return next((file for file in (path / "__init__.py", path.with_name(path.name + ".py")) if file.is_file()), None)


def _execute_module(full_name: str, path: Path) -> ModuleType:
    """Make a module of a file, with our builtins, and run it."""
    folders = [str(path.parent)] if path.name == "__init__.py" else None
    loader = SourceFileLoader(full_name, str(path))
    spec = spec_from_file_location(full_name, path, loader=loader, submodule_search_locations=folders)
    assert spec is not None
    module = module_from_spec(spec)
    module.__dict__["__builtins__"] = ENGINE_BUILTINS
    sys.modules[full_name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[full_name]
        raise
    return module


def _engine_import(
    name: str,
    globals_: Mapping[str, object] | None = None,
    locals_: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """`__import__` of our modules: for `server…` theirs, for all else the ordinary one."""
    if level or name.partition(".")[0] != "server":
        return builtins.__import__(name, globals_, locals_, fromlist or (), level)
    module = _load(name)
    if not fromlist:
        return sys.modules[ENGINE_PREFIX + "server"]
    for attribute in fromlist:
        if not hasattr(module, attribute) and _source_path(f"{name}.{attribute}") is not None:
            _load(f"{name}.{attribute}")
    return module


ENGINE_BUILTINS = {**vars(builtins), "__import__": _engine_import}
