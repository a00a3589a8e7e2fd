"""Which packages the process that forks can import: a closed list, whatever else is in site-packages.

torch and its dependencies import other packages if they are installed: Triton asks for the GPU's driver, pyarrow starts
a thread, and a process that did either can't fork children. To the zygote and its children, all packages that are not
listed seem not to be installed.
"""

import importlib.metadata
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec
from types import ModuleType
from typing import Any

from gradbox.language.policy import ALLOWED_MODULES

REQUIRED_BY_RECORDER = frozenset(
    ["annotated_types", "gradbox", "pydantic", "pydantic_core", "server", "typing_inspection"]
)
REQUIRED_BY_TORCH = frozenset(
    [
        "filelock",
        "fsspec",
        "functorch",
        "jinja2",
        "markupsafe",
        "mpmath",
        "networkx",
        "numpy",
        "packaging",
        "setuptools",
        "sympy",
        "torch",
        "torchgen",
        "typing_extensions",
        "yaml",
    ]
)
"""Top-level modules of torch's distribution and of those that it requires. Packages that these import only if installed
(gmpy2, Triton, pandas, optree, hypothesis …) are not included."""

REQUIRED_BY_SETUPTOOLS = frozenset(
    ["_distutils_hack", "autocommand", "backports", "distutils", "jaraco", "more_itertools", "platformdirs", "wheel"]
)
"""Top-level modules that setuptools bundles or imports. Python 3.12 has no `distutils` of its own."""

REQUIRED_PACKAGES = REQUIRED_BY_RECORDER | REQUIRED_BY_TORCH | REQUIRED_BY_SETUPTOOLS
"""Top-level modules without which no program can be recorded, or parts of torch are missing."""

STANDARD_MODULES = frozenset(sys.stdlib_module_names) | {"__main__"}


class PackageAllowlist:
    """An import finder that asks the other finders only for allowed packages.

    names: allowed top-level modules, besides those of the standard library
    finders: the finders that are asked
    """

    def __init__(self, names: Iterable[str], finders: Sequence[Any]) -> None:
        self._names = frozenset(names)
        self._finders = list(finders)

    def allows(self, module: str) -> bool:
        """Whether a module may be imported, given its full name."""
        top = module.partition(".")[0]
        return top in self._names or top in STANDARD_MODULES or top.startswith("_sysconfigdata")

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Part of the interface of `sys.meta_path`: returns None for a package that is not allowed, as for one that is
        not installed."""
        if not self.allows(name):
            return None
        found = (finder.find_spec(name, path, target) for finder in self._finders if hasattr(finder, "find_spec"))
        return next((spec for spec in found if spec is not None), None)

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context | None = None
    ) -> Iterator[importlib.metadata.Distribution]:
        """Part of the interface of `importlib.metadata`: the installed distributions, without packages that are not
        allowed.

        Entry points of other packages, such as those in the groups torch.backends and networkx.backends, are thereby
        unknown.
        """
        context = context or importlib.metadata.DistributionFinder.Context()
        names = [context.name] if context.name else sorted(self._names)
        for name, finder in itertools.product(names, self._finders):
            find = getattr(finder, "find_distributions", None)
            if find is not None and self.allows(re.sub("[-.]", "_", name).lower()):
                yield from find(importlib.metadata.DistributionFinder.Context(name=name, path=context.path))

    def invalidate_caches(self) -> None:
        """Part of the interface of `sys.meta_path`."""
        for finder in self._finders:
            if hasattr(finder, "invalidate_caches"):
                finder.invalidate_caches()


def restrict_imports(*more: str) -> PackageAllowlist:
    """From now on this process can import the listed packages and no others.

    Modules that a .pth file or a sitecustomize.py imported when Python started are removed, because torch would find
    them.

    more: additional top-level modules
    """
    names = REQUIRED_PACKAGES | ALLOWED_MODULES | set(more)
    own = (BuiltinImporter, FrozenImporter)
    allowlist = PackageAllowlist(names, [finder for finder in sys.meta_path if finder not in own])
    sys.meta_path[:] = [*own, allowlist]
    for name in [name for name in sys.modules if not allowlist.allows(name)]:
        del sys.modules[name]
    return allowlist
