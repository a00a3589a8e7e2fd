"""The life of a child process: it confines itself, takes one job, writes one trace, and exits."""

import ctypes
import faulthandler
import fcntl
import json
import os
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from gradbox.wire.job_records import ChildJob, FaultLine
from server.worker.confine import Confinement, clear_environment
from server.worker.threads import require_one_thread

WriteLines = Callable[[bytes], None]
"""Takes complete lines of a trace."""


@dataclass(frozen=True)
class ChildWork:
    """What the children of a zygote do.

    run: called in a child with its job and a function that writes the lines of the trace
    versions: of the libraries that it runs on
    initialize_gpu, warm_up_gpu: called in this order in a child before a job, if it works with a GPU
    rehearse: called in a child that has no job yet and is not confined yet, so that a run finds its memory touched; it
        returns early once the function that it is given says that a job has come
    """

    run: Callable[[ChildJob, WriteLines], object]
    versions: dict[str, str]
    initialize_gpu: Callable[[], None] | None = None
    warm_up_gpu: Callable[[], None] | None = None
    rehearse: Callable[[Callable[[], bool]], None] | None = None


TRACEBACK_SIGNAL = signal.SIGUSR1
"""Makes the child write its traceback into the pipe, even from inside a call that never returns."""

WARM_UP_AFTER_MS = 300
"""Milliseconds that a child waits for a job before it rehearses. Under load a job comes sooner and no child rehearses,
since that would cost processor time that runs need."""

EXIT_NO_JOB = 3
"""The exit status of a child whose job pipe was closed before a job came, because the server had no room for its
descriptor."""

_PR_SET_PDEATHSIG = 1


def run_child(
    worker: ChildWork,
    job_fd: int,
    trace_fd: int,
    ready_fd: int | None,
    parent_pid: int,
    confinement: Confinement | None,
    slot: int,
) -> NoReturn:
    """Live as a child: confine this process, read the job, run it, and exit. Never returns.

    job_fd: the descriptor of a pipe from which the job is read to its end
    trace_fd: the descriptor to which the lines of the trace are written
    ready_fd: the descriptor that gets a byte once a job can be run, if anybody waits for that
    parent_pid: the pid of the process that forked this one
    slot: a number that no other living child has
    """
    code = 1
    try:
        die_with_parent()
        if os.getppid() != parent_pid:  # it died before the line above
            os._exit(1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        job_fd, trace_fd, ready_fd = move_descriptors_to_3_4_5(job_fd, trace_fd, ready_fd)
        if worker.rehearse is not None:
            warm_up_until_job_arrives(worker.rehearse, job_fd)
        if confinement is not None:
            confinement.confine_process((job_fd, trace_fd, *([] if ready_fd is None else [ready_fd])), slot)
        else:
            detach_from_parent(ready_fd)
            for prepare in (worker.initialize_gpu, worker.warm_up_gpu):
                if prepare is not None:  # its share of the GPU's memory is no part of the confinement
                    prepare()
        if ready_fd is not None:
            os.write(ready_fd, b"+")
            os.close(ready_fd)
        faulthandler.enable(trace_fd, all_threads=False)
        faulthandler.register(TRACEBACK_SIGNAL, trace_fd, all_threads=False)
        faulthandler.register(signal.SIGXCPU, trace_fd, all_threads=False, chain=True)
        with os.fdopen(job_fd, "rb") as file:
            data = file.read()
        if not data:
            os._exit(EXIT_NO_JOB)
        job: ChildJob = json.loads(data)
        worker.run(job, lambda data: write_all(trace_fd, data))
        code = 0
    except BaseException as error:  # the worker's own; the program's errors are in its trace
        fault = FaultLine(fault=f"{type(error).__name__}: {error}")
        write_all(trace_fd, json.dumps(fault).encode() + b"\n")
    finally:
        os._exit(code)


def warm_up_until_job_arrives(rehearse: Callable[[Callable[[], bool]], None], job_fd: int) -> None:
    """Rehearse if no job has come for a while, and stop once one comes."""
    poll = select.poll()
    poll.register(job_fd, select.POLLIN)
    if not poll.poll(WARM_UP_AFTER_MS):
        rehearse(lambda: bool(poll.poll(0)))
        require_one_thread()


def move_descriptors_to_3_4_5(job_fd: int, trace_fd: int, ready_fd: int | None) -> tuple[int, int, int | None]:
    """Duplicate the descriptors to 3, 4 and 5, where a child has nothing else open."""
    job_fd, trace_fd = (fcntl.fcntl(descriptor, fcntl.F_DUPFD, 6) for descriptor in (job_fd, trace_fd))
    if ready_fd is not None:
        ready_fd = os.dup2(fcntl.fcntl(ready_fd, fcntl.F_DUPFD, 6), 5)
    return os.dup2(job_fd, 3), os.dup2(trace_fd, 4), ready_fd


def detach_from_parent(ready_fd: int | None) -> None:
    """Detach from the parent: a session of its own, no other descriptors, no environment. Every child does this,
    confined or not."""
    os.setsid()
    devnull = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(devnull, standard)
    os.closerange(5 if ready_fd is None else ready_fd + 1, 4096)
    clear_environment()


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, in as many calls as necessary. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
