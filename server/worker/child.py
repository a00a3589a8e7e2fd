"""The life of one child: it confines itself, takes one job, writes one trace, and ends."""

import ctypes
import faulthandler
import fcntl
import json
import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

from server.worker.confine import Confinement

WHERE = signal.SIGUSR1
"""Has the child say at which line it is, though it be inside a call that never returns."""

_PDEATHSIG = 1


def live(
    entry: Callable[..., Any], job: int, pipe: int, parent: int, confinement: Confinement | None, slot: int
) -> NoReturn:
    """Never returns. job: a pipe to read the job from, to its end. pipe: takes the lines of the trace.

    slot: a number that no other living child has.
    """
    code = 1
    try:
        die_with_parent()
        if os.getppid() != parent:  # it died before that was said
            os._exit(1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        job, pipe = placed(job, pipe)
        if confinement is not None:
            confinement.enter((job, pipe), slot)
        else:
            loose()
        faulthandler.enable(pipe, all_threads=False)
        faulthandler.register(WHERE, pipe, all_threads=False)
        faulthandler.register(signal.SIGXCPU, pipe, all_threads=False, chain=True)
        with os.fdopen(job, "rb") as file:
            told = json.loads(file.read())
        entry(told, lambda data: written(pipe, data))
        code = 0
    except BaseException as error:  # of ours: the program's own end in its trace
        written(pipe, json.dumps({"fault": f"{type(error).__name__}: {error}"}).encode() + b"\n")
    finally:
        os._exit(code)


def placed(job: int, pipe: int) -> tuple[int, int]:
    """The two descriptors at 3 and 4, where nothing else is."""
    job, pipe = (fcntl.fcntl(one, fcntl.F_DUPFD, 5) for one in (job, pipe))
    return os.dup2(job, 3), os.dup2(pipe, 4)


def loose() -> None:
    """What every child does, confined or not."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.closerange(5, 4096)
    os.environ.clear()


def written(to: int, data: bytes) -> None:
    while data:
        data = data[os.write(to, data) :]


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
