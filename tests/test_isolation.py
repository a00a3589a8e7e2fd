"""Nothing of one run reaches the next: each program has a process of its own, and what it changes dies with it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from server.pool.local import Pool
from server.settings import Settings
from server.wire.api import Job
from server.wire.trace import Trace

CHANGES = {
    "the default dtype": ("torch.set_default_dtype(torch.float64)", "torch.get_default_dtype()"),
    "the default device": ("torch.set_default_device('meta')", "torch.ones(1).device"),
    "the grad mode": ("torch.set_grad_enabled(False)", "torch.is_grad_enabled()"),
    "anomaly detection": ("torch.autograd.set_detect_anomaly(True)", "torch.is_anomaly_enabled()"),
    "deterministic algorithms": (
        "torch.use_deterministic_algorithms(True)",
        "torch.are_deterministic_algorithms_enabled()",
    ),
    "print options": ("torch.set_printoptions(precision=1, sci_mode=True)", "torch.tensor([1.23456])"),
    "the number of threads": ("torch.set_num_threads(3)", "torch.get_num_threads()"),
    "the precision of products": (
        "torch.set_float32_matmul_precision('medium')",
        "torch.get_float32_matmul_precision()",
    ),
    "warnings always": ("torch.set_warn_always(True)", "torch.is_warn_always_enabled()"),
    "chance of torch": ("torch.rand(5)", "torch.rand(1)"),
    "chance of Python": ("import random; random.random()", "__import_random.random()"),
    "chance of numpy": ("import numpy as np; np.random.rand()", "__import_numpy.random.rand()"),
    "numpy's print options": ("import numpy as np; np.set_printoptions(precision=1)", "__import_numpy.array([1.2345])"),
    "numpy's errors": ("import numpy as np; np.seterr(all='raise')", "__import_numpy.geterr()"),
    "a patched function": ("torch.ones = torch.zeros", "torch.ones(1)"),
    "a patched method": ("torch.Tensor.sum = lambda self: 7", "torch.ones(2).sum()"),
    "a patched class": ("torch.nn.ReLU.forward = lambda self, x: x * 9", "torch.nn.ReLU()(torch.ones(1))"),
    "a patched builtin": ("__builtin = print; import torch.utils as u; u.marked = 1", "hasattr(torch.utils, 'marked')"),
    "a hook of all modules": (
        "torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: o * 0)",
        "torch.nn.ReLU()(torch.ones(1))",
    ),
    "a new operator": (
        "torch.library.define('mine::op', '(Tensor x) -> Tensor')",
        "hasattr(torch.ops.mine, 'op')",
    ),
    "hooks on saved tensors": (
        "torch.autograd.graph.set_saved = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 0); "
        "torch.autograd.graph.set_saved.__enter__()",
        "torch._C._autograd._top_saved_tensors_default_hooks(True)",
    ),
    "filters of warnings": ("import warnings; warnings.simplefilter('error')", "__import_warnings.filters"),
    "a warning that was given": ("import warnings; warnings.warn('once')", "__import_warnings.warn('once')"),
    "the collector": ("import gc; gc.disable(); gc.set_threshold(1)", "__import_gc.isenabled(), __import_gc.get_threshold()"),
    "the recursion limit": ("import sys; sys.setrecursionlimit(300)", "__import_sys.getrecursionlimit()"),
    "the context of decimals": ("import decimal; decimal.getcontext().prec = 3", "__import_decimal.Decimal(1) / 3"),
    "a name in its own module": ("mine = 1", "'mine' in globals()"),
    "a logger": ("import logging; logging.basicConfig(level=10)", "__import_logging.getLogger().level"),
}  # fmt: skip


def show(expression: str) -> str:
    """A program that prints a value."""
    lines = ["import torch"]
    while "__import_" in expression:
        name = expression.split("__import_", 1)[1].split(".")[0]
        lines.append(f"import {name}")
        expression = expression.replace(f"__import_{name}", name)
    return "\n".join([*lines, f"print({expression})", ""])


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    """Runs programs at the same time in one pool; their traces."""
    loop = asyncio.new_event_loop()
    settings = Settings({})
    pool = Pool(settings)
    loop.run_until_complete(pool.start())

    async def all_of(sources: tuple[str, ...]) -> list[Trace]:
        return await asyncio.gather(*(pool.run(Job(source=s, limits=settings.limits())) for s in sources))

    yield lambda *sources: loop.run_until_complete(all_of(sources))
    loop.run_until_complete(pool.close())
    loop.close()


def told(trace: Trace) -> str:
    assert trace.outcome.status == "finished", trace.outcome
    return "".join(
        entry.text for step in trace.steps for entry in step.log if entry.kind == "out" or (entry.kind == "event"
        and entry.event == "warning")
    )  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_run_changes_is_its_own(running: Any, what: str) -> None:
    change, expression = CHANGES[what]
    (before,) = running(show(expression))
    (changed,) = running(f"import torch\n{change}\n{show(expression)}")
    (after,) = running(show(expression))
    assert told(after) == told(before)
    beside, _ = running(show(expression), f"import torch\n{change}\nx = [torch.ones(1) for _ in range(99)]\n")
    assert told(beside) == told(before)
    if what not in ("a patched builtin", "a warning that was given", "a name in its own module"):
        assert changed.outcome.status == "raised" or told(changed) != told(before), "the change can't be seen at all"


def test_the_same_program_gives_the_same_trace_whatever_ran_before(running: Any) -> None:
    source = "import torch\nx = torch.rand(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n"
    first, *others = running(*[source] * 6)
    for other in others:
        assert other.model_dump(exclude={"cost"}) == first.model_dump(exclude={"cost"})
