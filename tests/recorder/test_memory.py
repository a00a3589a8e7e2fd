"""No leak: three hundred programs in one process, each with a recorder of its own, leave nothing behind."""

import builtins
import ctypes
import gc
import importlib
import json
import os
import sys
import traceback
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from gradbox.wire.records import OutcomeRecord
from server.worker.program_run import ProgramRun
from tests.forks.fork_host import write_all

pytestmark = pytest.mark.slow

RUNS, WARM = 300, 100
GROWTH = 600
"""Bytes that each run may leave."""

PROGRAMS = {
    "graph": "x = torch.ones(300, requires_grad=True)\ny = x.exp() * x.sin()\nz = y.view(3, 100).sum()\n",
    "backward": "x = torch.ones(300, requires_grad=True)\n(x.exp() * x).sum().backward()\nx.grad.zero_()\n",
    "twice": "x = torch.ones(3, requires_grad=True)\ny, = torch.autograd.grad((x**3).sum(), x, create_graph=True)\n"
    "y.sum().backward()\n",
    "hooks": "x = torch.ones(3, requires_grad=True)\ny = x * 2\nseen = []\ny.register_hook(seen.append)\n"
    "y.register_hook(lambda g: g * 2)\ny.sum().backward(retain_graph=True)\ndel y\n",
    "numpy": "import numpy as np\na = np.zeros(300)\nx = torch.from_numpy(a)\na[1] = 2\nn = (x + 1).numpy()\nn *= 2\n",
    "module": "net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout())\n"
    "opt = torch.optim.Adam(net.parameters())\nnet(torch.ones(2, 4)).square().sum().backward()\nopt.step()\n",
    "generator": "def g():\n    kept = torch.zeros(300)\n    while True:\n        kept = kept + (yield kept)\n"
    "a = g()\nx = next(a)\ny = a.send(2)\nb = g()\nnext(b)\n",
    "exception": "def f(x):\n    y = x * 2\n    return y.view(7)\ntry:\n    f(torch.ones(3))\nexcept RuntimeError as error:\n"  # noqa: E501
    "    kept = error\nx = torch.ones(2, requires_grad=True)\nx += 1\n",
    "function": "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        ctx.kept = x\n        return x * 2\n    @staticmethod\n"
    "    def backward(ctx, grad):\n        x, = ctx.saved_tensors\n        return grad * x\n"
    "x = torch.ones(3, requires_grad=True)\ny = Double.apply(x)\ny.sum().backward()\n",
    "cycle": "class Node:\n    pass\na = Node()\na.me, a.x = a, torch.ones(300, requires_grad=True)\n"
    "a.y = [a, {'a': a}]\na.x.friend = a.y\nprint((a.x * 2).sum())\ndel a\n",
}
"""None of them makes a cycle through the autograd graph: those are never collected, traced or not."""

RAISES = ("exception",)


class Again(ProgramRun):
    """A run that leaves its process alive."""

    outcome: OutcomeRecord

    def _end_process(self, outcome: OutcomeRecord, _: Any = None) -> Any:
        self.outcome = outcome


class Left:
    """What a run may not leave behind: the recorder, and the tensors and storages that its program's names led to."""

    def __init__(self, run: Again, names: dict[str, Any]) -> None:
        tensors = [thing for thing in names.values() if isinstance(thing, torch.Tensor)]
        self._things: list[Callable[[], Any]] = [weakref.ref(run), *map(weakref.ref, tensors)]
        self._storages = [StorageWeakRef(tensor.untyped_storage()) for tensor in tensors]

    def count(self) -> int:
        return sum(ref() is not None for ref in self._things) + sum(not ref.expired() for ref in self._storages)


@contextmanager
def world() -> Iterator[None]:
    """Gives back what a run takes of the process for itself."""
    names, main, limit, show = (
        dict(vars(builtins)),
        sys.modules["__main__"],
        sys.getrecursionlimit(),
        warnings.showwarning,
    )
    streams = {name: getattr(sys, name) for name in ("stdout", "stderr", "__stdout__", "__stderr__", "argv")}
    try:
        yield
    finally:
        for name in set(vars(builtins)) - set(names):
            delattr(builtins, name)
        for name, stream in streams.items():
            setattr(sys, name, stream)
        sys.modules["__main__"], warnings.showwarning = main, show
        sys.setrecursionlimit(limit)


def once(name: str) -> Left:
    """One program, traced to its end; its recorder is dropped."""
    with world():
        run = Again({"source": "import torch\n" + PROGRAMS[name]}, lambda _: None)
        run.run_and_exit()
        assert run.outcome["status"] == ("raised" if name in RAISES else "finished"), (name, run.outcome)
        return Left(run, vars(sys.modules["__main__"]))


def state() -> dict[str, Any]:
    """Bytes in use, and how many objects of each type live."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    types = Counter(f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in gc.get_objects())
    return {"bytes": pages * os.sysconf("SC_PAGESIZE"), "types": types}


def many() -> dict[str, Any]:
    importlib.import_module("torch._dynamo")  # here, where alone it is needed: it takes seconds
    gc.collect()
    gc.freeze()  # what came before is not asked about, and need not be searched at every collection
    names = list(PROGRAMS)
    left: dict[str, int] = {}
    warm = ""  # a text, lest it be counted at the end
    state()  # the first fills caches of its own
    for k in range(RUNS):
        name = names[k % len(names)]
        remaining = once(name)
        gc.collect()
        left[name] = left.get(name, 0) + remaining.count()
        if k == WARM:
            warm = json.dumps(state())
    end = state()
    return {"left": left, "warm": json.loads(warm), "end": end}


@cache
def measured() -> dict[str, Any]:
    """What `many` finds in a fork of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        warnings.resetwarnings()
        try:
            answer = many()
        except BaseException:
            answer = {"error": traceback.format_exc()}
        write_all(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        counts: dict[str, Any] = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert "error" not in counts, counts["error"]
    return counts


def test_no_recorder_tensor_or_storage_outlives_its_run() -> None:
    assert measured()["left"] == dict.fromkeys(PROGRAMS, 0)


def test_no_kind_of_object_accumulates_over_runs() -> None:
    warm, end = measured()["warm"]["types"], measured()["end"]["types"]
    assert {name: count - warm.get(name, 0) for name, count in end.items() if count > warm.get(name, 0)} == {}


def test_memory_does_not_grow_with_runs() -> None:
    assert measured()["end"]["bytes"] - measured()["warm"]["bytes"] < (RUNS - WARM) * GROWTH
