"""Runs a small program and discards its trace, so that no child runs anything of the recorder for the first time."""

import linecache
import sys
from collections.abc import Callable

import torch

from server.worker.run import ProgramRun
from server.worker.stack import PROGRAM

REHEARSAL_PROGRAM = """\
import torch
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


class RehearsalOver(BaseException):
    """Raised where a rehearsal would end its process."""


def rehearse(interrupted: Callable[[], bool] = lambda: False) -> None:
    """Run a small program and discard it, so that no child has to run anything of the recorder for the first time."""

    def write(line: bytes) -> None:
        if not line.startswith((b'{"header"', b'{"step"')) or interrupted():
            raise RehearsalOver

    main, handle = sys.modules.get("__main__"), torch.utils.hooks.RemovableHandle.next_id
    replaced = {name: getattr(sys, name) for name in ("argv", "stdout", "stderr", "__stdout__", "__stderr__")}
    try:
        ProgramRun({"source": REHEARSAL_PROGRAM}, write).run()
    except RehearsalOver:
        pass
    finally:
        for name, value in replaced.items():
            setattr(sys, name, value)
        if main is not None:
            sys.modules["__main__"] = main
        linecache.cache.pop(PROGRAM, None)
        torch.utils.hooks.RemovableHandle.next_id = handle
