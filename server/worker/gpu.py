"""The GPU of this machine: hidden from processes that fork, and initialized in each child that works with it.

A fork of a process with a GPU context can't use the device. A zygote therefore never has a context: it sees no GPU
while it prepares itself, and each child for the GPU creates its own.
"""

import os
import resource
import warnings
from pathlib import Path
from typing import Any, NoReturn

import torch

from gradbox.recorder.devices.device_kernels import kernels_for_device

GPU_HIDING_ENVIRONMENT_VARIABLES = ("CUDA_VISIBLE_DEVICES", "PYTORCH_NVML_BASED_CUDA_CHECK")
"""Environment variables that keep torch from looking for a GPU while a zygote prepares itself."""

NO_GPU_MESSAGE = "No CUDA GPUs are available"
"""torch's message if it is built for CUDA and finds no GPU."""


def hide_gpu() -> None:
    """Hide the GPU from torch in this process and its forks, as an empty CUDA_VISIBLE_DEVICES does. This can't be
    undone.

    torch counts the GPUs once, and the backward engine asks for that number. To answer, the driver would start a
    thread; so torch counts while the driver can open nothing, which fails and counts as none.
    """
    count_gpus = getattr(torch._C, "_cuda_getDeviceCount", None)
    if count_gpus is None:  # torch is built without CUDA
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            count_gpus()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    setattr(torch.cuda, "_cached_device_count", 0)  # else it asks the driver's management library each time
    setattr(torch.cuda, "_is_in_bad_fork", never_in_bad_fork)  # to be asked is enough for torch to forbid CUDA to forks
    setattr(torch._C, "_cuda_init", refuse_to_initialize_gpu)


def never_in_bad_fork() -> bool:
    """Replaces torch's function of that name: there is no context that a fork could have inherited."""
    return False


def refuse_to_initialize_gpu() -> NoReturn:
    """Replaces torch's function, which would ask the driver again. Raises RuntimeError."""
    raise RuntimeError(NO_GPU_MESSAGE)


def require_no_open_gpu() -> None:
    """Raise RuntimeError if this process has opened a GPU, because its forks could not use it."""
    opened = {str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}
    devices = sorted(path for path in opened if path.startswith(DEVICE_FILES))
    if devices or torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        raise RuntimeError(
            f"the process that forks has opened the GPU ({', '.join(devices)}); what it forks can't use it"
        )


DEVICE_FILES = ("/dev/nvidia", "/dev/dxg", "/dev/kfd")
"""Prefixes of the device files through which a process uses a GPU."""


def initialize_gpu(memory: int, visible: str | None) -> None:
    """Initialize all GPUs for one program.

    memory: bytes of each GPU that the program may take
    visible: the server's CUDA_VISIBLE_DEVICES; None if it has none
    """
    for name in GPU_HIDING_ENVIRONMENT_VARIABLES:
        os.environ[name] = ""  # known to Python again, where the environment has been cleared
        del os.environ[name]
    if visible is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible
    os.putenv(
        "USE_PYTORCH_KERNEL_CACHE", "0"
    )  # kernels that torch compiles are kept in memory: there is no folder for them
    torch.cuda.init()  # type: ignore[no-untyped-call]
    for index in range(torch.cuda.device_count()):
        total = torch.cuda.get_device_properties(index).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory / total), index)
    for index in range(torch.cuda.device_count()):
        kernels_for_device(torch.device("cuda", index))


def run_gpu_warm_up_operations() -> None:
    """Run a backward with a matrix product, a convolution, attention, an optimizer step, random numbers, and a copy
    from pinned memory."""
    x = torch.ones(8, 8, device="cuda", requires_grad=True)
    (x @ x).relu().sum().backward()  # type: ignore[no-untyped-call]
    layer = torch.nn.Conv2d(1, 1, 3).cuda()
    layer(torch.ones(1, 1, 8, 8, device="cuda")).sum().backward()
    torch.optim.Adam(layer.parameters()).step()
    torch.nn.functional.scaled_dot_product_attention(*torch.randn(3, 1, 1, 8, 8, device="cuda", dtype=torch.float16))
    torch.ones(8).pin_memory().to("cuda", non_blocking=True)
    torch.cuda.synchronize()


def clear_gpu_memory_statistics() -> None:
    """Free all memory and reset the allocator's statistics, so that a program finds neither."""
    clear_workspaces: Any = torch._C._cuda_clearCublasWorkspaces
    clear_workspaces()
    torch.cuda.empty_cache()
    for index in range(torch.cuda.device_count()):
        torch.cuda.reset_peak_memory_stats(index)
        torch.cuda.reset_accumulated_memory_stats(index)
