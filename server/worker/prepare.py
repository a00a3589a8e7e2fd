"""Prepares the zygote: imports torch, runs once what is slow the first time, and lays out memory for cheap forks.

A small program is run and its trace discarded, so that no child runs a part of the recorder for the first time. The
memory is in huge pages: a fork then copies hundreds of page table entries, not a hundred thousand.
"""

import ctypes
import functools
import gc
import linecache
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import numpy
import torch

from gradbox.recorder.probes import module_calls, ops
from gradbox.recorder.stack import PROGRAM_FILENAME
from server.wire.link import WorkerOptions
from server.worker import generator_seed, gpu
from server.worker.child import ChildWork
from server.worker.package_data import read_package_data
from server.worker.preload import preload_torch
from server.worker.program_run import ProgramRun, run_job_and_exit
from server.worker.threads import require_one_thread, run_in_thread

HUGE_PAGE = 2 << 20
"""Bytes of a huge page, on x86-64 and on arm64 with pages of 4 KiB."""

MAX_BLOCK, BLOCK_STEP = 160, 16
"""CPython keeps small objects in pools of blocks, with a pool for each step of sizes. Most objects need at most
MAX_BLOCK bytes."""

FREE_BLOCKS = 8000
"""Blocks of one size to fill: more than are ever free after the preload."""

_MADV_COLLAPSE = 25

_libc = ctypes.CDLL(None, use_errno=True)


def occupy_free_memory_blocks() -> list[bytes]:
    """Allocate objects in the free blocks between living objects, and return them. The caller keeps them alive.

    A child's own objects then share few pages; otherwise each would cause a copy of a shared page.
    """
    overhead = sys.getsizeof(b"")
    sizes = range(overhead + 1, MAX_BLOCK + 1, BLOCK_STEP)
    return [bytes(size - overhead) for size in sizes for _ in range(FREE_BLOCKS)]


