"""The process that prepares itself once and forks each child, ready for one run.

`python -m server.worker.zygote FD OPTIONS`: FD is a Unix socket to the server, OPTIONS are `WorkerOptions` as JSON. If
it can't go on, it tells the server why in one line and writes the traceback to standard error. Packages that it imports
can neither fork it nor print.
"""

import contextlib
import errno
import faulthandler
import importlib
import json
import os
import posix
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from gradbox.language.policy import allow_packages
from server import PROJECT_FOLDER
from server.allowed_packages import required_modules
from server.wire.link import FailedMessage, WorkerOptions
from server.worker.child import ChildWork, die_with_parent
from server.worker.importable_packages import restrict_imports
from server.worker.supervisor import Supervisor
from server.worker.threads import tracking_thread_origins


@contextlib.contextmanager
def refusing_forks() -> Iterator[None]:
    """Make every Python function that forks this process raise OSError inside the block.

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
    """Replaces `os.fork` and similar functions."""
    raise OSError(errno.EPERM, "a module must not fork when it is imported")


@contextlib.contextmanager
def discarding_output() -> Iterator[None]:
    """Discard what is written to the descriptors 1 and 2 inside the block, except for the traceback of a crash."""
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


MAX_REASON = 1000
"""Characters of the reason that is sent."""


def main() -> None:
    """Prepare what the options name, then supervise its children. Never returns."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):  # the server may have closed its standard error
        faulthandler.enable(2, all_threads=False)  # a package that crashes is then named there
    link, options = socket.socket(fileno=int(sys.argv[1])), WorkerOptions(**json.loads(sys.argv[2]))
    try:
        supervisor = Supervisor(link, options, prepare_worker(options))
        supervisor.try_confinement()
        supervisor.serve_forever()
    except BaseException as error:  # a package may raise SystemExit or KeyboardInterrupt, too
        reason = " ".join(failure_reason(error).split())
        with contextlib.suppress(OSError):  # the server is gone
            link.send(json.dumps(FailedMessage(failed=reason[:MAX_REASON])).encode())
        raise


def failure_reason(error: BaseException) -> str:
    """Why there is no zygote, for an operator. For an error that is not our own it includes the type and the place."""
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((frame for frame in reversed(frames) if not frame.filename.startswith("<frozen ")), None)
    if isinstance(error, RuntimeError) and frame and Path(frame.filename).is_relative_to(PROJECT_FOLDER / "server"):
        return str(error)
    place = f" ({frame.filename}, line {frame.lineno})" if frame else ""
    return f"{type(error).__name__}{f': {error}' if str(error) else ''}{place}"


def prepare_worker(options: WorkerOptions, *more: str) -> ChildWork:
    """Load the worker that the options name. From now on this process can import only the listed packages and
    `more`."""
    module, _, function = options.prepare.partition(":")
    if options.packages is not None:
        allow_packages(options.packages)
        more = (*more, *required_modules(options.packages))
    restrict_imports(module.partition(".")[0], *more)
    with tracking_thread_origins(), refusing_forks(), discarding_output():
        # by its name: tests prepare workers of their own
        worker: ChildWork = getattr(importlib.import_module(module), function)(options)
    return worker


if __name__ == "__main__":
    main()
