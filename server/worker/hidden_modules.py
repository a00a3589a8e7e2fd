"""Modules that are loaded and yet not imported: removed from `sys.modules`, and found there again by an import.

To the program such an import looks as if the module had been read from the disk just then: its package has it as an
attribute, its warnings come, and what it sets on other modules is set.
"""

import builtins
import contextlib
import functools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from types import FrameType, ModuleType
from typing import Any

from gradbox.language.policy import ALLOWED_MODULES

REPLACED_NAMES = {("torch", "manual_seed"): "torch._dynamo"}
"""Names that another module replaces when it is imported."""

WARNING_REGISTRY, MISSING = "__warningregistry__", object()


class HiddenModules:
    """A finder of imports whose modules are loaded already, but in no namespace until they are imported.

    collector_name: the name of the module that imports them while they are collected.
    """

    def __init__(self, collector_name: str) -> None:
        self._collector_name = collector_name
        self._modules: dict[str, ModuleType] = {}
        self._imports_of: dict[str, set[str]] = {}  # a module -> what its code imports when it runs
        self._names: list[str] = []
        self._closures: dict[str, int] = {}  # a module -> what comes with it, as a bit set over `_names`
        self._previous_attributes: dict[str, Any] = {}  # a module -> what its package called so before
        # a module -> attributes that its import sets on other modules
        self._attributes: dict[str, list[tuple[ModuleType, str, Any]]] = {}
        self._filters: dict[str, list[tuple[Any, ...]]] = {}  # a module -> filters for its own kind of warning
        self._warnings: dict[str, list[Callable[[], None]]] = {}  # a module -> what repeats the warnings of its import
        self._visible: dict[str, ModuleType] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._collecting = True

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Hide what is imported within, and undo what its import did to the modules that stay."""
        visible, filters, import_ = dict(sys.modules), list(warnings.filters), builtins.__import__
        warned = {name for name, module in visible.items() if WARNING_REGISTRY in module_attributes(module)}
        patched = {(package, key): module_attributes(visible[package])[key] for package, key in REPLACED_NAMES}
        self._visible = visible
        builtins.__import__ = functools.partial(self._import, import_)
        sys.meta_path.insert(0, self)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = self._record_warning  # type: ignore[assignment]
                yield
                for added in warnings.filters:
                    if added not in filters:
                        self._filters.setdefault(added[2].__module__, []).append(added)
        finally:
            builtins.__import__ = import_
            self._collecting = False
        for name in [name for name in sys.modules if name not in visible]:
            if name.partition(".")[0] in ALLOWED_MODULES or name in self._filters:
                self._modules[name] = sys.modules.pop(name)
        self._compute_closures()
        for at, (name, module) in enumerate(self._modules.items()):
            package, key = name.rpartition(".")[::2]
            parent = visible.get(package) or self._modules.get(package)
            comes_along = self._closures.get(package, 0) >> at & 1
            if parent is not None and not comes_along and module_attributes(parent).get(key) is module:
                self._hide(parent, key, self._previous_attributes.get(name, MISSING), name)
        for (package, key), value in patched.items():
            if module_attributes(visible[package])[key] is not value:
                self._hide(visible[package], key, value, REPLACED_NAMES[package, key])
        for name, module in visible.items():
            if WARNING_REGISTRY in module_attributes(module) and name not in warned:
                delattr(module, WARNING_REGISTRY)

    def _compute_closures(self) -> None:
        """Compute what comes with each module. Following its imports in a child would copy every page on the way."""
        self._names = list(self._modules)
        self._closures = {name: 1 << at for at, name in enumerate(self._names)}
        for name in self._names:
            self._imports_of.setdefault(name, set()).add(name.rpartition(".")[0])
        self._imports_of.pop("", None)  # what was needed by no hidden module
        growing = True
        while growing:
            growing = False
            for name, needs in self._imports_of.items():
                closure = before = self._closures.get(name, 0)
                for need in needs:
                    closure |= self._closures.get(need, 0)
                if closure != before:
                    self._closures[name], growing = closure, True
        self._imports_of.clear()

    def _hide(self, owner: ModuleType, key: str, before: Any, setter: str) -> None:
        """Put an attribute back to what it was before, until the module `setter` is imported."""
        self._attributes.setdefault(setter, []).append((owner, key, module_attributes(owner)[key]))
        if before is MISSING:
            delattr(owner, key)
        else:
            setattr(owner, key, before)

    def _import(
        self,
        import_: Callable[..., ModuleType],
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 callers may use the names that it has in `builtins`
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """`builtins.__import__` while modules are collected: note what the importing module needs."""
        module = import_(name, globals, locals, fromlist, level)
        full_name = resolve_name("." * level + name, (globals or {}).get("__package__")) if level else name
        listed: Sequence[str] = getattr(module, "__all__", ())
        members = [member for part in fromlist or () for member in (listed if part == "*" else (part,))]
        needs = self._imports_of.setdefault(self._importing_module(), set())
        needs.update([full_name, *(f"{full_name}.{member}" for member in members)])
        return module

    def _record_warning(self, message: Warning, category: type, path: str, line: int, *_: object) -> None:
        """`warnings.showwarning` while modules are collected: keep what repeats the warning at a later import."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != path:
            frame = frame.f_back
        importer = (None, "importlib", self._collector_name)
        if frame is None or frame.f_globals.get("__name__") in importer:  # meant for whoever imports
            repeat = functools.partial(warnings.warn, message, category, 2)
        else:
            repeat = functools.partial(repeat_warning, message, category, path, line, frame.f_globals)
        self._warnings.setdefault(self._importing_module(), []).append(repeat)

    def _importing_module(self) -> str:
        """The hidden module whose code runs now, be it in a function that it calls; "" where there is none."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        name: str = frame.f_globals.get("__name__", "") if frame is not None else ""
        return "" if name in self._visible else name

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Of a finder in `sys.meta_path`."""
        if self._collecting:
            self._imports_of.setdefault(self._importing_module(), set()).add(name)
            package, key = name.rpartition(".")[::2]
            self._previous_attributes.setdefault(name, module_attributes(sys.modules.get(package)).get(key, MISSING))
        return ModuleSpec(name, self) if name in self._modules else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Of a loader: the module that is loaded already."""
        module = self._modules[spec.name]
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Of a loader: make the module visible again, and what comes with it."""
        wanted, module.__spec__ = self._specs.popitem()
        closure = self._closures[wanted]
        repeats: list[Callable[[], None]] = []
        while closure:
            name = self._names[(closure & -closure).bit_length() - 1]
            closure &= closure - 1
            if name in sys.modules and name != wanted:
                continue
            sys.modules[name] = self._modules[name]
            for owner, key, value in self._attributes.get(name, ()):
                setattr(owner, key, value)
            for action, _, category, *_ in self._filters.get(name, ()):
                warnings.simplefilter(action, category)
            repeats += self._warnings.get(name, ())
        for repeat in repeats:
            repeat()


def repeat_warning(message: Warning, category: type, path: str, line: int, namespace: dict[str, Any]) -> None:
    """Warn as the module with the globals `namespace` did at that line."""
    warnings.warn_explicit(
        message, category, path, line, namespace["__name__"], namespace.setdefault(WARNING_REGISTRY, {})
    )


def module_attributes(module: Any) -> dict[str, Any]:
    """The module's attributes; none where `sys.modules` has something else than a module."""
    attributes: dict[str, Any] = getattr(module, "__dict__", {})
    return attributes
