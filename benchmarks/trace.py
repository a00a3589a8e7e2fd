"""What tracing costs: three programs at growing length, plain, traced, and by torchlens and torchviz where installed.

`python -m benchmarks.trace [50 200 1000]`. Everything is measured in one run, in forked children, best of three.
`rebind` binds one name over and over; `chain` keeps every result alive; `adam` trains a small network, five statements
an iteration. torchlens logs and torchviz draws the forward pass of the same number of operations.
"""

import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo  # or the first optimizer pays for it

from server.worker.probes import ops
from server.worker.run import run

LIMITS = {"steps": 10**9, "trace": 10**10, "output": 10**9}


def rebind(n: int) -> str:
    return "import torch\nx = torch.ones(4)\n" + "x = x + 1\n" * n


def chain(n: int) -> str:
    lines = (f"x{i + 1} = x{i} * 2\n" for i in range(n))
    return "import torch\nx0 = torch.ones(4, requires_grad=True)\n" + "".join(lines)


def adam(n: int) -> str:
    return (
        "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))\n"
        f"opt = torch.optim.Adam(net.parameters())\nx = torch.ones(2, 4)\nfor i in range({n // 5}):\n"
        "    opt.zero_grad()\n    loss = net(x).sum()\n    loss.backward()\n    opt.step()\n"
    )


class Chain(torch.nn.Module):
    """As many operations as `chain` has, for tools that want a module."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.n):
            x = x * 2
        return x


def child(work: Callable[[Callable[[bytes], None]], None]) -> dict[str, Any]:
    """Seconds, and the bytes written, of work done in a fork of this process."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        size = 0

        def write(data: bytes) -> None:
            nonlocal size
            size += len(data)
            if data.startswith(b'{"outcome"'):
                tell()

        def tell() -> None:
            os.write(writing, json.dumps({"seconds": time.perf_counter() - began, "bytes": size}).encode())

        began = time.perf_counter()
        try:
            work(write)
            tell()
        except Exception as error:
            os.write(
                writing,
                json.dumps({"seconds": float("inf"), "error": f"{type(error).__name__}: {error}"[:200]}).encode(),
            )
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    told: dict[str, Any] = json.loads(data) if data else {}
    return told


def best(work: Callable[[Callable[[bytes], None]], None]) -> dict[str, Any]:
    runs = [told for _ in range(3) if (told := child(work))]
    return min(runs, key=lambda told: told["seconds"], default={})


def others(n: int) -> dict[str, Callable[[Callable[[bytes], None]], None]]:
    """The tools that are installed, doing their work on `n` operations."""
    found: dict[str, Callable[[Callable[[bytes], None]], None]] = {}
    if importlib.util.find_spec("torchlens"):
        torchlens = importlib.import_module("torchlens")
        log = getattr(torchlens, "log_forward_pass", None) or torchlens.trace  # renamed in version 2
        found["torchlens"] = lambda _: log(Chain(n), torch.ones(4, requires_grad=True))
    if importlib.util.find_spec("torchviz"):
        torchviz = importlib.import_module("torchviz")
        found["torchviz"] = lambda _: torchviz.make_dot(Chain(n)(torch.ones(4, requires_grad=True)).sum()).source
    return found


def main(sizes: list[int]) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    ops.listen()
    print(f"{'program':8} {'n':>6} {'plain':>9} {'traced':>10} {'a statement':>12} {'KB':>7}")
    for program in (rebind, chain, adam):
        for n in sizes:
            source = program(n)
            code = compile(source, "<program>", "exec")
            plain = best(lambda _, code=code: exec(code, {}))
            traced = best(lambda write, source=source: run({"source": source, "limits": LIMITS}, write))
            each = (traced["seconds"] - plain["seconds"]) / n * 1e6
            times = f"{plain['seconds'] * 1e3:7.1f}ms {traced['seconds'] * 1e3:8.1f}ms {each:9.0f} us"
            print(f"{program.__name__:8} {n:6} {times} {traced['bytes'] / 1e3:7.0f}", flush=True)
    for n in sizes:
        for name, work in others(n).items():
            told = best(work)
            failed = told.get("error", "the process died")
            each = (
                failed
                if told.get("seconds", float("inf")) == float("inf")
                else f"{told['seconds'] / n * 1e6:9.0f} us an operation"
            )
            print(f"{name:12} {n:6} {each}", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [50, 200, 1000])
