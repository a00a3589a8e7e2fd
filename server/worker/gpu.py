"""The GPU of this machine: kept from the processes that fork, and made ready in each child that works with it.

A fork of a process that has a context can't use the device. So no zygote ever has one: while it prepares itself it sees no
GPU, and each child for the GPU makes a context of its own.
"""

import os
from pathlib import Path
from typing import Any

import torch

from server.worker.probes.device_kernels import kernels_of

DRIVER = "libcuda.so"
"""Part of the path of the driver's library, which is loaded with the first call of CUDA."""


def hide_gpu() -> None:
    """To this process and its forks torch finds no GPU, and doesn't look for one. It is not to be undone.

    torch asks the driver's management library again and again, which the environment of a program does not keep from it.
    """
    if hasattr(torch.cuda, "_cached_device_count"):
        setattr(torch.cuda, "_cached_device_count", 0)


def require_no_driver() -> None:
    """Raises RuntimeError where this process has loaded the driver of a GPU: what it forks can't use the device."""
    if any(DRIVER in line for line in Path("/proc/self/maps").read_text().splitlines()):
        raise RuntimeError("the process that forks has loaded the driver of the GPU; what it forks could not use it")


def initialize_gpu(memory: int, visible: str | None) -> None:
    """Initialize all GPUs for one program. memory: bytes of each that the program may take. visible: the server's
    CUDA_VISIBLE_DEVICES, None where it has none.
    """
    if visible is None:
        os.unsetenv("CUDA_VISIBLE_DEVICES")  # of the zygote, which sees none
    else:
        os.putenv("CUDA_VISIBLE_DEVICES", visible)
    os.putenv(
        "USE_PYTORCH_KERNEL_CACHE", "0"
    )  # kernels that torch compiles are kept in memory: there is no folder for them
    torch.cuda.init()  # type: ignore[no-untyped-call]
    for index in range(torch.cuda.device_count()):
        total = torch.cuda.get_device_properties(index).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory / total), index)
    warm_up()
    for index in range(torch.cuda.device_count()):
        kernels_of(torch.device("cuda", index))
    clear_traces()


def warm_up() -> None:
    """Have the libraries load what they load late: under the filter they may, but no program should wait for it."""
    x = torch.ones(8, 8, device="cuda", requires_grad=True)
    (x @ x).relu().sum().backward()  # type: ignore[no-untyped-call]
    image = torch.ones(1, 1, 8, 8, device="cuda")
    layer = torch.nn.Conv2d(1, 1, 3).cuda()
    layer(image).sum().backward()
    torch.optim.Adam(layer.parameters()).step()
    torch.cuda.synchronize()


def clear_traces() -> None:
    """Leave no memory, and no figure of the allocator, that a program would find."""
    clear_workspaces: Any = torch._C._cuda_clearCublasWorkspaces
    clear_workspaces()
    torch.cuda.empty_cache()
    for index in range(torch.cuda.device_count()):
        torch.cuda.reset_peak_memory_stats(index)
        torch.cuda.reset_accumulated_memory_stats(index)
