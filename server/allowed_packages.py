"""Which packages a host lets programs import, `GRADBOX_PACKAGES`, and which modules these need.

No package is imported here: Python's finders and the packages' metadata tell what is installed.
"""

import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterable

from packaging.requirements import InvalidRequirement, Requirement

from gradbox.language.policy import DEFAULT_PACKAGES

AUTO, NONE = "auto", "none"
"""Values of the setting: the installed ones of DEFAULT_PACKAGES; no package."""

UNSUITABLE_PACKAGES = {
    "it starts threads when it is imported, and the process that has them can't fork those of programs": (
        "dask", "jax", "jaxlib", "polars", "pyarrow", "ray", "tensorboard", "tensorflow",
    ),
    "it runs machine code that a program hands it": (
        "cffi", "cupy", "cython", "llvmlite", "numba", "pycuda", "torch_tensorrt", "triton",
    ),
    "it starts or looks at processes, and a program here runs alone": (
        "IPython", "billiard", "celery", "ipykernel", "multiprocess", "pexpect", "psutil", "sh",
    ),
    "it talks to other machines, and a program here has no network": (
        "aiohttp", "asyncpg", "boto3", "httpx", "paramiko", "redis", "requests", "urllib3", "wandb", "websockets",
    ),
    "it is a part of Gradbox": ("gradbox", "server", "tests"),
}  # fmt: skip
"""Top-level modules that no setting allows, by reason. The sandbox confines programs in any case."""

BUILT_IN_MODULES = ("torch", "numpy")
"""Packages that every program may import."""


class PackageError(ValueError):
    """A package that programs can't be allowed to import. The message says which and why."""


def allowed_modules(setting: str) -> list[str]:
    """Return the top-level modules of the packages that the setting names, by their name for pip or for `import`.

    Raises PackageError.
    """
    if setting == AUTO:
        return [name for name in DEFAULT_PACKAGES if importlib.util.find_spec(name) is not None]
    if setting == NONE:
        return []
    names = [name for name in re.split(r"[\s,]+", setting) if name]
    if not names:
        raise PackageError(f"is empty; it takes {AUTO}, {NONE}, or packages like pandas,scikit-learn")
    return list(dict.fromkeys(module for name in names for module in _modules_for_setting_name(name)))


def _modules_for_setting_name(name: str) -> list[str]:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", name):
        raise PackageError(f"has {name!r}; it takes names of packages, without versions")
    modules = [name] if name in sys.stdlib_module_names or _is_installed(name) else _modules_of_distribution(name)
    if not modules:
        raise PackageError(f"has {name!r}, which is not installed: pip install {name}, or leave it out")
    for module in modules:
        _require_importable_module(name, module)
    return [module for module in modules if module not in BUILT_IN_MODULES]


def _require_importable_module(name: str, module: str) -> None:
    """Raise PackageError for a module that no program may import."""
    if module in sys.stdlib_module_names:
        raise PackageError(
            f"has {name!r}, which is a part of Python: which of those a program may import is no setting"
        )
    for why, unsuitable in UNSUITABLE_PACKAGES.items():
        if module.lower() in (other.lower() for other in unsuitable):
            raise PackageError(f"has {name!r}, which no program may import: {why}")


def _is_installed(module: str) -> bool:
    """Return whether Python finds a top-level module of that name."""
    try:
        return "." not in module and importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _modules_of_distribution(name: str) -> list[str]:
    """Return the public top-level modules of a distribution; none if it is not installed."""
    return [module for module in _all_modules_of_distribution(name) if not module.startswith("_")]


def _all_modules_of_distribution(name: str) -> list[str]:
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return []
    listed = (distribution.read_text("top_level.txt") or "").split()
    found = {
        file.parts[0].removesuffix(".py").split(".")[0] for file in distribution.files or () if _is_module_file(file)
    }
    return sorted({*listed, *found})


def _is_module_file(file: importlib.metadata.PackagePath) -> bool:
    first, last = file.parts[0], file.parts[-1]
    is_code = last.endswith((".py", ".so", ".pyd"))
    return is_code and (len(file.parts) > 1 or first == last) and first.split(".")[0].isidentifier()


def required_modules(modules: Iterable[str]) -> set[str]:
    """Return what these packages require: top-level modules, and the names of the distributions that provide them.

    Only installed requirements count; names have `_` for `-`, like modules.
    """
    waiting = [name for module in modules for name in _distributions_of_module(module)]
    seen: set[str] = set()
    out: set[str] = set()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        out.update([name.replace("-", "_"), *_all_modules_of_distribution(name)])
        waiting += _requirements_of_distribution(name)
    return out


def _distributions_of_module(module: str) -> list[str]:
    """Return the distributions that provide a module. One of the same name is enough, because searching all takes
    seconds."""
    if module in _all_modules_of_distribution(module):
        return [module]
    return importlib.metadata.packages_distributions().get(module, [])


def _requirements_of_distribution(name: str) -> list[str]:
    """Return the names of a distribution's requirements on this machine, without those of extras."""
    try:
        listed = [Requirement(line) for line in importlib.metadata.requires(name) or []]
    except (importlib.metadata.PackageNotFoundError, InvalidRequirement):
        return []
    return [needed.name for needed in listed if needed.marker is None or needed.marker.evaluate({"extra": ""})]
