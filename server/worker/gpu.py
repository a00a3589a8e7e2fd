"""The GPU of this machine: kept from the processes that fork, and made ready in each child that works with it.

A fork of a process that has a context can't use the device. So no zygote ever has one: while it prepares itself it sees
no GPU, and each child for the GPU makes a context of its own.
"""

import os
import resource
import warnings
from pathlib import Path
from typing import Any, NoReturn

import torch

from gradbox.recorder.devices.device_kernels import kernels_for_device

HIDING_VARIABLES = ("CUDA_VISIBLE_DEVICES", "PYTORCH_NVML_BASED_CUDA_CHECK")
"""Of the environment in which a zygote prepares itself; they keep torch from looking for a GPU."""

NO_GPU = "No CUDA GPUs are available"
"""What torch says where it is built for CUDA and can use no GPU."""


def hide_gpu() -> None:
    """To this process and its forks torch finds no GPU, as where CUDA_VISIBLE_DEVICES is empty. It is not to be undone.

    torch counts the GPUs once, and the engine of backward asks for that number. The driver would start a thread to
    answer, so it is asked while it can open nothing: it fails, and that counts as none.
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
    """In the place of torch's own function: there is no context that a fork could have inherited."""
    return False


def refuse_to_initialize_gpu() -> NoReturn:
    """In the place of torch's own function, which would ask the driver once more. Raises RuntimeError."""
    raise RuntimeError(NO_GPU)


def require_no_open_gpu() -> None:
    """Raises RuntimeError where this process has opened a GPU: what it forks can't use it then."""
    opened = {str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}
    devices = sorted(path for path in opened if path.startswith(DEVICE_FILES))
    if devices or torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        raise RuntimeError(
            f"the process that forks has opened the GPU ({', '.join(devices)}); what it forks can't use it"
        )


DEVICE_FILES = ("/dev/nvidia", "/dev/dxg", "/dev/kfd")
"""How the paths of the files begin by which a process uses a GPU."""


def initialize_gpu(memory: int, visible: str | None) -> None:
    """Initialize all GPUs for one program.

    memory: bytes of each that the program may take
    visible: the server's CUDA_VISIBLE_DEVICES, None where it has none
    """
    for name in HIDING_VARIABLES:
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
    """A backward with a matrix product, a convolution, attention, a step of an optimizer, chance, and a copy from
    pinned memory."""
    x = torch.ones(8, 8, device="cuda", requires_grad=True)
    (x @ x).relu().sum().backward()  # type: ignore[no-untyped-call]
    layer = torch.nn.Conv2d(1, 1, 3).cuda()
    layer(torch.ones(1, 1, 8, 8, device="cuda")).sum().backward()
    torch.optim.Adam(layer.parameters()).step()
    torch.nn.functional.scaled_dot_product_attention(*torch.randn(3, 1, 1, 8, 8, device="cuda", dtype=torch.float16))
    torch.ones(8).pin_memory().to("cuda", non_blocking=True)
    torch.cuda.synchronize()


def clear_gpu_memory_statistics() -> None:
    """Leave no memory, and no figure of the allocator, that a program would find."""
    clear_workspaces: Any = torch._C._cuda_clearCublasWorkspaces
    clear_workspaces()
    torch.cuda.empty_cache()
    for index in range(torch.cuda.device_count()):
        torch.cuda.reset_peak_memory_stats(index)
        torch.cuda.reset_accumulated_memory_stats(index)