def collapse_into_huge_pages() -> int:
    """Collapse all anonymous writable memory into huge pages. Returns how many bytes were collapsed.

    Needs Linux 6.1. If the kernel can't do it, or has no free huge page, the memory stays as it is and works as well. A
    child that writes to a huge page gets a small page of its own.
    """
    collapsed = 0
    for begin, end in anonymous_mappings():
        for address in range(-(-begin // HUGE_PAGE) * HUGE_PAGE, end - HUGE_PAGE + 1, HUGE_PAGE):
            collapsed += _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(HUGE_PAGE), _MADV_COLLAPSE) == 0
    return collapsed * HUGE_PAGE


def anonymous_mappings() -> Iterator[tuple[int, int]]:
    """The first and last address of each writable mapping that belongs to no file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights == "rw-p" and (not name or name[0] == "[heap]"):
            begin, end = addresses.split("-")
            yield int(begin, 16), int(end, 16)


Device = Literal["cpu", "cuda"]

WARM_UP_PROGRAM_IMPORT = "import torch\n"
WARM_UP_PROGRAM = """\
def f(x, k):
    return x.view(1, 2) * k
x = torch.ones(2, requires_grad=True)
y = x.detach()[0]
for k in range(2):
    z = f(x, k) + 1
z[0, 0] = 2.0
print([y, {"z": z}])
try:
    (z @ z.t()).relu().sum().backward()
    y.backward()
except RuntimeError as error:
    x.grad.zero_()
"""


TOUCHED_SIZES = range(48, 513, 16)
"""Bytes of the blocks to touch. CPython keeps objects of up to 512 bytes in pools, one for each of these sizes."""

TOUCHED_BLOCKS = 500
"""Blocks of each size. They are freed before the next size is allocated, so all use the same pools: a quarter of a
megabyte in total."""


class WarmUpEnded(BaseException):
    """Raised when a rehearsal would end its process."""


def run_warm_up_program(interrupted: Callable[[], bool] = lambda: False, device: Device = "cpu") -> None:
    """Run a small program and discard its trace, so that no child runs a part of the recorder for the first time.

    interrupted: whether to stop before the next step
    device: where its tensors are
    """

    def discard_line(line: bytes) -> None:
        if not line.startswith((b'{"header"', b'{"step"')) or interrupted():
            raise WarmUpEnded

    main, handle = sys.modules.get("__main__"), torch.utils.hooks.RemovableHandle.next_id
    replaced = {name: getattr(sys, name) for name in ("argv", "stdout", "stderr", "__stdout__", "__stderr__")}
    try:
        source = (
            f"{WARM_UP_PROGRAM_IMPORT}torch.set_default_device('cuda')\n"
            if device == "cuda"
            else WARM_UP_PROGRAM_IMPORT
        )
        ProgramRun({"source": source + WARM_UP_PROGRAM, "device": device}, discard_line).run_and_exit()
    except WarmUpEnded:
        pass
    finally:
        for name, value in replaced.items():
            setattr(sys, name, value)
        if main is not None:
            sys.modules["__main__"] = main
        linecache.cache.pop(PROGRAM_FILENAME, None)
        torch.utils.hooks.RemovableHandle.next_id = handle
        torch.set_default_device(None)
    if not interrupted():
        fault_in_small_memory_blocks()


def fault_in_small_memory_blocks() -> None:
    """Write to memory for small objects and free it again. A program's objects then use it without page faults."""
    overhead = sys.getsizeof(b"")
    for size in TOUCHED_SIZES:
        blocks = [bytes(size - overhead) for _ in range(TOUCHED_BLOCKS)]
        del blocks


WARM_UP_RUNS = 12
"""How often a small program runs before the first fork. CPython has then specialized our code and does not write its
inline caches to pages that the children share."""

NICENESS = 10
"""The niceness of a rehearsal in a child: high enough to leave the processor to runs, low enough to stop soon when a
job comes."""

_free_blocks: list[bytes] = []


def prepare(options: WorkerOptions) -> ChildWork:
    """Prepare everything that all children which trace programs need. The process has one thread again at the end."""
    torch.set_num_threads(1)
    if options.device == "cpu":
        gpu.hide_gpu()
    run_job = functools.partial(run_job_and_exit, read_package_data())
    run_in_thread(preload_torch)
    ops.register_recording_kernels()
    module_calls.observe_module_calls()
    if options.device == "cpu":
        generator_seed.replace_seed_method()
        gc.freeze()  # a run collects garbage, and need not search all of torch for it
        for _ in range(WARM_UP_RUNS):  # not for a GPU: a backward makes a thread for each, and a fork has none of them
            run_in_thread(run_warm_up_program)
    require_one_thread()
    gpu.require_no_open_gpu()
    gc.collect()
    _free_blocks.extend(occupy_free_memory_blocks())
    gc.freeze()
    collapse_into_huge_pages()
    versions = {"torch": str(torch.__version__), "numpy": numpy.__version__, "python": platform.python_version()}
    if options.device == "cpu":
        return ChildWork(run_job, versions, rehearse=warm_up_in_thread)
    initialize = functools.partial(gpu.initialize_gpu, options.gpu_memory, options.visible_gpus)
    return ChildWork(run_job, versions, initialize, warm_up_gpu)


def warm_up_gpu() -> None:
    """Make the libraries and the recorder do what they do late, so that no program waits for it, and leave no trace of
    that.

    Call it in a child for the GPU, under Landlock: it starts the threads that later run the program's hooks.
    """
    run_in_thread(gpu.run_gpu_warm_up_operations)
    for _ in range(WARM_UP_RUNS):
        run_in_thread(functools.partial(run_warm_up_program, device="cuda"))
    run_in_thread(
        run_warm_up_program
    )  # what is replaced in the interpreter holds the last program: one without memory of the GPU
    gc.collect()
    gpu.clear_gpu_memory_statistics()


def warm_up_in_thread(interrupted: Callable[[], bool]) -> None:
    """Rehearse in a child, at low priority, so that the child has its own copies of the pages that a run writes to.

    interrupted: whether to stop before the next step
    """

    def warm_up_nicely() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)  # of this thread alone, which ends
        run_warm_up_program(interrupted)

    gc.disable()
    run_in_thread(warm_up_nicely)
    gc.enable()
