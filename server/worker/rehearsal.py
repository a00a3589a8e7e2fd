"""Runs a small program and discards its trace, so that no child runs anything of the recorder for the first time."""

import linecache
import sys
from collections.abc import Callable
from typing import Literal

import torch

from gradbox.recorder.stack import PROGRAM
from server.worker.run import ProgramRun

Device = Literal["cpu", "cuda"]

REHEARSAL_IMPORT = "import torch\n"
REHEARSAL_PROGRAM = """\
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
"""Bytes of the blocks that are touched: CPython keeps objects of up to 512 bytes in pools, one for each of these sizes."""

TOUCHED_BLOCKS = 500
"""Of one size. Freed before those of the next, they are in the same pools: a quarter of a megabyte in all."""


class RehearsalOver(BaseException):
    """Raised where a rehearsal would end its process."""


def rehearse(interrupted: Callable[[], bool] = lambda: False, device: Device = "cpu") -> None:
    """Run a small program and discard it, so that no child has to run anything of the recorder for the first time.

    interrupted: whether to stop before the next step. device: where its tensors lie.
    """

    def write(line: bytes) -> None:
        if not line.startswith((b'{"header"', b'{"step"')) or interrupted():
            raise RehearsalOver

    main, handle = sys.modules.get("__main__"), torch.utils.hooks.RemovableHandle.next_id
    replaced = {name: getattr(sys, name) for name in ("argv", "stdout", "stderr", "__stdout__", "__stderr__")}
    try:
        source = f"{REHEARSAL_IMPORT}torch.set_default_device('cuda')\n" if device == "cuda" else REHEARSAL_IMPORT
        ProgramRun({"source": source + REHEARSAL_PROGRAM, "device": device}, write).run()
    except RehearsalOver:
        pass
    finally:
        for name, value in replaced.items():
            setattr(sys, name, value)
        if main is not None:
            sys.modules["__main__"] = main
        linecache.cache.pop(PROGRAM, None)
        torch.utils.hooks.RemovableHandle.next_id = handle
        torch.set_default_device(None)
    if not interrupted():
        touch_memory()


def touch_memory() -> None:
    """Write to memory for small objects and free it again: objects of a program then lie in it, without a page fault each."""
    overhead = sys.getsizeof(b"")
    for size in TOUCHED_SIZES:
        blocks = [bytes(size - overhead) for _ in range(TOUCHED_BLOCKS)]
        del blocks
