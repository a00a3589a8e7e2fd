"""Threads of a process that forks: how many there are, what started them, and how to run a function in one that has
ended before the next line runs."""

import builtins
import contextlib
import os
import site
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from server.worker.importable_packages import REQUIRED_PACKAGES

PATIENCE_SECONDS = 1.0
"""Seconds within which a thread that a package started may end."""


@dataclass(frozen=True)
class ThreadOrigin:
    """What started a thread, in words that follow "started by", and what an operator can do about it."""

    description: str
    remedy: str = ""


_origins: dict[str, ThreadOrigin] = {}
"""What started each known thread of this process, by the thread's number."""


def run_in_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread and wait for its end. Raises what it raises.

    Counters that torch keeps for each thread, such as that of graph nodes, then begin in the main thread with the
    program.
    """
    errors: list[BaseException] = []

    def call_and_keep_error() -> None:
        _origins.setdefault(str(threading.get_native_id()), ThreadOrigin("the preparation itself"))
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call_and_keep_error, name="prepare")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def register_thread_origin(description: str, remedy: str = "") -> None:
    """Note that threads not met before were started by what is described. The arguments are those of `ThreadOrigin`."""
    for number in os.listdir("/proc/self/task"):  # noqa: PTH208 called for each import
        if number not in _origins:
            _origins[number] = ThreadOrigin(description, remedy)


def register_import_as_thread_origin(name: str) -> None:
    """Note that threads not met before were started by the import of a module."""
    package = name.partition(".")[0]
    if package in PACKAGES_WITHOUT_THREADS:
        register_thread_origin(f"a call in {name}")
    elif package in REQUIRED_PACKAGES:
        register_thread_origin(f"import {name}", f"install another version of {package} in Gradbox's environment")
    else:
        register_thread_origin(f"import {name}", f"remove {package} from Gradbox's environment or update it")


def register_startup_as_thread_origin() -> None:
    """Note that threads not met before were started by code that Python runs before any module of ours."""
    files = ", ".join(startup_files()) or "a file in site-packages"
    remedy = "remove that file, or the package that it belongs to, from Gradbox's environment"
    register_thread_origin(f"what Python runs when it starts ({files})", remedy)


def startup_files() -> list[str]:
    """The paths of the files with code that Python ran when it started: .pth files, sitecustomize, usercustomize."""
    found = []
    for folder in [*site.getsitepackages(), site.getusersitepackages()]:
        for path in sorted(Path(folder).glob("*.pth")):
            with contextlib.suppress(OSError):
                lines = path.read_text(errors="replace").splitlines()
                if any(line.startswith(("import ", "import\t")) for line in lines):
                    found.append(str(path))
    for folder in sys.path:
        found += [str(path) for path in sorted(Path(folder).glob("*customize.py")) if path.stem in CUSTOMIZING_MODULES]
    return found


PACKAGES_WITHOUT_THREADS = ("__main__", "gradbox", "server", "tests")
"""Packages whose imports start no thread."""

CUSTOMIZING_MODULES = ("sitecustomize", "usercustomize")
"""Modules that Python imports when it starts, if they exist."""


@contextlib.contextmanager
def tracking_thread_origins() -> Iterator[None]:
    """Note, inside the block, which import starts a thread. Imports by `importlib.import_module` are not noticed
    themselves."""
    import_, modules = builtins.__import__, len(sys.modules)
    if thread_count() > 1:
        register_startup_as_thread_origin()

    def import_and_note(
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 callers may use the names that it has in `builtins`
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        nonlocal modules
        importer = globals or {}
        new = bool(level) or name not in sys.modules
        if new:
            register_import_as_thread_origin(
                importer.get("__name__", "__main__")
            )  # it runs, and has started what is not known yet
        try:
            return import_(name, globals, locals, fromlist, level)
        finally:
            if new or len(sys.modules) != modules:
                modules = len(sys.modules)
                register_import_as_thread_origin(full_module_name(name, importer.get("__package__"), level))

    builtins.__import__ = import_and_note
    try:
        yield
    finally:
        builtins.__import__ = import_


def full_module_name(name: str, package: str | None, level: int) -> str:
    """The full name of a module, from the arguments with which `builtins.__import__` is called."""
    above = (package or "").rsplit(".", level - 1)[0] if level else ""
    return ".".join(filter(None, (above, name)))


def require_one_thread() -> None:
    """Wait until threads that have ended are gone for the kernel, too. Raises RuntimeError if others are left.

    A child that is forked beside a second thread may wait for a lock that nobody releases.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while thread_count() > 1:
        if time.monotonic() > deadline:
            raise RuntimeError(describe_threads())
        time.sleep(0.001)


def describe_threads() -> str:
    """A line for an operator: which threads this process has besides its first, what started them, what to do."""
    names: dict[ThreadOrigin, list[str]] = {}
    others = [number for number in thread_ids() if number != str(os.getpid())]
    for number in others:
        names.setdefault(_origins.get(number, UNKNOWN_ORIGIN), []).append(f"'{thread_name(number)}'")
    count = "a second thread" if len(others) == 1 else f"{len(others) + 1} threads"
    listed = [f"{' and '.join(named)}, started by {origin.description}" for origin, named in names.items()]
    remedies = dict.fromkeys(origin.remedy for origin in names if origin.remedy)
    return "; ".join([f"the process that forks has {count}, {', and '.join(listed)}", *remedies])


def thread_name(number: str) -> str:
    """The name of a thread of this process: Python's, or else the kernel's."""
    for thread in threading.enumerate():
        if str(thread.native_id) == number:
            return thread.name
    with contextlib.suppress(OSError):
        return Path(f"/proc/self/task/{number}/comm").read_text().strip()
    return "one that has just ended"


UNKNOWN_ORIGIN = ThreadOrigin("an unknown call")


def thread_ids() -> list[str]:
    """The kernel's numbers of this process's threads."""
    return sorted(os.listdir("/proc/self/task"), key=int)  # noqa: PTH208


def thread_count() -> int:
    """The number of threads of this process."""
    return len(thread_ids())
