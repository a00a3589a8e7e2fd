"""What packages may not do when they are imported into the process that forks: fork it, or print."""

import contextlib
import errno
import faulthandler
import os
import posix
import sys
from collections.abc import Iterator
from typing import NoReturn


@contextlib.contextmanager
def refusing_forks() -> Iterator[None]:
    """While entered, every function of Python that forks this process raises OSError.

    A package that forks when it is imported would leave a second process that prepares itself.
    """
    functions = [(module, name, getattr(module, name)) for module in (os, posix) for name in ("fork", "forkpty")]
    for module, name, _ in functions:
        setattr(module, name, refuse_fork)
    try:
        yield
    finally:
        for module, name, function in functions:
            setattr(module, name, function)


def refuse_fork() -> NoReturn:
    """In the place of `os.fork` and its like."""
    raise OSError(errno.EPERM, "a module must not fork when it is imported")


@contextlib.contextmanager
def discarding_output() -> Iterator[None]:
    """While entered, discard what is written to the descriptors 1 and 2, but for the traceback of a crash."""
    copies: dict[int, int] = {}
    crashes_are_told = faulthandler.is_enabled()
    with contextlib.suppress(OSError):  # whoever started this process may have closed them
        for descriptor in (1, 2):
            copies[descriptor] = os.dup(descriptor)
    if 2 in copies:
        faulthandler.enable(copies[2], all_threads=False)
    try:
        with open(os.devnull, "wb") as nothing:
            for descriptor in copies:
                os.dup2(nothing.fileno(), descriptor)
        yield
    finally:
        for stream in (sys.__stdout__, sys.__stderr__):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()  # type: ignore[union-attr]
        for descriptor, copy in copies.items():
            os.dup2(copy, descriptor)
        if 2 in copies:
            faulthandler.disable()
        if crashes_are_told:
            faulthandler.enable(2, all_threads=False)
        for copy in copies.values():
            os.close(copy)
