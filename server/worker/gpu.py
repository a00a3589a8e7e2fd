"""Makes a GPU ready in a child: its context, its share of the memory, and what torch sets up at first use.

A fork of a process that has a context can't use the device. So the zygote has none, and each child makes its own.
"""

import torch


def initialize_gpu(memory: int) -> None:
    """Initialize the first GPU for one program. memory: bytes of it that the program may take."""
    torch.cuda.init()  # type: ignore[no-untyped-call]
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, memory / total))
    warm_up()
    torch.cuda.empty_cache()


def warm_up() -> None:
    """Have the libraries load what they load late: under the filter they may, but no program should wait for it."""
    x = torch.ones(8, 8, device="cuda", requires_grad=True)
    (x @ x).relu().sum().backward()  # type: ignore[no-untyped-call]
    image = torch.ones(1, 1, 8, 8, device="cuda")
    layer = torch.nn.Conv2d(1, 1, 3).cuda()
    layer(image).sum().backward()
    torch.optim.Adam(layer.parameters()).step()
    torch.cuda.synchronize()
