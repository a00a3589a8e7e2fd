"""Prepares the zygote: imports torch, runs once what is slow the first time, and lays out memory for cheap forks."""

import functools
import gc
import platform
import threading
from collections.abc import Callable

import numpy
import torch

from server.worker import gpu, huge_pages
from server.worker.preload import preload
from server.worker.probes import ops
from server.worker.run import rehearse, run
from server.worker.supervisor import Options, Worker, require_one_thread

REHEARSALS = 12
"""How often a small program runs before the first fork: CPython then has specialized our code, and need not write its
shortcuts to pages that the children share."""

_free_blocks: list[bytes] = []


def prepare(options: Options) -> Worker:
    """Everything that is done once for all children that trace programs. The process has one thread again at the end."""
    torch.set_num_threads(1)
    run_in_thread(preload)
    ops.register_kernels()
    if not torch.cuda.device_count():  # with one a backward makes threads, and a fork has none of them
        for _ in range(REHEARSALS):
            run_in_thread(rehearse)
    require_one_thread()
    gc.collect()
    _free_blocks.extend(huge_pages.fill_free_blocks())
    gc.freeze()
    huge_pages.collapse()
    versions = {"torch": str(torch.__version__), "numpy": numpy.__version__, "python": platform.python_version()}
    # the count comes from the driver's management library, which makes no context: a fork could not use one
    initialize = functools.partial(gpu.initialize, options.gpu_memory) if options.device == "cuda" else None
    return Worker(run, versions, torch.cuda.device_count(), initialize)


def run_in_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread of its own, and wait for its end. Raises what it raises.

    What torch counts for each thread, as nodes of the graph, then begins in the main thread with the program.
    """
    errors: list[BaseException] = []

    def call() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, name="prepare")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
