"""Threads of a process that forks: how many there are, what started them, and one that ends before the next line runs."""

import builtins
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_origins: dict[str, str] = {}
"""What started each thread of this process that was found: its number, and a description."""


def run_in_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread of its own, and wait for its end. Raises what it raises.

    What torch counts for each thread, as nodes of the graph, then begins in the main thread with the program.
    """
    errors: list[BaseException] = []

    def call() -> None:
        _origins.setdefault(str(threading.get_native_id()), "the preparation itself")
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, name="prepare")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def note_origin(description: str) -> None:
    """Note that threads not met before were started by what is described."""
    for number in os.listdir("/proc/self/task"):  # noqa: PTH208 called for each import
        _origins.setdefault(number, description)


@contextlib.contextmanager
def noting_origins() -> Iterator[None]:
    """While entered, note which import starts a thread. Imports by `importlib.import_module` are not seen themselves."""
    import_, modules = builtins.__import__, len(sys.modules)
    note_origin("Python's start: a .pth file or a sitecustomize of site-packages")

    def import_and_note(name: str, *args: Any, **options: Any) -> Any:
        nonlocal modules
        try:
            return import_(name, *args, **options)
        finally:
            if len(sys.modules) != modules:
                modules = len(sys.modules)
                note_origin(f"import {name}")

    builtins.__import__ = import_and_note
    try:
        yield
    finally:
        builtins.__import__ = import_


def require_one_thread() -> None:
    """Wait until threads that have ended are gone for the kernel, too. Raises RuntimeError where others are left.

    A child that is forked beside a second thread may wait for a lock that nobody releases.
    """
    for _ in range(1000):
        if thread_count() == 1:
            return
        time.sleep(0.001)
    others = ", ".join(describe_thread(number) for number in thread_numbers() if number != str(os.getpid()))
    raise RuntimeError(f"{thread_count()} threads in the process that forks; what it forks would hang: {others}")


def describe_thread(number: str) -> str:
    """The name of a thread of this process, and what started it."""
    with contextlib.suppress(OSError):
        name = Path(f"/proc/self/task/{number}/comm").read_text().strip()
        return f"{name!r}, started by {_origins.get(number, 'an unknown call')}"
    return "one that has just ended"


def thread_numbers() -> list[str]:
    """The numbers that the kernel gives the threads of this process."""
    return sorted(os.listdir("/proc/self/task"))  # noqa: PTH208


def thread_count() -> int:
    """Threads of this process."""
    return len(thread_numbers())
