"""Prepares the zygote: imports torch, runs once what is slow the first time, and lays out memory for cheap forks."""

import functools
import gc
import os
import platform
import threading
from collections.abc import Callable

import numpy
import torch

from gradbox.recorder.probes import ops
from server.wire.link import WorkerOptions
from server.worker import generator_seed, gpu, huge_pages
from server.worker.child import Worker
from server.worker.jobs import run_job_and_exit
from server.worker.preload import preload
from server.worker.rehearsal import rehearse
from server.worker.threads import require_one_thread, run_in_thread

REHEARSALS = 12
"""How often a small program runs before the first fork: CPython then has specialized our code, and need not write its
shortcuts to pages that the children share."""

NICENESS = 10
"""Of a rehearsal in a child: low enough to leave the processor to runs, high enough to stop soon when a job comes."""

_free_blocks: list[bytes] = []


def prepare(options: WorkerOptions) -> Worker:
    """Do once what serves all children that trace programs. The process has one thread again at the end."""
    torch.set_num_threads(1)
    if options.device == "cpu":
        gpu.hide_gpu()
    run_in_thread(preload)
    ops.register_kernels()
    if options.device == "cpu":
        generator_seed.replace_seed_method()
        for _ in range(REHEARSALS):  # not for a GPU: a backward makes a thread for each, and a fork has none of them
            run_in_thread(rehearse)
    require_one_thread()
    gpu.require_no_device()
    gc.collect()
    _free_blocks.extend(huge_pages.fill_free_blocks())
    gc.freeze()
    huge_pages.collapse_memory()
    versions = {"torch": str(torch.__version__), "numpy": numpy.__version__, "python": platform.python_version()}
    if options.device == "cpu":
        return Worker(run_job_and_exit, versions, rehearse=rehearse_in_thread)
    initialize = functools.partial(gpu.initialize_gpu, options.gpu_memory, options.visible_gpus)
    return Worker(run_job_and_exit, versions, initialize, warm_up_gpu)


def warm_up_gpu() -> None:
    """Have the libraries and the recorder do what they do late, so that no program waits for it, and leave no trace of that.

    To be called in a child for the GPU, under Landlock: it starts the threads that later run hooks of the program.
    """
    run_in_thread(gpu.run_small_programs)
    for _ in range(REHEARSALS):
        run_in_thread(functools.partial(rehearse, device="cuda"))
    run_in_thread(rehearse)  # what is replaced in the interpreter holds the last program: one without memory of the GPU
    gc.collect()
    gpu.clear_traces()


def rehearse_in_thread(interrupted: Callable[[], bool]) -> None:
    """Rehearse in a child, at low priority: it then has its own copies of the pages that a run writes to.

    interrupted: whether to stop before the next step.
    """

    def rehearse_nicely() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)  # of this thread alone, which ends
        rehearse(interrupted)

    gc.disable()
    run_in_thread(rehearse_nicely)
    gc.enable()
